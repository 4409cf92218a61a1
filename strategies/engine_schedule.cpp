// Who reads next, within the partner's budget: first what a client waits for, then what must be made sure, then polls.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "strategies/engine.hpp"
#include "strategies/transition.hpp"

namespace freshet {

namespace {
constexpr Duration backoff_min = std::chrono::seconds(1);
constexpr double backoff_jitter = 0.25;
constexpr double absent_interval_factor = 8.0;  // a resource that is gone is looked for this much more slowly
}  // namespace

void Engine::advance() {
  while (const std::optional<TimerKey> due = timers_.take_due(now_.instant)) fire(*due);
  for (Partner& p : partners_) pump(p);
}

void Engine::pump(Partner& p) {
  if (p.paused && p.breaker.state(now_.instant) != Breaker::State::open) {
    p.paused = false;
    p.limiter.spend_burst(now_.instant);
    emit(PartnerResumed{PartnerId{static_cast<std::uint32_t>(&p - partners_.data())}});
  }
  p.schedule.set_rate(p.limiter.own_rate(now_.instant));
  while (!p.held && p.breaker.allows(now_.instant)) {
    if (send_waiting(p, p.waited_for, Urgency::waited_for)) continue;
    if (!p.waited_for.empty()) return;
    // By turns, or checks that come again as soon as they are done would leave nothing for polls.
    if (p.poll_is_next && p.schedule.next_due() <= now_.instant) {
      if (!send_poll(p)) return;
      p.poll_is_next = false;
      continue;
    }
    p.poll_is_next = send_waiting(p, p.background, Urgency::background);
    if (p.poll_is_next) continue;
    if (!p.background.empty() || !send_poll(p)) return;
  }
}

// The first of `queue` that is still wanted, if the budget has a request for it.
bool Engine::send_waiting(Partner& p, std::deque<Waiting>& queue, Urgency urgency) {
  while (!queue.empty()) {
    const Waiting entry = queue.front();
    Caller* caller = entry.errand == Errand::list_page ? find_caller(entry.id) : nullptr;
    Subscription* sub = entry.errand == Errand::list_page ? nullptr : find_subscription(entry.id);
    const bool wanted = caller != nullptr ? wants_page(*caller) : sub != nullptr && !moot(*sub, entry);
    if (wanted && !p.limiter.try_take(now_.instant, urgency)) return false;
    queue.pop_front();
    if (caller != nullptr) caller->list.queued = false;
    if (sub != nullptr) sub->queued &= static_cast<std::uint8_t>(~Subscription::bit(entry.errand));
    if (!wanted) {
      if (sub != nullptr) give_up(*sub, entry.errand);
      if (caller != nullptr) drop_review(*caller);  // begins anew when somebody is there for it
      continue;
    }
    emit(BudgetWaited{PartnerId{static_cast<std::uint32_t>(&p - partners_.data())}, now_.instant - entry.since});
    if (caller != nullptr) {
      send_page(p, *caller);
    } else {
      perform(p, *sub, entry.errand);
    }
    return true;
  }
  return false;
}

// Has what the errand was for come to pass, or lost its sense, while it waited?
bool Engine::moot(const Subscription& sub, const Waiting& entry) const {
  const bool fenced = state::fenced(sub.state);
  switch (entry.errand) {
    case Errand::baseline:
      return fenced || !(sub.degraded || std::holds_alternative<state::Subscribing>(sub.state));
    case Errand::subscribe:
      return fenced || (sub.subscriber->absent && state::live(sub.state));
    case Errand::unsubscribe:
      return !fenced || !sub.native;
    case Errand::catchup:
    case Errand::poll:
    case Errand::watchdog:
    case Errand::list_page:
      break;
  }
  if (fenced || sub.subscriber->absent || sub.watch->forbidden || sub.watch->caller->refused_at) return true;
  // A later read that is known to all holders does as well, but for what must be seen in this very session.
  const bool comparable = sub.agrees || !sub.subscriber->declared.sessions || sub.watch->holders.size() == 1;
  return sub.strategy == Strategy::poll && comparable && sub.watch->doubts.empty() &&
         sub.watch->confirmed > entry.since;
}

void Engine::give_up(Subscription& sub, Errand errand) {
  if (errand != Errand::subscribe && errand != Errand::unsubscribe) {
    // What refused its principal may have been sent before it joined: nothing else tells it.
    if (state::live(sub.state) && !sub.owed_or_told()) tell_refusal(sub);
    return;
  }
  sub.native_busy = false;
  if (!state::fenced(sub.state)) return;
  if (sub.native) return ask_native(sub, Errand::unsubscribe);
  transition(sub.state, confirmed);
}

void Engine::perform(Partner& p, Subscription& sub, Errand errand) {
  Subscriber& s = *sub.subscriber;
  switch (errand) {
    case Errand::baseline:
      return dispatch(p, *sub.watch, ReadKind::baseline, s, &sub);
    case Errand::catchup:
      return dispatch(p, *sub.watch, ReadKind::catchup, s, &sub);
    case Errand::watchdog:
      return dispatch(p, *sub.watch, ReadKind::watchdog, s, &sub);
    case Errand::poll:
      return dispatch(p, *sub.watch, ReadKind::poll, s, &sub);
    case Errand::subscribe:
      p.breaker.on_sent(now_.instant);
      return emit(SendNativeSubscribe{s.id, *sub.uri, sub.generation});
    case Errand::unsubscribe:
      p.breaker.on_sent(now_.instant);
      return emit(SendNativeUnsubscribe{s.id, *sub.uri, sub.generation});
    case Errand::list_page:
      break;
  }
}

bool Engine::send_poll(Partner& p) {
  const Instant due = p.schedule.next_due();
  if (due > now_.instant || !p.limiter.try_take(now_.instant)) return false;
  const std::optional<Scheduler::Handle> handle = p.schedule.take(now_.instant);
  assert(handle.has_value());
  Watch& watch = *p.by_handle[*handle];
  Subscription* sub = carrier(watch);
  assert(sub != nullptr);
  emit(BudgetWaited{upstream(watch.caller->upstream).partner, now_.instant - due});
  dispatch(p, watch, ReadKind::poll, *sub->subscriber, nullptr);
  return true;
}

void Engine::dispatch(Partner& p, Watch& watch, ReadKind kind, Subscriber& via, const Subscription* own) {
  p.limiter.own_began();
  p.breaker.on_sent(now_.instant);
  Read& read = issue(&watch, kind, via, watch.key->uri);
  if (own != nullptr) {
    read.subscription = own->id;
    read.generation = own->generation;
  }
  watch.in_flight = read.id;
  emit(SendRead{read.id, via.id, via.upstream, read.uri, kind, upstream(via.upstream).read_timeout});
}

void Engine::ask_soon(Subscription& sub, Errand errand) {
  if (errand == Errand::catchup) sub.catch_up_from = now_.instant;
  if (sub.waits(errand)) return;
  sub.queued |= Subscription::bit(errand);
  Partner& p = partner_of(sub.subscriber->upstream);
  const bool waited_for = errand == Errand::baseline || (errand == Errand::subscribe && !sub.asking.empty());
  (waited_for ? p.waited_for : p.background).push_back({sub.id, errand, now_.instant});
}

bool Engine::wants_polls(const Watch& watch) const {
  if (watch.forbidden || watch.caller->refused_at) return false;
  return std::ranges::any_of(watch.holders, [](const Subscription* sub) {
    return state::live(sub->state) && sub->strategy == Strategy::poll && !sub->subscriber->absent;
  });
}

void Engine::reschedule(Watch& watch) {
  const bool wants = wants_polls(watch);
  if (wants && !watch.handle) schedule(watch);
  if (!wants && watch.handle) unschedule(watch);
}

void Engine::schedule(Watch& watch) {
  Partner& p = partner_of(watch.caller->upstream);
  if (p.free_handles.empty()) {
    p.free_handles.push_back(static_cast<Scheduler::Handle>(p.by_handle.size()));
    p.by_handle.push_back(nullptr);
  }
  watch.handle = p.free_handles.back();
  p.free_handles.pop_back();
  p.by_handle[*watch.handle] = &watch;
  std::uint64_t payer = 0;
  const Principal& principal = watch.caller->principal;
  std::memcpy(&payer, principal.digest.data(), sizeof payer);
  if (principal == Principal{}) payer = index(watch.holders.front()->subscriber->id);
  p.schedule.add(*watch.handle, watch.freshness->plan, {index(watch.caller->upstream), payer},
                 watch.version ? watch.confirmed : now_.instant);
  const bool read_soon =
      std::ranges::any_of(watch.holders, [](const Subscription* sub) { return sub->waits(Errand::catchup); });
  if (read_soon) p.schedule.postpone(*watch.handle, now_.instant + watch.freshness->plan.interval);
}

void Engine::unschedule(Watch& watch) {
  if (!watch.handle) return;
  Partner& p = partner_of(watch.caller->upstream);
  p.schedule.remove(*watch.handle);
  p.by_handle[*watch.handle] = nullptr;
  p.free_handles.push_back(*watch.handle);
  watch.handle.reset();
}

// Every accepted read moves the watch's next poll, whoever caused it.
void Engine::observe(Watch& watch, const Read& read, bool differs) {
  if (!watch.handle) return;
  Scheduler& schedule = partner_of(watch.caller->upstream).schedule;
  schedule.observed(*watch.handle, read.dispatched, differs);
}

// A resource that is gone, or should be, is looked for again, but rarely.
void Engine::slow_down(Watch& watch) {
  if (!watch.handle) return;
  const double slow = seconds(watch.freshness->plan.interval) * absent_interval_factor;
  partner_of(watch.caller->upstream)
      .schedule.postpone(*watch.handle, now_.instant + random_.jittered(from_seconds(slow), backoff_jitter));
}

void Engine::read_again(Watch& watch, Instant at) {
  if (watch.handle) return partner_of(watch.caller->upstream).schedule.postpone(*watch.handle, at);
  if (const Subscription* sub = reader(watch)) timers_.set({TimerKind::reread, sub->id}, at);
}

Duration Engine::backoff(unsigned failures, Duration longest) {
  const Duration plain = std::min<Duration>(longest, backoff_min * (1LL << std::min(failures, 16U)));
  return random_.jittered(plain, backoff_jitter);
}

// The budget's part of an outcome of our own request.
void Engine::settle_budget(UpstreamId id, Instant dispatched, const Health& health) {
  Partner& p = partner_of(id);
  const unsigned in_flight = p.limiter.own_in_flight();
  p.limiter.own_ended();
  switch (health.kind) {
    case Health::Kind::throttled:
      p.concurrency.on_failure(now_.instant);
      throttled(id, health.retry_after);
      break;
    case Health::Kind::failing:
      p.concurrency.on_failure(now_.instant);
      failing(id);
      break;
    case Health::Kind::unknown:
      p.breaker.on_abandoned();
      break;
    case Health::Kind::well:
      p.concurrency.on_answer(now_.instant, now_.instant - dispatched, in_flight);
      p.breaker.on_success(now_.instant);
      break;
  }
  p.limiter.set_concurrency(p.concurrency.limit());
}

void Engine::throttled(UpstreamId id, std::optional<Duration> retry_after) {
  partner_of(id).breaker.on_throttled(now_.instant, retry_after, random_);
  note_pause(upstream(id).partner);
}

void Engine::failing(UpstreamId id) {
  partner_of(id).breaker.on_failure(now_.instant, random_);
  note_pause(upstream(id).partner);
}

void Engine::note_pause(PartnerId id) {
  Partner& p = partners_[index(id)];
  if (p.paused || p.breaker.state(now_.instant) != Breaker::State::open) return;
  p.paused = true;
  emit(PartnerPaused{id, p.breaker.paused_until() - now_.instant, p.breaker.reason() == Breaker::Reason::throttled});
}

Instant Engine::next_read_at(const Partner& p) const {
  Instant at = never;
  if (p.held) return p.paused ? p.breaker.paused_until() : never;
  if (!p.waited_for.empty()) at = std::min(at, p.limiter.available_at(now_.instant, Urgency::waited_for));
  if (!p.background.empty()) at = std::min(at, p.limiter.available_at(now_.instant, Urgency::background));
  const Instant due = p.schedule.next_due();
  if (due != never) {
    at = std::min(at, std::max(due, p.limiter.available_at(now_.instant, Urgency::background)));
  }
  if (at != never) at = std::max(at, p.breaker.available_at(now_.instant));
  if (p.paused) at = std::min(at, p.breaker.paused_until());
  return at;
}

}  // namespace freshet
