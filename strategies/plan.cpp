#include "strategies/plan.hpp"

#include <algorithm>
#include <cmath>

#include "strategies/budget/spread.hpp"

namespace freshet {
namespace {

constexpr double hour_s = 3600.0;
constexpr double day_s = hours_per_day * hour_s;

enum class Changes { always, never };

double begun_in(const Workload& load, unsigned hour) {
  const auto sessions = static_cast<double>(load.sessions_per_day);
  const unsigned busy = load.busy_hours.length();
  if (busy == hours_per_day) return sessions / hours_per_day;
  if (load.busy_hours.contains(hour)) return sessions * load.busy_share / busy;
  return sessions * (1.0 - load.busy_share) / (hours_per_day - busy);
}

// Sessions begun within the last `length_s` before the end of `hour`.
double at_once(const Workload& load, unsigned hour, double length_s) {
  const double days = std::floor(length_s / day_s);
  double sessions = days * static_cast<double>(load.sessions_per_day);
  double rest_s = length_s - days * day_s;
  for (unsigned h = hour; rest_s > 0.0; h = (h + hours_per_day - 1) % hours_per_day) {
    sessions += begun_in(load, h) * std::min(rest_s, hour_s) / hour_s;
    rest_s -= hour_s;
  }
  return sessions;
}

// How many of `places` are taken at least once when `takers` choose among them.
double taken(double places, double takers) {
  return places * -std::expm1(-takers / places);
}

struct Use {
  double sessions = 0;  // that the upstream sees
  double begun_per_s = 0;
  double principals = 0;  // that watch something
  double watches = 0;
};

Use use_in(const UpstreamSettings& settings, const UpstreamLoad& load, unsigned hour) {
  const Workload& w = load.workload;
  const double acts = settings.mode == Mode::off ? 0.0 : load.rollout;
  const auto resources = static_cast<double>(w.distinct_resources);
  const double chosen = std::min(static_cast<double>(w.resources_per_session), resources);
  const double polled = acts * at_once(w, hour, seconds(w.session_length + settings.absent_grace));
  Use use{.sessions = at_once(w, hour, seconds(w.session_length)),
          .begun_per_s = begun_in(w, hour) / hour_s,
          .principals = polled,
          .watches = polled * chosen};
  if (chosen == 0.0) return {.sessions = use.sessions, .begun_per_s = use.begun_per_s};
  if (w.principals > 0) {
    const auto principals = static_cast<double>(w.principals);
    use.principals = taken(principals, polled);
    use.watches = taken(principals * resources, polled * chosen);
  }
  return use;
}

WatchPlan scaled(WatchPlan plan, double factor) {
  const auto times = [factor](Duration d) { return from_seconds(seconds(d) * factor); };
  if (plan.policy == PollPolicy::fixed) {
    plan.interval = times(plan.interval);
  } else {
    plan.interval_min = times(plan.interval_min);
    plan.interval_max = times(plan.interval_max);
  }
  return plan;
}

WatchKind kind_of(const WatchPlan& plan, Changes changes) {
  const double soonest = seconds(plan.policy == PollPolicy::fixed ? plan.interval : plan.interval_min);
  const double longest = std::max(seconds(plan.interval_max), soonest);
  const bool slow = plan.policy == PollPolicy::adaptive && changes == Changes::never;
  return {.policy = plan.policy, .weight = plan.weight, .wish_s = slow ? longest : soonest, .longest_s = longest};
}

// One way in which things may stand: a factor on every interval, and what the resources do.
class Pricer {
 public:
  Pricer(const Settings& settings, PartnerId partner, const std::vector<UpstreamLoad>& loads, double factor,
         Changes changes)
      : settings_(settings), partner_(partner), loads_(loads), factor_(factor), changes_(changes) {}

  Price price() const;
  // As in `hour`, for the kinds that are watched at all.
  std::vector<KindPlan> kinds(unsigned hour) const;

 private:
  struct Kind {
    const UpstreamSettings* upstream;
    const Rule* rule;  // none: what no rule matches
    WatchPlan plan;
    double silence_s;
    double read_timeout_s;
  };
  struct Hour {
    HourPlan plan;
    std::vector<Kind> kinds;
    std::vector<WatchKind> watched;
    std::vector<Spread> spreads;     // by kind, like the two before
    std::vector<double> principals;  // by upstream
  };

  Hour hour_plan(unsigned hour) const;
  void add_upstream(Hour& hour, std::uint32_t upstream) const;
  void add_kind(Hour& hour, std::uint32_t upstream, const Rule* rule, double watches) const;
  void spend(Hour& hour) const;
  void check_credentials(Hour& hour, double left_per_s) const;
  static double age_worst_s(const Kind& kind, const Spread& spread, const WatchKind& watched);

