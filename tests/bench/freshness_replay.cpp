#include "tests/bench/freshness_replay.hpp"

#include <algorithm>
#include <cmath>

#include "strategies/budget/limiter.hpp"
#include "strategies/budget/scheduler.hpp"
#include "strategies/budget/value.hpp"
#include "strategies/random.hpp"

namespace freshet::bench {
namespace {

void read_periodically(Replay& replay, std::size_t resource, double interval_s, double horizon_s, Random& random,
                       double jitter) {
  for (double t = interval_s * random.unit(); t <= horizon_s;
       t += interval_s * (1.0 + jitter * (2.0 * random.unit() - 1.0))) {
    replay.read(resource, t);
  }
}

Score run_intervals(const World& world, const std::vector<double>& interval_s, std::uint64_t seed, double jitter) {
  Random random(seed);
  Replay replay(world);
  for (std::size_t i = 0; i < world.size(); ++i) {
    read_periodically(replay, i, interval_s[i], world.horizon_s, random, jitter);
  }
  return replay.finish();
}

std::vector<double> even_intervals(const World& world, double reads_per_s) {
  return std::vector<double>(world.size(), static_cast<double>(world.size()) / reads_per_s);
}

Instant at(double s) {
  return Instant{} + from_seconds(s);
}

}  // namespace

void Replay::settle(std::size_t resource, double t) {
  const auto& changes = world_.changes[resource];
  std::size_t& next = next_[resource];
  if (next == changes.size() || changes[next] > t) return;
  const double stale = t - changes[next];
  sum_.age_s += world_.weight[resource] * stale * stale / 2.0;
  sum_.stale_share += world_.weight[resource] * stale;
  for (; next < changes.size() && changes[next] <= t; ++next) {
    sum_.lag_s += t - changes[next];
    ++changes_;
  }
}

bool Replay::read(std::size_t resource, double t) {
  const std::size_t seen = next_[resource];
  settle(resource, t);
  ++sum_.polls;
  return next_[resource] != seen;
}

Score Replay::finish() {
  double weight = 0.0;
  for (std::size_t i = 0; i < world_.size(); ++i) {
    settle(i, world_.horizon_s);
    weight += world_.weight[i];
  }
  sum_.age_s /= weight * world_.horizon_s;
  sum_.stale_share /= weight * world_.horizon_s;
  sum_.lag_s /= static_cast<double>(std::max<std::uint64_t>(changes_, 1));
  return sum_;
}

Score run_uniform(const World& world, double reads_per_s, std::uint64_t seed) {
  return run_intervals(world, even_intervals(world, reads_per_s), seed, 0.0);
}

Score run_fixed(const World& world, double reads_per_s, std::uint64_t seed) {
  return run_intervals(world, even_intervals(world, reads_per_s), seed, 0.1);
}

Score run_oracle(const World& world, double reads_per_s, std::uint64_t seed) {
  std::vector<double> interval(world.size());
  double low = -60.0, high = 120.0;  // log λ: the more, the rarer
  for (int step = 0; step < 80; ++step) {
    const double lambda = std::exp((low + high) / 2.0);
    double reads = 0.0;
    for (std::size_t i = 0; i < world.size(); ++i) {
      const double rate = std::max(world.rate[i], 1e-12);
      interval[i] = time_to_value(world.weight[i], rate, lambda);
      reads += 1.0 / interval[i];
    }
    (reads > reads_per_s ? low : high) = (low + high) / 2.0;
  }
  return run_intervals(world, interval, seed, 0.0);
}

Score run_freshet(const World& world, double reads_per_s, std::uint64_t seed) {
  const double even_s = static_cast<double>(world.size()) / reads_per_s;
  Limiter limiter({.rate_per_s = reads_per_s, .client_reserve = 0.0});
  Scheduler scheduler(reads_per_s, seed);
  Replay replay(world);
  for (std::size_t i = 0; i < world.size(); ++i) {
    scheduler.add(static_cast<Scheduler::Handle>(i),
                  {.policy = PollPolicy::budget,
                   .interval_min = from_seconds(1.0),
                   .interval_max = from_seconds(30.0 * even_s),
                   .weight = world.weight[i]},
                  {}, at(0.0));
  }
  const Instant end = at(world.horizon_s);
  Instant now{};
  for (;;) {
    now = std::max({now, limiter.available_at(now), scheduler.next_due()});
    if (now > end) break;
    const auto handle = scheduler.take(now);
    if (!handle) continue;
    limiter.try_take(now);
    scheduler.observed(*handle, now, replay.read(*handle, seconds(now - Instant{})));
  }
  return replay.finish();
}

}  // namespace freshet::bench
