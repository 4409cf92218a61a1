// Subscribe and unsubscribe, and their halves upstream: read first, answer then; a close is a fence.
#include <cassert>
#include <type_traits>

#include "strategies/engine.hpp"

namespace freshet {

namespace {

constexpr int method_not_found = -32601;
constexpr int server_error = -32000;
constexpr unsigned native_retries_max = 5;

// The transition that `step` names, where the present state has it; elsewhere nothing happens.
template <class Step>
void transition(state::Any& state, Step step) {
  state = std::visit(
      [&](const auto& s) -> state::Any {
        if constexpr (std::is_invocable_v<Step, decltype(s)>) {
          return step(s);
        } else {
          return s;
        }
      },
      state);
}

constexpr auto unsubscribed = [](const auto& s)
  requires requires { s.unsubscribe(); }
{ return s.unsubscribe(); };
constexpr auto confirmed = [](const auto& s)
  requires requires { s.confirm(); }
{ return s.confirm(); };
constexpr auto doubted = [](const auto& s)
  requires requires { s.doubt(); }
{ return s.doubt(); };

}  // namespace

void Engine::on(const SubscribeAsked& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return emit(RefuseRequest{e.request, server_error, "the session is closed"});
  if (s->strategy == Strategy::off) {
    return emit(RefuseRequest{e.request, method_not_found, "the server declares no resources to subscribe to"});
  }
  Subscription* known = find_subscription(e.subscriber, e.uri);
  if (known != nullptr && !state::fenced(known->state)) {
    if (state::live(known->state)) return emit(AnswerSubscribe{e.request, nullptr, known->degraded});
    known->asking.push_back(e.request);
    return;
  }
  if (s->open >= settings_.limits.subscriptions_per_subscriber_max) {
    return emit(RefuseRequest{e.request, server_error,
                              "too many subscriptions in this session: at most " +
                                  std::to_string(settings_.limits.subscriptions_per_subscriber_max)});
  }
  if (open_subscriptions_ >= settings_.limits.subscriptions_max) {
    return emit(RefuseRequest{
        e.request, server_error,
        "too many subscriptions: at most " + std::to_string(settings_.limits.subscriptions_max) + " in all sessions"});
  }
  Subscription& sub = open(*s, e.uri);
  sub.asking.push_back(e.request);
  timers_.set({TimerKind::baseline_wait, sub.id}, now_.instant + upstream(s->upstream).baseline_wait);
  if (!sub.native_busy) begin(sub);
}

// A fresh generation, in the place of a closed one if there is one; what the subscriber has seen stays known.
Subscription& Engine::open(Subscriber& s, const std::string& uri) {
  forget_closed(s);
  Subscription& sub = s.subscriptions[uri];
  Subscription fresh;
  fresh.id = ++last_id_;
  fresh.subscriber = &s;
  fresh.uri = uri;
  fresh.generation = sub.generation + 1;
  fresh.seen = sub.seen ? sub.seen : s.seen.take(uri);
  fresh.native = sub.native;
  fresh.native_busy = sub.native_busy;
  fresh.strategy = s.strategy == Strategy::subscribe && !s.native_refused ? Strategy::subscribe : Strategy::poll;
  timers_.cancel({TimerKind::native_retry, sub.id});
  subscriptions_.erase(sub.id);
  sub = std::move(fresh);
  subscriptions_[sub.id] = &sub;
  ++s.open;
  ++open_subscriptions_;
  join(sub, watch_for({s.upstream, s.principal, uri, SubscriberId{}}));
  return sub;
}

// Closed records are kept for their generation and what was seen, but no more of them than may be open.
void Engine::forget_closed(Subscriber& s) {
  if (s.subscriptions.size() < 2 * settings_.limits.subscriptions_per_subscriber_max) return;
  std::erase_if(s.subscriptions, [&](const auto& entry) {
    const Subscription& sub = entry.second;
    if (!state::fenced(sub.state) || sub.native_busy) return false;
    timers_.cancel({TimerKind::native_retry, sub.id});
    subscriptions_.erase(sub.id);
    return true;
  });
}

void Engine::begin(Subscription& sub) {
  sub.state = std::get<state::Discovered>(sub.state).subscribe();
  if (sub.strategy == Strategy::subscribe) {
    send_native_subscribe(sub);
  } else {
    ask_soon(*sub.watch, ReadKind::baseline, &sub);
  }
}

void Engine::send_native_subscribe(Subscription& sub) {
  sub.native_busy = true;
  emit(SendNativeSubscribe{sub.subscriber->id, sub.uri, sub.generation});
}

void Engine::send_native_unsubscribe(Subscription& sub) {
  sub.native_busy = true;
  emit(SendNativeUnsubscribe{sub.subscriber->id, sub.uri, sub.generation});
}

// The upstream's half is gone: subscribe again there, then read what was missed.
void Engine::reconcile(Subscription& sub) {
  transition(sub.state, doubted);
  ++sub.generation;
  const bool native = sub.subscriber->strategy == Strategy::subscribe && !sub.subscriber->native_refused;
  move(sub, native ? Strategy::subscribe : Strategy::poll, StrategyReason::redeclared);
  if (native) {
    if (!sub.native_busy) send_native_subscribe(sub);
  } else {
    settle_reconciled(sub);
  }
}

void Engine::settle_reconciled(Subscription& sub) {
  if (const auto* doubt = std::get_if<state::ReconciliationRequired>(&sub.state)) {
    sub.state = doubt->resubscribe().activate();
  }
  sub.watchdog_base.reset();
  sub.suspect.reset();
  timers_.cancel({TimerKind::grace, sub.id});
  ask_soon(*sub.watch, ReadKind::catchup, &sub);
  watch_silence(sub);
  reschedule(*sub.watch);
}

void Engine::on(const NativeSubscribeEnded& e) {
  Subscription* sub = find_subscription(e.subscriber, e.uri);
  if (sub == nullptr) return;
  sub->native_busy = false;
  const bool accepted = std::holds_alternative<Accepted>(e.outcome);
  if (accepted) sub->native = true;
  if (state::fenced(sub->state)) {
    if (accepted) return send_native_unsubscribe(*sub);
    return transition(sub->state, confirmed);
  }
  if (std::holds_alternative<state::Discovered>(sub->state)) return begin(*sub);
  if (e.generation != sub->generation) {  // asked of a session that has been replaced since
    sub->native = false;
    return send_native_subscribe(*sub);
  }
  if (accepted) {
    sub->retries = 0;
    return native_settled(*sub);
  }
  if (std::holds_alternative<NotSupported>(e.outcome)) {
    sub->subscriber->native_refused = true;
    move(*sub, Strategy::poll, StrategyReason::subscribe_refused);
  } else if (std::holds_alternative<Rejected>(e.outcome)) {
    move(*sub, Strategy::poll, StrategyReason::subscribe_refused);
  } else {
    move(*sub, Strategy::poll, StrategyReason::subscribe_failed);
    const auto* throttle = std::get_if<Throttled>(&e.outcome);
    if (throttle != nullptr) throttled(sub->subscriber->upstream, throttle->retry_after);
    timers_.set({TimerKind::native_retry, sub->id}, now_.instant + backoff(sub->retries++));
  }
  native_settled(*sub);
}

// The upstream's verdict on the subscribe is there: now the read, which is also the authorisation check.
void Engine::native_settled(Subscription& sub) {
  if (std::holds_alternative<state::Subscribing>(sub.state)) {
    ask_soon(*sub.watch, ReadKind::baseline, &sub);
  } else if (std::holds_alternative<state::ReconciliationRequired>(sub.state)) {
    settle_reconciled(sub);
  } else if (sub.native) {
    move(sub, Strategy::subscribe, StrategyReason::restored);
    ask_soon(*sub.watch, ReadKind::catchup, &sub);
    watch_silence(sub);
    reschedule(*sub.watch);
  }
}

void Engine::retry_native(Subscription& sub) {
  if (sub.native_busy) return;
  if (state::fenced(sub.state)) {
    send_native_unsubscribe(sub);
  } else {
    send_native_subscribe(sub);
  }
}

void Engine::activate(Subscription& sub) {
  sub.state = std::get<state::Subscribing>(sub.state).activate();
  answer(sub, nullptr);
  watch_silence(sub);
  reschedule(*sub.watch);
  tell(sub);
}

// The baseline did not come in time, or failed in passing: the subscription stands, without a picture yet.
void Engine::activate_degraded(Subscription& sub) {
  if (std::holds_alternative<state::Discovered>(sub.state)) {
    sub.state = std::get<state::Discovered>(sub.state).subscribe();
  }
  sub.degraded = true;
  activate(sub);
}

void Engine::answer(Subscription& sub, const RefusalPtr& refusal) {
  timers_.cancel({TimerKind::baseline_wait, sub.id});
  for (const RequestId request : sub.asking) emit(AnswerSubscribe{request, refusal, sub.degraded});
  sub.asking.clear();
}

void Engine::refuse(Subscription& sub, const RefusalPtr& refusal) {
  answer(sub, refusal);
  sub.state = std::get<state::Subscribing>(sub.state).refuse();
  fence(sub);
  if (sub.native && !sub.native_busy) send_native_unsubscribe(sub);
}

void Engine::on(const UnsubscribeAsked& e) {
  Subscription* sub = find_subscription(e.subscriber, e.uri);
  if (sub != nullptr && !state::fenced(sub->state)) close(*sub);
  emit(AnswerUnsubscribe{e.request});
}

void Engine::close(Subscription& sub) {
  for (const RequestId request : sub.asking) {
    emit(RefuseRequest{request, server_error, "unsubscribed before the subscribe was answered"});
  }
  sub.asking.clear();
  if (std::holds_alternative<state::Discovered>(sub.state)) {
    sub.state = std::get<state::Discovered>(sub.state).subscribe();
  }
  transition(sub.state, unsubscribed);
  fence(sub);
  if (sub.native_busy) return;  // its answer finds the fence and goes on from there
  if (sub.native) {
    send_native_unsubscribe(sub);
  } else {
    sub.state = std::get<state::Unsubscribing>(sub.state).confirm();
  }
}

// From here on nothing reaches the subscriber, and no read is allotted.
void Engine::fence(Subscription& sub) {
  sub.close_ordinal = sub.watch->issued;
  if (sub.notice) {
    emit(Withdraw{*sub.notice, sub.subscriber->id});
    notices_.erase(*sub.notice);
    sub.notice.reset();
  }
  for (const TimerKind kind : {TimerKind::baseline_wait, TimerKind::notify, TimerKind::watchdog, TimerKind::grace,
                               TimerKind::native_retry, TimerKind::reread}) {
    timers_.cancel({kind, sub.id});
  }
  sub.verbatim.reset();
  leave(sub);
  --sub.subscriber->open;
  --open_subscriptions_;
}

// The subscriber is gone, and with it all that hung on it.
void Engine::drop(Subscription& sub) {
  if (!state::fenced(sub.state)) fence(sub);
  timers_.cancel({TimerKind::native_retry, sub.id});
  subscriptions_.erase(sub.id);
}

void Engine::on(const NativeUnsubscribeEnded& e) {
  Subscription* sub = find_subscription(e.subscriber, e.uri);
  if (sub == nullptr) return;
  sub->native_busy = false;
  const bool lost = std::holds_alternative<Failed>(e.outcome) || std::holds_alternative<Throttled>(e.outcome);
  if (!lost) sub->native = false;
  if (std::holds_alternative<state::Discovered>(sub->state)) return begin(*sub);
  if (state::live(sub->state)) {  // subscribed again meanwhile, and answered without waiting
    if (sub->strategy == Strategy::subscribe) send_native_subscribe(*sub);
    return;
  }
  if (const auto* leaving = std::get_if<state::Unsubscribing>(&sub->state)) {
    sub->state = lost ? state::Any(leaving->lose_answer()) : state::Any(leaving->confirm());
  } else if (const auto* unknown = std::get_if<state::UnsubscribeUnknown>(&sub->state); unknown != nullptr && !lost) {
    sub->state = unknown->reconcile();
  }
  if (lost && sub->retries < native_retries_max) {
    timers_.set({TimerKind::native_retry, sub->id}, now_.instant + backoff(sub->retries++));
  }
}

Watch& Engine::watch_for(const WatchKey& key) {
  if (const auto it = by_key_.find(key); it != by_key_.end()) return *it->second;
  auto watch = std::make_unique<Watch>();
  watch->id = WatchId{++last_id_};
  watch->key = key;
  watch->freshness = &freshness_of(key.upstream, key.uri);
  Watch& placed = *watch;
  by_key_.emplace(key, &placed);
  watches_.emplace(placed.id, std::move(watch));
  return placed;
}

const Freshness& Engine::freshness_of(UpstreamId id, std::string_view uri) const {
  const UpstreamSettings& settings = upstream(id);
  for (const Rule& rule : settings.rules) {
    if (glob_match(rule.match, uri)) return rule.freshness;
  }
  return settings.freshness;
}

void Engine::join(Subscription& sub, Watch& watch) {
  watch.holders.push_back(&sub);
  sub.watch = &watch;
  sub.opened_at = watch.issued;
}

void Engine::leave(Subscription& sub) {
  Watch& watch = *sub.watch;
  std::erase(watch.holders, &sub);
  sub.watch = nullptr;
  if (!watch.holders.empty()) return reschedule(watch);
  unschedule(watch);
  by_key_.erase(watch.key);
  watches_.erase(watch.id);
}

void Engine::move(Subscription& sub, Strategy to, StrategyReason reason) {
  if (sub.strategy == to) return;
  emit(StrategyChanged{sub.subscriber->upstream, sub.subscriber->id, sub.uri, sub.strategy, to, reason});
  sub.strategy = to;
  sub.prompt_updates = 0;
  if (to == Strategy::poll) {
    timers_.cancel({TimerKind::watchdog, sub.id});
    timers_.cancel({TimerKind::grace, sub.id});
  }
}

}  // namespace freshet
