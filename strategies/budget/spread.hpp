// Which intervals the scheduler's rules come to in the long run, where nothing is known of how the watches differ in
// their changes: equal ones are read equally often. For pricing; the scheduler itself learns and decides read by read.
#pragma once

#include <cstdint>
#include <vector>

#include "strategies/budget/scheduler.hpp"

namespace freshet {

// So many watches of one upstream under one plan.
struct WatchKind {
  std::uint32_t upstream = 0;
  double share = 1.0;  // the upstream's, among those of its partner; > 0
  double watches = 0.0;
  PollPolicy policy = PollPolicy::fixed;
  double weight = 1.0;     // > 0
  double wish_s = 0.0;     // > 0; of a budget kind: never sooner
  double longest_s = 0.0;  // >= wish_s

  [[nodiscard]] double wished_per_s() const { return watches / (policy == PollPolicy::budget ? longest_s : wish_s); }
};

struct Spread {
  double interval_s = 0.0;
  double longest_s = 0.0;  // stretched where even the longest intervals do not fit
  bool by_value = false;   // the interval varies, up to the longest
};

// By kind, in their order. `rate`: reads per second for polls, > 0.
[[nodiscard]] std::vector<Spread> spread(const std::vector<WatchKind>& kinds, double rate);

}  // namespace freshet
