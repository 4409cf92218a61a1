// The upstream's half of a subscription: asked for within the budget, one request at a time, recorded only on success.
#include "strategies/engine.hpp"
#include "strategies/transition.hpp"

namespace freshet {

namespace {
constexpr unsigned unsubscribe_retries_max = 5;
constexpr Duration retry_longest = std::chrono::minutes(5);
}  // namespace

void Engine::ask_native(Subscription& sub, Errand errand) {
  sub.native_busy = true;
  ask_soon(sub, errand);
}

void Engine::native_traffic(UpstreamId id, const NativeOutcome& outcome) {
  if (const auto* throttle = std::get_if<Throttled>(&outcome)) return throttled(id, throttle->retry_after);
  if (const auto* failed = std::get_if<Failed>(&outcome)) {
    if (failed->reason != Failure::cancelled && failed->reason != Failure::session_lost) failing(id);
    return;
  }
  partner_of(id).breaker.on_success(now_.instant);
}

void Engine::on(const NativeSubscribeEnded& e) {
  if (const Subscriber* s = find(e.subscriber)) native_traffic(s->upstream, e.outcome);
  Subscription* sub = find_subscription(e.subscriber, e.uri);
  if (sub == nullptr) return;
  sub->native_busy = false;
  const bool current = e.generation == sub->generation;
  const bool accepted = std::holds_alternative<Accepted>(e.outcome);
  if (accepted && (current || state::fenced(sub->state))) sub->native = true;
  if (state::fenced(sub->state)) {
    if (sub->native) return ask_native(*sub, Errand::unsubscribe);
    return transition(sub->state, confirmed);
  }
  if (std::holds_alternative<state::Discovered>(sub->state)) return begin(*sub);
  if (!current) return ask_native(*sub, Errand::subscribe);  // asked of a session that has been replaced since
  native_subscribed(*sub, e.outcome);
  native_settled(*sub);
}

void Engine::native_subscribed(Subscription& sub, const NativeOutcome& outcome) {
  if (std::holds_alternative<Accepted>(outcome)) {
    sub.retries = 0;
  } else if (std::holds_alternative<Throttled>(outcome) || std::holds_alternative<Failed>(outcome)) {
    move(sub, Strategy::poll, StrategyReason::subscribe_failed);
    timers_.set({TimerKind::native_retry, sub.id}, now_.instant + backoff(sub.retries++, retry_longest));
  } else {  // refused, for good; whether the resource may be read is the baseline's to say
    if (std::holds_alternative<NotSupported>(outcome)) sub.subscriber->native_refused = true;
    move(sub, Strategy::poll, StrategyReason::subscribe_refused);
  }
}

// Half of the client's wait is over: the other half is the baseline's. What is read before the upstream has taken the
// subscription is read again once it has.
void Engine::native_slow(Subscription& sub) {
  if (!std::holds_alternative<state::Subscribing>(sub.state) || baseline_under_way(sub)) return;
  move(sub, Strategy::poll, StrategyReason::subscribe_slow);
  ask_soon(sub, Errand::baseline);
}

// The upstream's verdict on the subscribe is there: now the read, which is also the authorisation check.
void Engine::native_settled(Subscription& sub) {
  if (std::holds_alternative<state::Subscribing>(sub.state) && !baseline_under_way(sub)) {
    ask_soon(sub, Errand::baseline);
  } else if (std::holds_alternative<state::ReconciliationRequired>(sub.state)) {
    settle_reconciled(sub);
  } else if (sub.native) {
    if (!sub.demoted) move(sub, Strategy::subscribe, StrategyReason::restored);
    ask_soon(sub, Errand::catchup);
    watch_silence(sub);
    reschedule(*sub.watch);
  }
}

// A subscription that should have an upstream half and has none asks for it; a closed one gives its half back.
void Engine::retry_native(Subscription& sub) {
  if (sub.native_busy) return;
  if (state::fenced(sub.state)) {
    if (sub.native) ask_native(sub, Errand::unsubscribe);
    return;
  }
  const Subscriber& s = *sub.subscriber;
  const bool wanted = s.strategy == Strategy::subscribe && !s.native_refused && !s.absent;
  if (wanted && !sub.native) ask_native(sub, Errand::subscribe);
}

void Engine::on(const NativeUnsubscribeEnded& e) {
  if (const Subscriber* s = find(e.subscriber)) native_traffic(s->upstream, e.outcome);
  Subscription* sub = find_subscription(e.subscriber, e.uri);
  if (sub == nullptr) return;
  sub->native_busy = false;
  const bool lost = std::holds_alternative<Failed>(e.outcome) || std::holds_alternative<Throttled>(e.outcome);
  if (!lost) sub->native = false;
  if (std::holds_alternative<state::Discovered>(sub->state)) return begin(*sub);
  if (!state::fenced(sub->state)) {  // subscribed again meanwhile, and answered without waiting
    if (sub->strategy != Strategy::subscribe) return;
    move(*sub, Strategy::poll, StrategyReason::subscribe_slow);
    reschedule(*sub->watch);
    return ask_native(*sub, Errand::subscribe);
  }
  if (const auto* leaving = std::get_if<state::Unsubscribing>(&sub->state)) {
    sub->state = lost ? state::Any(leaving->lose_answer()) : state::Any(leaving->confirm());
  } else if (const auto* unknown = std::get_if<state::UnsubscribeUnknown>(&sub->state); unknown != nullptr && !lost) {
    sub->state = unknown->reconcile();
  }
  if (lost && sub->retries < unsubscribe_retries_max) {
    timers_.set({TimerKind::native_retry, sub->id}, now_.instant + backoff(sub->retries++, retry_longest));
  }
}

// The upstream's side of the session is new: nothing is subscribed there. What was closed is closed; what lives is
// subscribed again, then read for what was missed.
void Engine::renew(Subscription& sub) {
  sub.native = false;
  timers_.cancel({TimerKind::native_retry, sub.id});
  if (const auto* unknown = std::get_if<state::UnsubscribeUnknown>(&sub.state)) sub.state = unknown->reconcile();
  if (state::fenced(sub.state)) return;
  ++sub.generation;
  sub.demoted = false;
  sub.retries = 0;
  const bool native = sub.subscriber->strategy == Strategy::subscribe && !sub.subscriber->native_refused;
  move(sub, native ? Strategy::subscribe : Strategy::poll, StrategyReason::redeclared);
  if (std::holds_alternative<state::Discovered>(sub.state)) return;
  if (state::live(sub.state)) transition(sub.state, doubted);
  reschedule(*sub.watch);
  if (native) {
    if (!sub.native_busy) ask_native(sub, Errand::subscribe);
  } else if (std::holds_alternative<state::Subscribing>(sub.state)) {
    ask_soon(sub, Errand::baseline);
  } else {
    settle_reconciled(sub);
  }
}

void Engine::settle_reconciled(Subscription& sub) {
  if (const auto* doubt = std::get_if<state::ReconciliationRequired>(&sub.state)) {
    sub.state = doubt->resubscribe().activate();
  }
  sub.trust_anew();
  timers_.cancel({TimerKind::grace, sub.id});
  ask_soon(sub, Errand::catchup);
  watch_silence(sub);
  reschedule(*sub.watch);
  progress(sub);
}

void Engine::move(Subscription& sub, Strategy to, StrategyReason reason) {
  if (sub.strategy == to) return;
  emit(StrategyChanged{sub.subscriber->upstream, sub.subscriber->id, *sub.uri, sub.strategy, to, reason});
  sub.strategy = to;
  timers_.cancel({TimerKind::watchdog, sub.id});
  timers_.cancel({TimerKind::grace, sub.id});
  if (to == Strategy::subscribe) {
    sub.demoted = false;
    sub.guard();
  }
  if (sub.watchdog) {
    sub.watchdog->prompt_updates = 0;
    sub.watchdog->suspect.reset();
  }
}

}  // namespace freshet
