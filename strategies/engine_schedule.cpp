// Who reads next, within the partner's budget: first what a client waits for, then what must be made sure, then polls.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "strategies/engine.hpp"

namespace freshet {

namespace {
constexpr Duration backoff_min = std::chrono::seconds(1);
constexpr Duration backoff_max = std::chrono::minutes(5);
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
  while (p.breaker.allows(now_.instant)) {
    if (send_urgent(p, p.waited_for, Urgency::waited_for)) continue;
    if (!p.waited_for.empty()) return;
    if (send_urgent(p, p.background, Urgency::background)) continue;
    if (!p.background.empty() || !send_poll(p)) return;
  }
}

// One read out of `queue`, if the budget has one; entries whose subscription moved on are passed over.
bool Engine::send_urgent(Partner& p, std::deque<Urgent>& queue, Urgency urgency) {
  while (!queue.empty()) {
    const Urgent next = queue.front();
    const auto it = subscriptions_.find(next.subscription);
    Subscription* sub = it == subscriptions_.end() ? nullptr : it->second;
    const bool moot = sub == nullptr || sub->generation != next.generation || state::fenced(sub->state) ||
                      (next.kind != ReadKind::baseline && sub->subscriber->absent);
    if (!moot && !p.limiter.try_take(now_.instant, urgency)) return false;
    queue.pop_front();
    if (sub != nullptr) sub->queued &= ~bit(next.kind);
    if (moot) continue;
    emit(BudgetWaited{upstream(sub->subscriber->upstream).partner, now_.instant - next.since});
    dispatch(p, *sub->watch, next.kind, *sub->subscriber, sub);
    return true;
  }
  return false;
}

bool Engine::send_poll(Partner& p) {
  const Instant due = p.schedule.next_due();
  if (due > now_.instant || !p.limiter.try_take(now_.instant)) return false;
  const std::optional<Scheduler::Handle> handle = p.schedule.take(now_.instant);
  assert(handle.has_value());
  Watch& watch = *p.by_handle[*handle];
  Subscription* sub = carrier(watch);
  assert(sub != nullptr);
  emit(BudgetWaited{upstream(watch.key.upstream).partner, now_.instant - due});
  dispatch(p, watch, ReadKind::poll, *sub->subscriber, nullptr);
  return true;
}

void Engine::dispatch(Partner& p, Watch& watch, ReadKind kind, Subscriber& via, const Subscription* own) {
  p.limiter.own_began();
  p.breaker.on_sent(now_.instant);
  Read& read = issue(&watch, kind, via, watch.key.uri);
  if (own != nullptr) {
    read.subscription = own->id;
    read.generation = own->generation;
  }
  watch.in_flight = read.id;
  emit(SendRead{read.id, via.id, via.upstream, read.uri, kind, upstream(via.upstream).read_timeout});
}

// Polls travel in the sessions of a watch by turns.
Subscription* Engine::carrier(Watch& watch) {
  for (std::size_t tried = 0; tried < watch.holders.size(); ++tried) {
    watch.turn = (watch.turn + 1) % watch.holders.size();
    Subscription* sub = watch.holders[watch.turn];
    if (state::live(sub->state) && sub->strategy == Strategy::poll && !sub->subscriber->absent) return sub;
  }
  return nullptr;
}

void Engine::ask_soon(Watch& watch, ReadKind kind, Subscription* own) {
  assert(own != nullptr && own->watch == &watch);
  if ((own->queued & bit(kind)) != 0) return;
  own->queued |= bit(kind);
  Partner& p = partner_of(watch.key.upstream);
  std::deque<Urgent>& queue = kind == ReadKind::baseline ? p.waited_for : p.background;
  queue.push_back({own->id, own->generation, kind, now_.instant});
}

bool Engine::wants_polls(const Watch& watch) const {
  if (watch.forbidden || suspended_.contains({watch.key.upstream, watch.key.principal})) return false;
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
  Partner& p = partner_of(watch.key.upstream);
  if (p.free_handles.empty()) {
    p.free_handles.push_back(static_cast<Scheduler::Handle>(p.by_handle.size()));
    p.by_handle.push_back(nullptr);
  }
  watch.handle = p.free_handles.back();
  p.free_handles.pop_back();
  p.by_handle[*watch.handle] = &watch;
  std::uint64_t payer = 0;
  std::memcpy(&payer, watch.key.principal.digest.data(), sizeof payer);
  if (watch.key.principal == Principal{}) payer = index(watch.holders.front()->subscriber->id);
  p.schedule.add(*watch.handle, watch.freshness->plan, {index(watch.key.upstream), payer},
                 watch.version ? watch.version->dispatched : now_.instant);
}

void Engine::unschedule(Watch& watch) {
  if (!watch.handle) return;
  Partner& p = partner_of(watch.key.upstream);
  p.schedule.remove(*watch.handle);
  p.by_handle[*watch.handle] = nullptr;
  p.free_handles.push_back(*watch.handle);
  watch.handle.reset();
}

// Every accepted read moves the watch's next poll, whoever caused it.
void Engine::observe(Watch& watch, const Read& read, bool differs) {
  if (!watch.handle) return;
  Scheduler& schedule = partner_of(watch.key.upstream).schedule;
  schedule.observed(*watch.handle, read.dispatched, differs);
  if (watch.presence == Presence::absent) {
    const double slow = seconds(watch.freshness->plan.interval) * absent_interval_factor;
    schedule.postpone(*watch.handle, now_.instant + random_.jittered(from_seconds(slow), backoff_jitter));
  }
}

void Engine::retry_later(Watch& watch, const Read& read) {
  const Instant at = now_.instant + backoff(watch.failures - 1);
  if (watch.handle) return partner_of(watch.key.upstream).schedule.postpone(*watch.handle, at);
  if (const auto it = subscriptions_.find(read.subscription); it != subscriptions_.end()) {
    if (it->second->watch == &watch) timers_.set({TimerKind::reread, read.subscription}, at);
  }
}

Duration Engine::backoff(unsigned failures) {
  const Duration plain = std::min<Duration>(backoff_max, backoff_min * (1LL << std::min(failures, 16U)));
  return random_.jittered(plain, backoff_jitter);
}

void Engine::settle_budget(const Read& read, const ReadOutcome& outcome) {
  Partner& p = partner_of(read.upstream);
  const unsigned in_flight = p.limiter.own_in_flight();
  p.limiter.own_ended();
  if (const auto* throttle = std::get_if<Throttled>(&outcome)) {
    p.concurrency.on_failure(now_.instant);
    throttled(read.upstream, throttle->retry_after);
  } else if (const auto* failed = std::get_if<Failed>(&outcome); failed != nullptr && says_partner_is_ill(*failed)) {
    p.concurrency.on_failure(now_.instant);
    failing(read.upstream);
  } else if (failed != nullptr && failed->reason == Failure::cancelled) {
    p.breaker.on_abandoned();
  } else {
    p.concurrency.on_answer(now_.instant, now_.instant - read.dispatched, in_flight);
    p.breaker.on_success(now_.instant);
  }
  p.limiter.set_concurrency(p.concurrency.limit());
}

bool Engine::says_partner_is_ill(const Failed& failed) {
  return failed.reason == Failure::connection || failed.reason == Failure::timeout || failed.reason == Failure::status;
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

bool Engine::watches_principal(UpstreamId id, const Principal& principal) const {
  return std::ranges::any_of(
      by_key_, [&](const auto& entry) { return entry.first.upstream == id && entry.first.principal == principal; });
}

std::vector<Watch*> Engine::watches_of(UpstreamId id, const Principal& principal) const {
  std::vector<Watch*> found;
  for (const auto& [key, watch] : by_key_) {
    if (key.upstream == id && key.principal == principal) found.push_back(watch);
  }
  std::ranges::sort(found, {}, [](const Watch* w) { return w->id; });
  return found;
}

}  // namespace freshet