  const Settings& settings_;
  PartnerId partner_;
  const std::vector<UpstreamLoad>& loads_;
  double factor_;
  Changes changes_;
};

void Pricer::add_kind(Hour& hour, std::uint32_t upstream, const Rule* rule, double watches) const {
  const UpstreamSettings& settings = settings_.upstreams[upstream];
  const Freshness& freshness = rule != nullptr ? rule->freshness : settings.freshness;
  if (watches <= 0.0) return;
  const WatchPlan plan = scaled(freshness.plan, factor_);
  WatchKind watched = kind_of(plan, changes_);
  watched.upstream = upstream;
  watched.share = settings.share;
  watched.watches = watches;
  hour.watched.push_back(watched);
  hour.kinds.push_back({&settings, rule, plan, seconds(freshness.watchdog_silence), seconds(settings.read_timeout)});
}

void Pricer::add_upstream(Hour& hour, std::uint32_t upstream) const {
  const UpstreamSettings& settings = settings_.upstreams[upstream];
  const UpstreamLoad& load = loads_[upstream];
  const Workload& w = load.workload;
  const Use use = use_in(settings, load, hour.plan.hour);
  hour.principals[upstream] = use.principals;
  hour.plan.sessions += use.sessions;
  hour.plan.watches += use.watches;
  hour.plan.client_per_s += use.begun_per_s * static_cast<double>(w.client_requests_per_session);
  if (use.watches <= 0.0) return;
  hour.plan.baselines_per_s +=
      use.begun_per_s * load.rollout * static_cast<double>(std::min(w.resources_per_session, w.distinct_resources));
  if (settings.list_polling) hour.plan.lists_per_s += use.principals / seconds(settings.list_interval);
  double rest = 1.0;
  for (std::size_t r = 0; r < settings.rules.size(); ++r) {
    add_kind(hour, upstream, &settings.rules[r], use.watches * load.rule_shares[r]);
    rest -= load.rule_shares[r];
  }
  constexpr double rounding = 1e-9;
  if (rest > rounding) add_kind(hour, upstream, nullptr, use.watches * rest);
}

// A principal that is read for less often than once in its period is read for once in it, one watch after another.
void Pricer::check_credentials(Hour& hour, double left_per_s) const {
  for (std::uint32_t u = 0; u < hour.principals.size(); ++u) {
    const double period = seconds(settings_.upstreams[u].principal_check);
    double polls = 0.0;
    for (std::size_t i = 0; i < hour.watched.size(); ++i) {
      if (hour.watched[i].upstream == u) polls += hour.watched[i].watches / hour.spreads[i].interval_s;
    }
    if (period <= 0.0 || polls <= 0.0) continue;
    const double missing = hour.principals[u] / period - polls;
    hour.plan.wished_per_s += std::max(missing, 0.0);
    const double checks = std::clamp(missing, 0.0, left_per_s);
    left_per_s -= checks;
    for (std::size_t i = 0; i < hour.watched.size(); ++i) {
      if (hour.watched[i].upstream == u) hour.spreads[i].interval_s *= polls / (polls + checks);
    }
  }
}

double Pricer::age_worst_s(const Kind& kind, const Spread& spread, const WatchKind& watched) {
  const bool to_longest =
      spread.by_value && (watched.policy == PollPolicy::budget || spread.interval_s > watched.wish_s);
  const double interval = to_longest ? spread.longest_s : watched.wish_s * (1.0 + kind.plan.jitter);
  return interval + kind.read_timeout_s;
}

void Pricer::spend(Hour& hour) const {
  HourPlan& plan = hour.plan;
  const BudgetSettings& budget = settings_.partners[index(partner_)].budget;
  // As Limiter::own_rate: clients count first, but hold own requests up no longer than their patience.
  const double patience = 1.0 / seconds(budget.own_wait_max);
  plan.available_per_s = std::min(budget.rate_per_s * (1.0 - budget.client_reserve),
                                  std::max(budget.rate_per_s - plan.client_per_s, patience));
  const double for_polls = std::max(plan.available_per_s - plan.baselines_per_s - plan.lists_per_s, patience);
  double wished = 0.0;
  for (const WatchKind& kind : hour.watched) wished += kind.wished_per_s();
  plan.wished_per_s = plan.baselines_per_s + plan.lists_per_s + wished;
  hour.spreads = spread(hour.watched, for_polls);
  double polls = 0.0;
  for (std::size_t i = 0; i < hour.watched.size(); ++i) polls += hour.watched[i].watches / hour.spreads[i].interval_s;
  check_credentials(hour, std::max(for_polls - polls, 0.0));
  plan.stretch = std::max(1.0, (plan.wished_per_s - plan.baselines_per_s - plan.lists_per_s) / for_polls);
}

Pricer::Hour Pricer::hour_plan(unsigned at) const {
  Hour hour;
  hour.plan.hour = at;
  hour.principals.resize(settings_.upstreams.size());
  for (std::uint32_t u = 0; u < settings_.upstreams.size(); ++u) {
    if (settings_.upstreams[u].partner == partner_) add_upstream(hour, u);
  }
  spend(hour);
  HourPlan& plan = hour.plan;
  plan.notifying_per_s = plan.baselines_per_s;
  for (std::size_t i = 0; i < hour.kinds.size(); ++i) {
    const double watches = hour.watched[i].watches;
    plan.polls_per_s += watches / hour.spreads[i].interval_s;
    plan.age_mean_s += watches / plan.watches * hour.spreads[i].interval_s / 2.0;
    plan.age_worst_s = std::max(plan.age_worst_s, age_worst_s(hour.kinds[i], hour.spreads[i], hour.watched[i]));
    plan.notifying_per_s += watches / hour.kinds[i].silence_s;
  }
  return hour;
}

Price Pricer::price() const {
  Price price;
  double watched = 0.0;
  double asked = -1.0;
  for (unsigned at = 0; at < hours_per_day; ++at) {
    const HourPlan hour = hour_plan(at).plan;
    price.reads_per_day += hour_s * (hour.polls_per_s + hour.baselines_per_s);
    price.own_per_s += hour.own_per_s() / hours_per_day;
    price.client_per_s += hour.client_per_s / hours_per_day;
    price.age_mean_s += hour.watches * hour.age_mean_s;
    price.age_worst_s = std::max(price.age_worst_s, hour.age_worst_s);
    price.hours_stretched += hour.fits() ? 0 : 1;
    watched += hour.watches;
    if (hour.wished_per_s + hour.client_per_s <= asked * (1.0 + 1e-9)) continue;
    asked = hour.wished_per_s + hour.client_per_s;
    price.busiest = hour;
  }
  if (watched > 0.0) price.age_mean_s /= watched;
  return price;
}

std::vector<KindPlan> Pricer::kinds(unsigned at) const {
  std::vector<KindPlan> kinds;
  const Hour hour = hour_plan(at);
  for (std::size_t i = 0; i < hour.kinds.size(); ++i) {
    const Kind& kind = hour.kinds[i];
    kinds.push_back({.upstream = kind.upstream->name,
                     .match = kind.rule != nullptr ? kind.rule->match : "",
                     .policy = kind.plan.policy,
                     .watches = hour.watched[i].watches,
                     .interval_s = hour.spreads[i].interval_s,
                     .interval_worst_s = hour.spreads[i].interval_s,
                     .age_worst_s = age_worst_s(kind, hour.spreads[i], hour.watched[i])});
  }
  return kinds;
}

}  // namespace

PartnerPlan price(const Settings& settings, PartnerId partner, const std::vector<UpstreamLoad>& loads) {
  const auto pricer = [&](double factor, Changes changes) { return Pricer(settings, partner, loads, factor, changes); };
  const auto estimate = [&](double factor) {
    const Price often = pricer(factor, Changes::always).price();
    Price never = pricer(factor, Changes::never).price();
    return Estimate{often, never};
  };
  PartnerPlan plan{.name = settings.partners[index(partner)].name,
                   .budget = settings.partners[index(partner)].budget,
                   .half = estimate(0.5),
                   .configured = estimate(1.0),
                   .twice = estimate(2.0)};
  for (std::size_t u = 0; u < settings.upstreams.size(); ++u) {
    if (settings.upstreams[u].partner != partner || settings.upstreams[u].mode == Mode::off) continue;
    plan.sessions_per_day += static_cast<double>(loads[u].workload.sessions_per_day) * loads[u].rollout;
  }
  for (Estimate* e : {&plan.half, &plan.configured, &plan.twice}) {
    for (Price* p : {&e->most, &e->least}) {
      if (plan.sessions_per_day > 0.0) p->reads_per_session = p->reads_per_day / plan.sessions_per_day;
    }
  }
  const unsigned busiest = plan.configured.most.busiest.hour;
  plan.kinds = pricer(1.0, Changes::always).kinds(busiest);
  const std::vector<KindPlan> quiet = pricer(1.0, Changes::never).kinds(busiest);
  for (std::size_t i = 0; i < plan.kinds.size(); ++i) {
    plan.kinds[i].interval_worst_s = quiet[i].interval_s;
    plan.kinds[i].age_worst_s = std::max(plan.kinds[i].age_worst_s, quiet[i].age_worst_s);
    plan.adaptive = plan.adaptive || plan.kinds[i].policy == PollPolicy::adaptive;
  }
  return plan;
}

}  // namespace freshet
