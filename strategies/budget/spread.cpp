#include "strategies/budget/spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace freshet {
namespace {

constexpr int bisections = 60;

// What is planned by value on one upstream.
struct Group {
  double share = 1.0;
  double demand_per_s = 0.0;
  double floor_per_s = 0.0;
  double granted_per_s = 0.0;
  std::vector<std::size_t> kinds;
};
using Groups = std::map<std::uint32_t, Group>;

// Weighted max-min fairness, which start-time fair queueing comes to: nobody gets more than he asks for, and what he
// leaves goes to the others by their shares.
void grant(Groups& groups, double rate) {
  std::vector<Group*> open;
  for (auto& [upstream, group] : groups) open.push_back(&group);
  const auto asks_less = [](const Group* a, const Group* b) {
    return a->demand_per_s / a->share < b->demand_per_s / b->share;
  };
  std::sort(open.begin(), open.end(), asks_less);
  double shares = 0.0;
  for (const Group* group : open) shares += group->share;
  for (Group* group : open) {
    group->granted_per_s = std::min(group->demand_per_s, rate * group->share / shares);
    rate -= group->granted_per_s;
    shares -= group->share;
  }
}

double interval_at(double theta, const WatchKind& kind, double longest_s) {
  return std::clamp(theta / std::sqrt(kind.weight), kind.wish_s, longest_s);
}

// The θ at which the group's intervals use up what it is granted.
void solve(const Group& group, const std::vector<WatchKind>& kinds, std::vector<Spread>& spreads) {
  const double stretch = std::max(1.0, group.floor_per_s / group.granted_per_s);
  double low = 0.0;
  double high = 0.0;
  for (const std::size_t i : group.kinds) {
    high = std::max(high, kinds[i].longest_s * stretch * std::sqrt(kinds[i].weight));
  }
  const auto rate_at = [&](double theta) {
    double rate = 0.0;
    for (const std::size_t i : group.kinds) {
      rate += kinds[i].watches / interval_at(theta, kinds[i], kinds[i].longest_s * stretch);
    }
    return rate;
  };
  for (int step = 0; step < bisections; ++step) {
    const double middle = 0.5 * (low + high);
    (rate_at(middle) > group.granted_per_s ? low : high) = middle;
  }
  // Who gets what he asks for is read at his wish, to the digit.
  const double theta = group.granted_per_s < group.demand_per_s ? high : 0.0;
  for (const std::size_t i : group.kinds) {
    const double longest = kinds[i].longest_s * stretch;
    spreads[i] = {interval_at(theta, kinds[i], longest), longest, true};
  }
}

}  // namespace

std::vector<Spread> spread(const std::vector<WatchKind>& kinds, double rate) {
  double wished = 0.0;
  for (const WatchKind& kind : kinds) wished += kind.wished_per_s();
  const bool overloaded = wished > rate;
  std::vector<Spread> spreads;
  Groups groups;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const WatchKind& kind = kinds[i];
    spreads.push_back({kind.wish_s, kind.longest_s, false});
    if (kind.watches <= 0.0) continue;
    if (!overloaded && kind.policy != PollPolicy::budget) {
      rate -= kind.watches / kind.wish_s;
      continue;
    }
    Group& group = groups[kind.upstream];
    group.share = kind.share;
    group.demand_per_s += kind.watches / kind.wish_s;
    group.floor_per_s += kind.watches / kind.longest_s;
    group.kinds.push_back(i);
  }
  grant(groups, rate);
  for (const auto& [upstream, group] : groups) solve(group, kinds, spreads);
  return spreads;
}

}  // namespace freshet
