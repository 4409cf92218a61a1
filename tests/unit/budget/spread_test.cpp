// What a plan says beside what the scheduler does.
#include "strategies/budget/spread.hpp"

#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

namespace freshet {
namespace {

struct Given {
  std::vector<WatchKind> kinds;
  double rate;
};

// Mean interval of each kind's watches under the real scheduler, every read of which finds a change.
std::vector<double> scheduled(const Given& given, double jitter) {
  Scheduler scheduler(given.rate, 7);
  std::vector<std::size_t> kind_of;
  for (std::size_t k = 0; k < given.kinds.size(); ++k) {
    const WatchKind& kind = given.kinds[k];
    scheduler.set_upstream_weight(kind.upstream, kind.share);
    for (unsigned i = 0; i < static_cast<unsigned>(kind.watches); ++i) {
      const WatchPlan plan{.policy = kind.policy,
                           .interval = from_seconds(kind.wish_s),
                           .interval_min = from_seconds(kind.wish_s),
                           .interval_max = from_seconds(kind.longest_s),
                           .weight = kind.weight,
                           .jitter = jitter};
      scheduler.add(static_cast<Scheduler::Handle>(kind_of.size()), plan, {kind.upstream, 1}, Instant{});
      kind_of.push_back(k);
    }
  }
  constexpr double run_s = 20'000.0;
  std::vector<double> reads(given.kinds.size());
  for (double t = 0.0; t < 2.0 * run_s; t += 1.0 / given.rate) {
    const Instant now = Instant{} + from_seconds(t);
    const auto handle = scheduler.take(now);
    if (!handle) continue;
    if (t >= run_s) reads[kind_of[*handle]] += 1.0;
    scheduler.observed(*handle, now, true);
  }
  for (std::size_t k = 0; k < reads.size(); ++k) reads[k] = run_s * given.kinds[k].watches / reads[k];
  return reads;
}

void check_alike(const Given& given) {
  const std::vector<Spread> planned = spread(given.kinds, given.rate);
  const std::vector<double> real = scheduled(given, 0.1);
  for (std::size_t k = 0; k < real.size(); ++k) {
    INFO("kind " << k);
    CHECK(real[k] == Approx(planned[k].interval_s).epsilon(0.12));
  }
}

WatchKind kind(std::uint32_t upstream, double watches, PollPolicy policy, double wish_s, double weight = 1.0) {
  return {.upstream = upstream,
          .watches = watches,
          .policy = policy,
          .weight = weight,
          .wish_s = wish_s,
          .longest_s = 600.0};
}

TEST_CASE("the scheduler comes to the planned intervals where all wishes fit") {
  check_alike({{kind(0, 20, PollPolicy::fixed, 10.0), kind(1, 20, PollPolicy::fixed, 40.0)}, 5.0});
}

TEST_CASE("the scheduler comes to the planned intervals above the budget, weights included") {
  check_alike({{kind(0, 20, PollPolicy::fixed, 2.0), kind(0, 20, PollPolicy::fixed, 2.0, 4.0)}, 4.0});
}

TEST_CASE("the scheduler comes to the planned intervals where the upstreams' shares differ") {
  WatchKind dear = kind(1, 20, PollPolicy::fixed, 2.0);
  dear.share = 3.0;
  check_alike({{kind(0, 20, PollPolicy::fixed, 2.0), dear}, 4.0});
}

TEST_CASE("the scheduler comes to the planned intervals where budget watches take what fixed ones leave") {
  check_alike({{kind(0, 20, PollPolicy::fixed, 10.0), kind(1, 20, PollPolicy::budget, 1.0)}, 4.0});
}

}  // namespace
}  // namespace freshet
