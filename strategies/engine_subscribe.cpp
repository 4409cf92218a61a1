// Subscribe and unsubscribe: read first, answer then; a close is a fence.
#include <cassert>

#include "strategies/engine.hpp"
#include "strategies/transition.hpp"

namespace freshet {

namespace {
constexpr int method_not_found = -32601;
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
    known->asking.push_front(e.request);
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
  sub.asking.push_front(e.request);
  const Duration wait = upstream(s->upstream).baseline_wait;
  timers_.set({TimerKind::baseline_wait, sub.id}, now_.instant + wait);
  if (sub.strategy == Strategy::subscribe) timers_.set({TimerKind::native_wait, sub.id}, now_.instant + wait / 2);
  if (!sub.native_busy) begin(sub);
}

// A fresh generation, in the place of a closed one if there is one; what the subscriber has seen stays known.
Subscription& Engine::open(Subscriber& s, const std::string& uri) {
  forget_closed(s);
  const auto it = s.subscriptions.try_emplace(uri).first;
  Subscription& sub = it->second;
  Subscription fresh;
  fresh.id = ++last_id_;
  fresh.subscriber = &s;
  fresh.uri = &it->first;
  fresh.generation = sub.generation + 1;
  fresh.seen = s.listen ? read_before(s, uri) : s.seen.take(uri);
  fresh.delivered = fresh.seen.has_value();
  fresh.native = sub.native;
  fresh.native_busy = sub.native_busy && !sub.waits(Errand::subscribe) && !sub.waits(Errand::unsubscribe);
  fresh.strategy = s.strategy == Strategy::subscribe && !s.native_refused ? Strategy::subscribe : Strategy::poll;
  if (fresh.strategy == Strategy::subscribe) fresh.guard();
  timers_.cancel({TimerKind::native_retry, sub.id});
  subscriptions_.erase(sub.id);
  sub = std::move(fresh);
  subscriptions_[sub.id] = &sub;
  ++s.open;
  ++open_subscriptions_;
  join(sub, watch_for(*s.caller, {uri, SubscriberId{}}));
  return sub;
}

// Closed records are kept for their generation, but no more of them than may be open.
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
    ask_native(sub, Errand::subscribe);
  } else {
    ask_soon(sub, Errand::baseline);
  }
}

void Engine::activate(Subscription& sub) {
  sub.state = std::get<state::Subscribing>(sub.state).activate();
  answer(sub, nullptr);
  watch_silence(sub);
  reschedule(*sub.watch);
  progress(sub);
  tell(sub);
}

// The baseline did not come in time, or failed in passing: the subscription stands, without a picture yet. What the
// upstream has not taken by then is polled until it does.
void Engine::activate_degraded(Subscription& sub) {
  if (const auto* asked = std::get_if<state::Discovered>(&sub.state)) sub.state = asked->subscribe();
  sub.degraded = true;
  const bool unnotified = sub.strategy == Strategy::subscribe && !sub.native;
  if (unnotified) move(sub, Strategy::poll, StrategyReason::subscribe_slow);
  activate(sub);
  if (unnotified) ask_soon(sub, Errand::catchup);
  tell_refusal(sub);
}

void Engine::answer(Subscription& sub, const RefusalPtr& refusal) {
  timers_.cancel({TimerKind::baseline_wait, sub.id});
  timers_.cancel({TimerKind::native_wait, sub.id});
  for (const RequestId request : sub.asking) emit(AnswerSubscribe{request, refusal, sub.degraded});
  sub.asking.clear();
}

void Engine::refuse(Subscription& sub, const RefusalPtr& refusal) {
  answer(sub, refusal);
  sub.state = std::get<state::Subscribing>(sub.state).refuse();
  fence(sub);
  if (sub.native && !sub.native_busy) ask_native(sub, Errand::unsubscribe);
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
  if (const auto* asked = std::get_if<state::Discovered>(&sub.state)) sub.state = asked->subscribe();
  transition(sub.state, unsubscribed);
  fence(sub);
  if (sub.native_busy) return;  // its answer finds the fence and goes on from there
  if (sub.native) {
    ask_native(sub, Errand::unsubscribe);
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
                               TimerKind::native_retry, TimerKind::native_wait, TimerKind::reread}) {
    timers_.cancel({kind, sub.id});
  }
  sub.verbatim.reset();
  if (sub.delivered && !sub.subscriber->listen) sub.subscriber->seen.remember(*sub.uri, *sub.seen);
  leave(sub);
  --sub.subscriber->open;
  --open_subscriptions_;
}

// The subscriber is gone, and with it all that hung on it.
void Engine::drop(Subscription& sub) {
  if (!state::fenced(sub.state)) {
    transition(sub.state, unsubscribed);
    fence(sub);
  }
  for (const RequestId request : sub.asking) emit(RefuseRequest{request, server_error, "the session is closed"});
  timers_.cancel({TimerKind::native_retry, sub.id});
  subscriptions_.erase(sub.id);
}

}  // namespace freshet
