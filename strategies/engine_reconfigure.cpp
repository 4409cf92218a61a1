// The settings changed under way: what was planned is planned anew, what is known and owed stays.
#include <algorithm>
#include <cassert>
#include <utility>

#include "strategies/engine.hpp"

namespace freshet {

void Engine::on(const Reconfigured& e) {
  assert(e.settings->upstreams.size() == settings_.upstreams.size());
  assert(e.settings->partners.size() == settings_.partners.size());
  // Watches point into these until each was given its new freshness.
  const Settings before = std::exchange(settings_, *e.settings);
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    Partner& p = partners_[i];
    const PartnerSettings& settings = settings_.partners[i];
    p.limiter.configure(settings.budget);
    p.concurrency.set_max(settings.budget.concurrency);
    p.limiter.set_concurrency(p.concurrency.limit());
    p.breaker.configure(settings.breaker);
  }
  weigh_upstreams();
  for (auto& [key, caller] : callers_) {
    for (auto& [watch_key, watch] : caller.watches) replan(watch);
    keep_phase({TimerKind::check, caller.id}, before.upstreams[index(caller.upstream)].principal_check,
               upstream(caller.upstream).principal_check);
    begin_checks(caller);
    if (caller.list.scan) continue;  // its timer is a backoff
    keep_phase({TimerKind::list, caller.id}, before.upstreams[index(caller.upstream)].list_interval,
               upstream(caller.upstream).list_interval);
  }
  for (const auto& [id, s] : subscribers_) {
    keep_phase({TimerKind::absence, index(id)}, before.upstreams[index(s.upstream)].absent_grace,
               upstream(s.upstream).absent_grace);
  }
}

// An upstream's share of what its partner allows.
void Engine::weigh_upstreams() {
  for (std::uint32_t i = 0; i < settings_.upstreams.size(); ++i) {
    partner_of(UpstreamId{i}).schedule.set_upstream_weight(i, settings_.upstreams[i].share);
  }
}

void Engine::replan(Watch& watch) {
  const Freshness& before = *watch.freshness;
  const Freshness& after = freshness_of(watch.caller->upstream, watch.key->uri);
  watch.freshness = &after;
  for (const Subscription* sub : watch.holders) {
    keep_phase({TimerKind::watchdog, sub->id}, silence_limit(*sub, before), silence_limit(*sub, after));
  }
  if (!watch.handle || before.plan == after.plan) return;
  partner_of(watch.caller->upstream).schedule.set_plan(*watch.handle, after.plan, now_.instant);
}

// Of a wait that was `before` long the same part remains of `after`, so that what is spread over time stays spread.
void Engine::keep_phase(const TimerKey& timer, Duration before, Duration after) {
  const std::optional<Instant> at = timers_.at(timer);
  if (!at || before == after || before <= Duration::zero()) return;
  const double left = std::clamp(seconds(*at - now_.instant) / seconds(before), 0.0, 1.0);
  timers_.set(timer, now_.instant + from_seconds(left * seconds(after)));
}

}  // namespace freshet
