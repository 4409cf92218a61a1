#include "proxy/app/engine_settings.hpp"

#include <algorithm>

namespace freshet::app {

namespace {

PollPolicy policy_of(config::Policy policy) {
  switch (policy) {
    case config::Policy::fixed:
      return PollPolicy::fixed;
    case config::Policy::adaptive:
      return PollPolicy::adaptive;
    case config::Policy::budget:
      return PollPolicy::budget;
  }
  return PollPolicy::fixed;
}

Freshness freshness_of(const config::Freshness& f) {
  return {.plan = {.policy = policy_of(f.policy),
                   .interval = f.interval,
                   .interval_min = f.interval_min,
                   .interval_max = std::max(f.interval_max, f.interval),
                   .weight = f.weight,
                   .jitter = f.jitter},
          .watchdog_silence = f.watchdog_silence,
          .watchdog_grace = f.watchdog_grace};
}

UpstreamSettings upstream_of(const config::Upstream& u) {
  UpstreamSettings made{.name = u.name,
                        .partner = u.partner,
                        .share = u.share,
                        .mode = u.mode == config::Mode::active   ? Mode::active
                                : u.mode == config::Mode::shadow ? Mode::shadow
                                                                 : Mode::off,
                        .freshness = freshness_of(u.freshness),
                        .rules = {},
                        .baseline_wait = u.reads.baseline_wait,
                        .read_timeout = u.reads.timeout,
                        .absent_grace = u.sessions.absent_grace,
                        .reads_max_age = u.reads.max_age,
                        .notify_min_interval = u.notify_min_interval,
                        .principal_check = u.sessions.credential_check,
                        .list_polling = u.lists.poll,
                        .list_interval = u.lists.interval};
  for (const config::Rule& rule : u.rules) made.rules.push_back({rule.match, freshness_of(rule.freshness)});
  return made;
}

PartnerSettings partner_of(const config::Partner& p) {
  PartnerSettings made{.name = p.name, .budget = {}, .breaker = {}};
  made.budget.rate_per_s = p.rate;
  made.budget.burst = std::max<double>(p.burst, 1.0);
  made.budget.poll_burst = std::clamp<double>(p.poll_burst, 1.0, made.budget.burst);
  made.budget.concurrency = p.concurrency;
  made.budget.client_reserve = p.reserve;
  made.budget.enforce_clients = p.enforce == config::Enforce::all;
  made.breaker.pause_min = p.pause.backoff_min;
  made.breaker.pause_max = std::max(p.pause.retry_after_max, p.pause.backoff_max);
  made.breaker.failing_pause_max = std::min(made.breaker.failing_pause_max, p.pause.backoff_max);
  return made;
}

}  // namespace

Settings engine_settings(const config::Settings& settings) {
  Settings made{.upstreams = {},
                .partners = {},
                .limits = {.subscriptions_max = settings.limits.subscriptions_max,
                           .subscriptions_per_subscriber_max = settings.limits.subscriptions_per_session_max,
                           .seen_per_subscriber_max = settings.limits.seen_per_session_max,
                           .seen_by_principals_max = settings.limits.seen_by_principals_max}};
  for (const config::Upstream& u : settings.upstreams) made.upstreams.push_back(upstream_of(u));
  for (const config::Partner& p : settings.partners) made.partners.push_back(partner_of(p));
  return made;
}

}  // namespace freshet::app
