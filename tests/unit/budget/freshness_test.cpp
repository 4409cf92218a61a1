// The bench in small: what the learned schedule must never lose, on every change.
#include <catch2/catch.hpp>

#include "tests/bench/freshness_replay.hpp"

using namespace freshet::bench;

namespace {

struct Ages {
  double to_uniform;
  double to_oracle;
};

Ages compare(const World& world, double polls_per_resource_day) {
  const double reads_per_s = polls_per_resource_day * static_cast<double>(world.size()) / day_s;
  const Score learned = run_freshet(world, reads_per_s, 1);
  const Score uniform = run_uniform(world, reads_per_s, 1);
  CHECK(learned.polls <= uniform.polls + world.size());
  return {learned.age_s / uniform.age_s, learned.age_s / run_oracle(world, reads_per_s, 1).age_s};
}

}  // namespace

TEST_CASE("the learned schedule is fresher than uniform polling and close to the oracle on Poisson change") {
  const Ages ages = compare(poisson_world(300, 30, 21), 4.0);
  CHECK(ages.to_uniform < 0.85);
  CHECK(ages.to_oracle < 1.08);
}

TEST_CASE("the learned schedule spends by weight") {
  CHECK(compare(zipf_world(300, 30, 22), 4.0).to_uniform < 0.6);
}

TEST_CASE("the learned schedule follows bursts better than whoever knows the mean rates") {
  CHECK(compare(bursty_world(300, 60, 23), 4.0).to_oracle < 1.0);
}

TEST_CASE("the learned schedule is never above uniform where changes cluster on the hour") {
  CHECK(compare(hourly_world(300, 30, 24), 2.0).to_uniform < 1.0);
}

TEST_CASE("the learned schedule is never above uniform where one wave changes everything once") {
  World world = poisson_world(300, 60, 25);
  for (std::size_t i = 0; i < world.size(); ++i) {
    world.changes[i].assign(1, 30.0 * day_s);
    world.rate[i] = 1.0 / world.horizon_s;
  }
  CHECK(compare(world, 2.0).to_uniform < 1.05);  // uniform is optimal here
}

TEST_CASE("a replay measures age, lag and staleness of one late read") {
  World world{"one", 100.0, {{10.0, 20.0}}, {1.0}, {0.02}};
  Replay replay(world);
  CHECK_FALSE(replay.read(0, 5.0));
  CHECK(replay.read(0, 50.0));
  const Score score = replay.finish();
  CHECK(score.age_s == Approx(40.0 * 40.0 / 2.0 / 100.0));
  CHECK(score.lag_s == Approx((40.0 + 30.0) / 2.0));
  CHECK(score.stale_share == Approx(0.4));
  CHECK(score.polls == 2);
}
