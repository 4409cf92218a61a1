// Replays a world under a schedule of reads and measures how fresh it kept the picture. Shares no formula with what
// it measures: ages are integrated from the true change times.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/freshness_world.hpp"

namespace freshet::bench {

struct Score {
  double age_s = 0.0;        // weighted mean over resources and time of: now − first change not yet seen (0 if none)
  double lag_s = 0.0;        // mean over changes of: first read after it − change
  double stale_share = 0.0;  // weighted share of time with a change not yet seen
  std::uint64_t polls = 0;
};

class Replay {
 public:
  explicit Replay(const World& world) : world_(world), next_(world.size(), 0), last_(world.size(), 0.0) {}

  // A read of `resource` at `t`, ascending per resource. Returns whether it differs from the one before.
  bool read(std::size_t resource, double t);
  // Ends the history: what was never read since its change is stale up to the end.
  Score finish();

 private:
  void settle(std::size_t resource, double t);

  const World& world_;
  std::vector<std::size_t> next_;  // first change not yet seen
  std::vector<double> last_;
  Score sum_;
  std::uint64_t changes_ = 0;
};

// Every resource at the same interval, each at its own phase.
Score run_uniform(const World& world, double reads_per_s, std::uint64_t seed);
// A naive poller: a timer per resource with ±10 % jitter.
Score run_fixed(const World& world, double reads_per_s, std::uint64_t seed);
// Knows each resource's true mean rate: the periodic intervals that are optimal for Poisson change at these rates.
Score run_oracle(const World& world, double reads_per_s, std::uint64_t seed);
// Freshet's scheduler, change model and limiter under a fake clock; knows nothing at the start.
Score run_freshet(const World& world, double reads_per_s, std::uint64_t seed);

}  // namespace freshet::bench
