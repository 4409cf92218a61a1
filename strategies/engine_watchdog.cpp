// Is a native subscription alive? A read after long silence tells; a change that is not notified within the grace has
// the subscription polled from then on.
#include <algorithm>

#include "strategies/engine.hpp"

namespace freshet {

namespace {
constexpr unsigned prompt_updates_to_promote = 2;
constexpr double silence_in_update_gaps = 8.0;
constexpr double gap_smoothing = 0.25;
constexpr Duration silence_learned_min = std::chrono::seconds(30);
}  // namespace

// The configured silence, or less where the resource is known to be updated more often than that.
Duration Engine::silence_limit(const Subscription& sub, const Freshness& freshness) {
  const Duration configured = freshness.watchdog_silence;
  if (!sub.watchdog || sub.watchdog->update_gap == Duration::zero()) return configured;
  const Duration learned = from_seconds(seconds(sub.watchdog->update_gap) * silence_in_update_gaps);
  return std::min(configured, std::max(learned, silence_learned_min));
}

void Engine::watch_silence(Subscription& sub) {
  if (sub.strategy != Strategy::subscribe || !state::live(sub.state)) return;
  timers_.set({TimerKind::watchdog, sub.id}, now_.instant + silence_limit(sub, *sub.watch->freshness));
}

void Engine::silence_over(Subscription& sub) {
  watch_silence(sub);
  ask_soon(sub, Errand::watchdog);
}

// An update came in: whatever was suspected, the upstream notifies.
void Engine::alive(Subscription& sub) {
  Watchdog& dog = sub.guard();
  if (dog.last_update != Instant::min()) {
    const double gap = seconds(now_.instant - dog.last_update);
    const double before = dog.update_gap == Duration::zero() ? gap : seconds(dog.update_gap);
    dog.update_gap = from_seconds(before + gap_smoothing * (gap - before));
  }
  dog.last_update = now_.instant;
  dog.base.reset();
  if (dog.suspect) {
    dog.suspect.reset();
    timers_.cancel({TimerKind::grace, sub.id});
    emit(WatchdogChecked{sub.subscriber->upstream, WatchdogResult::prompt});
  }
  watch_silence(sub);
}

// While demoted: changes in a row that an update announced before a poll found them lead back. One that a poll found
// by itself starts the count anew.
void Engine::weigh_promptness(Subscription& sub, const std::optional<Version>& before) {
  if (!sub.demoted || !sub.native || !before || before->digest == sub.watch->version->digest) return;
  Watchdog& dog = sub.guard();
  dog.prompt_updates = dog.last_update > before->dispatched ? dog.prompt_updates + 1 : 0;
  if (dog.prompt_updates < prompt_updates_to_promote) return;
  move(sub, Strategy::subscribe, StrategyReason::prompt_again);
  dog.base = sub.watch->version->digest;
  reschedule(*sub.watch);
  watch_silence(sub);
}

// A read of a natively subscribed resource was accepted. It says something only if it was dispatched after the last
// native update, and if no catch-up is awaited: what that finds, the upstream did not have to notify.
void Engine::check_native(Subscription& sub, const Read& read) {
  const Digest digest = sub.watch->version->digest;
  Watchdog& dog = sub.guard();
  if (read.dispatched <= dog.last_update || sub.catch_up_from) return;
  const bool first_since_update = !dog.base;
  if (!first_since_update && digest != dog.base) return suspect(sub, read);
  dog.base = digest;
  if (first_since_update && sub.seen == unsure_digest) sub.seen = digest;  // what the update told of
  // It read something else in between, or an older answer late.
  const bool holds_other = sub.seen && sub.seen != digest && !sub.will_be_told();
  if (holds_other) {
    if (!dog.suspect) found(sub, origin_of(read.kind), std::nullopt);
    return;
  }
  dog.suspect.reset();
  timers_.cancel({TimerKind::grace, sub.id});
  if (read.kind != ReadKind::watchdog || read.subscription != sub.id) return;
  emit(WatchdogChecked{sub.subscriber->upstream,
                       first_since_update ? WatchdogResult::rebased : WatchdogResult::unchanged});
}

// Changed, and not notified yet.
void Engine::suspect(Subscription& sub, const Read& read) {
  Watchdog& dog = sub.guard();
  if (dog.suspect) return;
  dog.suspect = sub.watch->version->digest;
  dog.suspected_by = read.kind == ReadKind::client ? Origin::client : Origin::watchdog;
  timers_.set({TimerKind::grace, sub.id}, now_.instant + sub.watch->freshness->watchdog_grace);
}

// Changed, and still no notification: the native subscription is broken. It is kept; its updates only trigger reads.
void Engine::grace_over(Subscription& sub) {
  emit(WatchdogChecked{sub.subscriber->upstream, WatchdogResult::broken});
  move(sub, Strategy::poll, StrategyReason::silent);
  sub.demoted = true;
  reschedule(*sub.watch);
  if (sub.seen != sub.watch->version->digest) found(sub, sub.guard().suspected_by, std::nullopt);
  progress(sub);
  tell(sub);
}

void Engine::on(const UpstreamStreamRefused& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return;
  s->native_refused = true;
  fall_back(*s, StrategyReason::no_upstream_stream);
}

void Engine::on(const UpstreamStreamLost& e) {
  if (Subscriber* s = find(e.subscriber)) fall_back(*s, StrategyReason::stream_lost);
}

// Native updates cannot arrive: poll, and read now what may have been missed.
void Engine::fall_back(Subscriber& s, StrategyReason reason) {
  for (auto& [uri, sub] : s.subscriptions) {
    if (sub.strategy != Strategy::subscribe || state::fenced(sub.state)) continue;
    move(sub, Strategy::poll, reason);
    if (!state::live(sub.state)) continue;
    ask_soon(sub, Errand::catchup);
    reschedule(*sub.watch);
  }
}

void Engine::on(const UpstreamStreamRestored& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr || s->native_refused) return;
  for (auto& [uri, sub] : s->subscriptions) {
    if (!state::live(sub.state) || !sub.native || sub.demoted || sub.strategy != Strategy::poll) continue;
    move(sub, Strategy::subscribe, StrategyReason::restored);
    sub.guard().base.reset();
    ask_soon(sub, Errand::catchup);
    watch_silence(sub);
    reschedule(*sub.watch);
  }
}

}  // namespace freshet
