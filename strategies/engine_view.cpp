// How things stand, to be shown.
#include <algorithm>

#include "strategies/engine.hpp"

namespace freshet {

// What the present schedule allows, not what was wished for: from the last accepted read to the end of the next one. A
// read's own time counts: the picture ages while it travels. Where no read is planned (nobody listens, or it may not
// be read) there is no bound but the present age.
Duration Engine::bound(const Subscription& sub, Instant now) const {
  const Watch& watch = *sub.watch;
  const UpstreamSettings& settings = upstream(watch.caller->upstream);
  const Partner& p = partner_of(watch.caller->upstream);
  const Duration age = watch.accepted > 0 ? now - watch.confirmed : Duration::zero();
  const Instant resumes = p.paused ? std::max(p.breaker.paused_until(), now) : now;
  const Duration travels = settings.read_timeout + (resumes - now);
  if (sub.strategy == Strategy::subscribe) {
    const Instant check =
        timers_.at({TimerKind::watchdog, sub.id}).value_or(now + silence_limit(sub, *watch.freshness));
    return age + (std::max(check, now) - now) + watch.freshness->watchdog_grace + travels;
  }
  if (watch.handle && !p.held) return p.schedule.bound(*watch.handle, now) + travels;
  return std::max(watch.freshness->plan.interval_max, age) + travels;
}

// The bound says what the present schedule gives, and grows with whatever delays it. This does not: older pictures are
// later than they should be.
std::optional<Duration> Engine::overdue_after(const Subscription& sub) const {
  const Watch& watch = *sub.watch;
  const Duration timeout = upstream(watch.caller->upstream).read_timeout;
  if (sub.strategy == Strategy::subscribe)
    return silence_limit(sub, *watch.freshness) + watch.freshness->watchdog_grace + timeout;
  if (!watch.handle) return std::nullopt;
  return partner_of(watch.caller->upstream).schedule.asked_interval(*watch.handle) + timeout;
}

void Engine::for_each_subscription(Instant now, const std::function<void(const SubscriptionView&)>& visit) const {
  std::optional<SubscriberId> last = visit_subscriptions_after(std::nullopt, now, visit);
  while (last) last = visit_subscriptions_after(last, now, visit);
}

std::optional<SubscriberId> Engine::visit_subscriptions_after(
    std::optional<SubscriberId> last, Instant now, const std::function<void(const SubscriptionView&)>& visit) const {
  const auto next = last ? subscribers_.upper_bound(*last) : subscribers_.begin();
  if (next == subscribers_.end()) return std::nullopt;
  const auto& [id, s] = *next;
  for (const auto& [uri, sub] : s.subscriptions) {
    if (state::fenced(sub.state)) continue;
    const Watch& watch = *sub.watch;
    const Scheduler& schedule = partner_of(s.upstream).schedule;
    SubscriptionView view{.subscriber = id,
                          .upstream = s.upstream,
                          .uri = uri,
                          .state = state::name(sub.state),
                          .strategy = sub.strategy,
                          .presence = watch.presence,
                          .attached = s.attached,
                          .degraded = sub.degraded,
                          .absent = s.absent,
                          .age = {},
                          .bound = bound(sub, now),
                          .overdue_after = overdue_after(sub),
                          .confirmed_at = {},
                          .changed_at = {},
                          .next_read_in = {},
                          .changes_per_s = watch.handle ? schedule.change_rate(*watch.handle) : 0.0,
                          .version = {},
                          .mime_type = {},
                          .server_name = s.declared.server_name,
                          .server_version = s.declared.server_version};
    if (watch.version) {
      view.age = now - watch.confirmed;
      view.confirmed_at = watch.version->observed_at;
      view.changed_at = watch.version->changed_at;
      view.mime_type = *watch.version->mime_type;
      if (is_content(watch.version->digest)) view.version = to_hex(watch.version->digest);
      if (watch.handle) view.next_read_in = watch.confirmed + schedule.planned_interval(*watch.handle) - now;
    }
    visit(view);
  }
  return id;
}

void Engine::for_each_subscriber(const std::function<void(const SubscriberView&)>& visit) const {
  for (const auto& [id, s] : subscribers_) {
    visit({id, s.upstream, s.strategy, s.attached, s.absent, s.open, &s.declared});
  }
}

std::size_t Engine::errands() const {
  std::size_t waiting = 0;
  for (const Partner& p : partners_) waiting += p.waited_for.size() + p.background.size();
  return waiting;
}

void Engine::for_each_snapshot(Instant now, const std::function<void(const SnapshotView&)>& visit) const {
  for (const auto& [key, caller] : callers_) {
    if (!caller.list.snapshot) continue;
    const Snapshot& snapshot = *caller.list.snapshot;
    const std::optional<Instant> review = timers_.at({TimerKind::list, caller.id});
    visit({.upstream = caller.upstream,
           .proof = snapshot.proof,
           .measured_at = snapshot.measured_at,
           .bound = snapshot.bound,
           .next_review_in = review ? std::optional(*review - now) : std::nullopt,
           .resources = snapshot.resources});
  }
}

std::vector<PartnerView> Engine::partners(Instant now) const {
  std::vector<PartnerView> views;
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    const Partner& p = partners_[i];
    const bool open = p.breaker.state(now) == Breaker::State::open;
    views.push_back({.partner = PartnerId{static_cast<std::uint32_t>(i)},
                     .rate_per_s = p.limiter.settings().rate_per_s,
                     .wished_per_s = p.schedule.wished_rate(),
                     .in_flight = p.limiter.own_in_flight() + p.limiter.client_in_flight(),
                     .paused_for = open && !p.held ? std::optional(p.breaker.paused_until() - now) : std::nullopt,
                     .pause_reason = p.held                                             ? "operator"
                                     : !open                                            ? ""
                                     : p.breaker.reason() == Breaker::Reason::throttled ? "throttled"
                                                                                        : "failing",
                     .waiting = p.waited_for.size() + p.background.size(),
                     .polled = p.schedule.watches()});
  }
  return views;
}

}  // namespace freshet
