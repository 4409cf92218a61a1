#include "strategies/budget/scheduler.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "strategies/budget/value.hpp"

namespace freshet {
namespace {

// An adaptive watch wishes to be read once per this many expected changes: about 40 % of its reads find one.
constexpr double adaptive_changes_per_read = 0.5;
// What is planned by value is spread by the queue already; this much jitter keeps it off every clock.
constexpr double value_jitter = 0.02;
// The fading means forget over a fraction of a group's watches, within these limits.
constexpr double memory_min = 4.0;
constexpr double memory_max = 256.0;
constexpr double memory_per_watch = 0.125;
// V grows like T^1.5..3: how strongly a standing delay, as a fraction of the mean interval, raises λ.
constexpr double delay_gain = 0.5;
constexpr double delay_gain_limit = 2.0;
// An idle budget may read a watch that is planned by value this much of its interval early.
constexpr double early_fraction = 0.25;
constexpr double shortest_s = 1e-3;  // keeps every division sound

}  // namespace

void Scheduler::Marginal::saw(double interval, double delay, std::optional<double> value, double memory) {
  samples = std::min(samples + 1.0, memory);
  const double gain = 1.0 / samples;
  interval_s += gain * (interval - interval_s);
  delay_s += gain * (delay - delay_s);
  if (!value) return;
  values = std::min(values + 1.0, memory);
  log_value += (std::log(*value) - log_value) / values;
}

// λ for the next plan: the value that reads had when they were granted, moved so that a standing delay melts away.
double Scheduler::Marginal::threshold() const {
  if (values == 0.0) return 0.0;
  const double correction = std::clamp(delay_gain * delay_s / interval_s, -delay_gain_limit, delay_gain_limit);
  return std::exp(log_value + correction);
}

Scheduler::Scheduler(double rate, std::uint64_t seed) : rate_(rate), random_(seed) {
  assert(rate > 0.0);
}

Scheduler::Watch& Scheduler::watch(Handle h) {
  assert(h < watches_.size() && watches_[h].in_use);
  return watches_[h];
}

const Scheduler::Watch& Scheduler::watch(Handle h) const {
  assert(h < watches_.size() && watches_[h].in_use);
  return watches_[h];
}

const ChangeModel& Scheduler::model_of(const Watch& w) const {
  return upstreams_[groups_[w.group].payer.upstream].model;
}

Scheduler::Upstream& Scheduler::upstream_at(std::uint32_t upstream) {
  if (upstream >= upstreams_.size()) upstreams_.resize(upstream + 1);
  return upstreams_[upstream];
}

void Scheduler::set_upstream_weight(std::uint32_t upstream, double weight) {
  assert(weight > 0.0);
  upstream_at(upstream).weight = weight;
}

Scheduler::PlanIndex Scheduler::share_plan(const WatchPlan& plan) {
  auto place = std::ranges::find_if(plans_, [&](const SharedPlan& s) { return s.users > 0 && s.plan == plan; });
  if (place == plans_.end()) place = std::ranges::find(plans_, std::size_t{0}, &SharedPlan::users);
  if (place == plans_.end()) place = plans_.emplace(plans_.end());
  place->plan = plan;
  ++place->users;
  return static_cast<PlanIndex>(place - plans_.begin());
}

Scheduler::GroupIndex Scheduler::group_for(const Payer& payer) {
  const auto [at, is_new] = group_of_.try_emplace(payer, static_cast<GroupIndex>(groups_.size()));
  if (!is_new) return at->second;
  if (free_groups_.empty()) {
    groups_.emplace_back();
    group_places_.push_back(not_in_heap);
  } else {
    at->second = free_groups_.back();
    free_groups_.pop_back();
    groups_[at->second] = Group{};
  }
  groups_[at->second].payer = payer;
  groups_[at->second].virtual_time = virtual_now_;
  upstream_at(payer.upstream);
  return at->second;
}

void Scheduler::drop_group(GroupIndex index) {
  group_of_.erase(groups_[index].payer);
  free_groups_.push_back(index);
}

void Scheduler::account(Watch& w, double wished_per_s, double floor_per_s) {
  wished_ += wished_per_s - w.wished_per_s;
  floor_ += floor_per_s - w.floor_per_s;
  w.wished_per_s = wished_per_s;
  w.floor_per_s = floor_per_s;
}

// The wish before jitter, and what it costs.
void Scheduler::set_wish(Watch& w) {
  const WatchPlan& p = plan_of(w);
  double wish = seconds(p.policy == PollPolicy::fixed ? p.interval : p.interval_min);
  const double longest = std::max(seconds(p.interval_max), wish);
  if (p.policy == PollPolicy::adaptive) {
    const Forecast f = model_of(w).forecast(w.change);
    const double guess = std::clamp(adaptive_changes_per_read / f.rate_over(longest), wish, longest);
    wish = std::clamp(adaptive_changes_per_read / f.rate_over(guess), wish, longest);
  }
  if (w.hint > Duration::zero()) wish = std::clamp(seconds(w.hint), wish, longest);
  w.wish = from_seconds(wish);
  w.longest = from_seconds(longest);
  account(w, 1.0 / (p.policy == PollPolicy::budget ? longest : wish), 1.0 / longest);
}

// λ of the group. Before it was granted anything: the λ at which watches that change at the mean rate would use up
// the group's share; intervals are then about proportional to √(λ/w).
double Scheduler::threshold(const Group& g) const {
  const double learnt = g.marginal.threshold();
  if (learnt > 0.0) return learnt;
  const double share = rate_ / static_cast<double>(group_of_.size());
  return read_value(1.0, upstreams_[g.payer.upstream].model.mean_rate(), g.root_weights / share);
}

double Scheduler::stretch() const {
  return std::max(1.0, floor_ / rate_);
}

// When V(w, λ(t)) crosses λ, with the changing rate taken as the constant one that gives as many changes until then.
double Scheduler::value_interval(const Watch& w, double longest) const {
  const Forecast f = model_of(w).forecast(w.change);
  const double lambda = threshold(groups_[w.group]);
  double t = longest;
  for (int step = 0; step < 4; ++step) {
    const double next = std::clamp(time_to_value(plan_of(w).weight, f.rate_over(t), lambda), shortest_s, longest);
    if (std::abs(next - t) < 0.02 * t) return next;
    t = next;
  }
  return t;
}

Duration Scheduler::plan_interval(Watch& w) {
  set_wish(w);
  w.by_value = plan_of(w).policy == PollPolicy::budget || overloaded();
  if (!w.by_value) return random_.jittered(w.wish, plan_of(w).jitter);
  const double longest_s = seconds(w.longest) * stretch();
  const Duration by_value = random_.jittered(from_seconds(value_interval(w, longest_s)), value_jitter);
  const Duration longest = from_seconds(longest_s);
  const Duration soonest =
      plan_of(w).policy == PollPolicy::budget ? w.wish : random_.jittered(w.wish, plan_of(w).jitter);
  return std::clamp(by_value, std::min(soonest, longest), longest);
}

void Scheduler::plan(Handle h) {
  Watch& w = watches_[h];
  w.exception = false;
  w.first = false;
  w.planned_at = w.base + plan_interval(w);
  groups_[w.group].plans.put(watch_places_, h, w.planned_at);
  place_group(w.group);
}

// Appends to the order of last reads. An older read than the newest one (late news) only blurs the order.
void Scheduler::age(Handle h) {
  unage(h);
  Watch& w = watches_[h];
  Group& g = groups_[w.group];
  w.older = g.newest;
  w.newer = none;
  w.aged = true;
  (g.newest == none ? g.oldest : watches_[g.newest].newer) = h;
  g.newest = h;
}

void Scheduler::unage(Handle h) {
  Watch& w = watches_[h];
  if (!w.aged) return;
  Group& g = groups_[w.group];
  (w.older == none ? g.oldest : watches_[w.older].newer) = w.newer;
  (w.newer == none ? g.newest : watches_[w.newer].older) = w.older;
  w.aged = false;
}

void Scheduler::add(Handle h, const WatchPlan& p, const Payer& payer, Instant read_at) {
  assert(p.weight > 0.0 && p.interval > Duration::zero() && p.interval_min > Duration::zero());
  if (h >= watches_.size()) {
    watches_.resize(h + 1);
    watch_places_.resize(h + 1, not_in_heap);
  }
  Watch& w = watches_[h];
  assert(!w.in_use);
  w = Watch{};
  w.in_use = true;
  w.plan = share_plan(p);
  w.change = ChangeModel::fresh(read_at);
  w.base = read_at;
  w.group = group_for(payer);
  ++groups_[w.group].watches;
  groups_[w.group].root_weights += std::sqrt(p.weight);
  ++count_;
  const Duration whole = plan_interval(w);
  w.planned_at = read_at + from_seconds(seconds(whole) * random_.unit());
  groups_[w.group].plans.put(watch_places_, h, w.planned_at);
  age(h);
  place_group(w.group);
}

void Scheduler::remove(Handle h) {
  Watch& w = watch(h);
  Group& g = groups_[w.group];
  account(w, 0.0, 0.0);
  if (watch_places_[h] != not_in_heap) g.plans.remove(watch_places_, h);
  unage(h);
  place_group(w.group);
  w.in_use = false;
  --count_;
  g.root_weights -= std::sqrt(plan_of(w).weight);
  --plans_[w.plan].users;
  if (--g.watches == 0) drop_group(w.group);
}

void Scheduler::set_plan(Handle h, const WatchPlan& p, Instant now) {
  Watch& w = watch(h);
  groups_[w.group].root_weights += std::sqrt(p.weight) - std::sqrt(plan_of(w).weight);
  --plans_[w.plan].users;
  w.plan = share_plan(p);
  if (watch_places_[h] == not_in_heap) return;  // its read is out: planned when that ends
  // In its first phase it waits for less than an interval.
  const double before = seconds(std::max(w.planned_at - w.base, w.wish));
  const double after = seconds(plan_interval(w));
  if (w.planned_at <= now) return;
  postpone(h, now + from_seconds(after * std::min(seconds(w.planned_at - now) / before, 1.0)));
}

void Scheduler::set_hint(Handle h, Duration ttl) {
  Watch& w = watch(h);
  if (w.hint == ttl) return;
  w.hint = ttl;
  if (watch_places_[h] != not_in_heap && !w.exception) plan(h);
}

void Scheduler::observed(Handle h, Instant at, bool changed) {
  Watch& w = watch(h);
  upstream_of(groups_[w.group]).model.observe(w.change, at, changed);
  w.base = std::max(w.base, at);
  age(h);
  plan(h);
}

void Scheduler::announced(Handle h, Instant at) {
  Watch& w = watch(h);
  upstream_of(groups_[w.group]).model.observe(w.change, at, true);
}

void Scheduler::postpone(Handle h, Instant at) {
  Watch& w = watch(h);
  unage(h);
  w.exception = true;
  w.by_value = false;
  w.planned_at = at;
  groups_[w.group].plans.put(watch_places_, h, at);
  place_group(w.group);
}

// When a watch may be read: at its plan, or sooner where value planned it and the budget is idle.
Instant Scheduler::allowed_at(const Watch& w) const {
  if (!w.by_value) return w.planned_at;
  const Duration early = from_seconds(seconds(w.planned_at - w.base) * early_fraction);
  return std::min(w.planned_at, w.base + std::max(w.wish, early));
}

// When the group has a watch to read: the first by plan, or the one not read for longest.
Instant Scheduler::ready_at(const Group& g) const {
  const Instant first = allowed_at(watches_[g.plans.top()]);
  return g.oldest == none ? first : std::min(first, allowed_at(watches_[g.oldest]));
}

// A wave has passed over watches that were not read since.
bool Scheduler::sweeping(const Group& g) const {
  return g.oldest != none && watches_[g.oldest].base < upstreams_[g.payer.upstream].model.wave_since();
}

void Scheduler::unready(Group& g, GroupIndex index) {
  if (!g.ready) {
    if (group_places_[index] != not_in_heap) waiting_.remove(group_places_, index);
    return;
  }
  ready_.remove(group_places_, index);
  g.ready = false;
  --upstream_of(g).ready_groups;
}

void Scheduler::place_group(GroupIndex index) {
  Group& g = groups_[index];
  unready(g, index);
  if (!g.plans.empty()) waiting_.put(group_places_, index, ready_at(g));
}

void Scheduler::make_ready(Instant now) {
  while (!waiting_.empty() && waiting_.top_key() <= now) {
    const GroupIndex index = waiting_.top();
    waiting_.remove(group_places_, index);
    Group& g = groups_[index];
    g.ready = true;
    ++upstream_of(g).ready_groups;
    g.virtual_time = std::max(g.virtual_time, virtual_now_);
    ready_.put(group_places_, index, g.virtual_time);
  }
}

// What the read about to be sent tells of the marginal value: nothing if a limit, not λ, decided its moment.
void Scheduler::learn(const Watch& w, Group& g, Instant now) {
  // A sweep makes reads scarce for once: planning by its λ would leave the budget idle after it.
  if (w.exception || w.first) return;
  if (sweeping(g) && now - upstream_of(g).model.wave_since() < from_seconds(g.marginal.interval_s)) return;
  const double interval = std::max(seconds(now - w.base), shortest_s);
  const double delay = seconds(now - w.planned_at);
  const Forecast f = upstream_of(g).model.forecast(w.change);
  std::optional<double> value =
      plan_of(w).weight * unit_value(interval * f.rate_over(interval)) / std::pow(f.rate_over(interval), 2);
  const double planned = seconds(w.planned_at - w.base);
  const bool late = delay > 0.1 * planned;
  const bool at_wish = planned <= 1.1 * seconds(w.wish);
  const bool at_longest = planned >= 0.97 * seconds(w.longest) * stretch();
  if ((at_wish && !late) || (at_longest && delay > 0.01 * planned)) value.reset();
  g.marginal.saw(interval, delay, value,
                 std::clamp(static_cast<double>(g.watches) * memory_per_watch, memory_min, memory_max));
}

// What reading it now is worth: by its own rate, and by a wave that may have changed it u₀ after its last read,
// q·∫ u du from u₀ to now.
double Scheduler::value(const Watch& w, Instant now) const {
  const ChangeModel& model = model_of(w);
  const double t = std::max(seconds(now - w.base), shortest_s);
  const double rate = model.forecast(w.change).rate_over(t);
  double v = read_value(1.0, rate, t);
  if (w.base < model.wave_since()) {
    const double u0 = seconds(model.wave_since() - w.base);
    v += model.wave_share() * 0.5 * (t * t - u0 * u0);
  }
  return plan_of(w).weight * v;
}

// The first by plan; in a sweep, or before its time, the one that was not read for longest if that is worth more.
Scheduler::Handle Scheduler::pick(const Group& g, Instant now) const {
  const Handle first = g.plans.top();
  const bool due = watches_[first].planned_at <= now;
  if (g.oldest == none || g.oldest == first || (due && !sweeping(g))) return first;
  const Watch& oldest = watches_[g.oldest];
  if (allowed_at(watches_[first]) > now) return g.oldest;
  if (!oldest.by_value || !watches_[first].by_value || now < oldest.base + oldest.wish) return first;
  return value(oldest, now) > value(watches_[first], now) ? g.oldest : first;
}

std::optional<Scheduler::Handle> Scheduler::take(Instant now) {
  make_ready(now);
  if (ready_.empty()) return std::nullopt;
  const GroupIndex index = ready_.top();
  Group& g = groups_[index];
  const Handle h = pick(g, now);
  learn(watches_[h], g, now);
  unage(h);
  const Upstream& upstream = upstream_of(g);
  virtual_now_ = g.virtual_time;
  g.virtual_time += static_cast<double>(upstream.ready_groups) / upstream.weight;
  g.plans.remove(watch_places_, h);
  place_group(index);
  return h;
}

Instant Scheduler::next_due() const {
  if (!ready_.empty()) return ready_at(groups_[ready_.top()]);
  return waiting_.empty() ? never : waiting_.top_key();
}

Duration Scheduler::bound(Handle h, Instant now) const {
  const Watch& w = watch(h);
  const double delay = std::max(0.0, groups_[w.group].marginal.delay_s);
  return std::max(w.planned_at, now) - w.base + from_seconds(delay);
}

double Scheduler::change_rate(Handle h) const {
  const Watch& w = watch(h);
  const Forecast f = model_of(w).forecast(w.change);
  return f.rate_over(std::max(seconds(w.longest), 1.0));
}

}  // namespace freshet
