#include "strategies/budget/change_model.hpp"

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "strategies/random.hpp"

using namespace freshet;
using namespace std::chrono_literals;

namespace {

// A watch that is read every `interval` and changes at `rate` per second.
struct Watched {
  ChangeModel& model;
  ChangeState state = ChangeModel::fresh(Instant{});
  Instant now{};

  void read(Duration interval, bool changed) {
    now += interval;
    model.observe(state, now, changed);
  }

  void live(Random& random, double rate, Duration interval, int reads) {
    for (int i = 0; i < reads; ++i) read(interval, random.unit() < -std::expm1(-rate * seconds(interval)));
  }

  [[nodiscard]] double rate_over(Duration t) const { return model.forecast(state).rate_over(seconds(t)); }
};

}  // namespace

TEST_CASE("a Poisson rate is learnt from irregular reads") {
  Random random(3);
  ChangeModel model;
  std::vector<Watched> watches(20, Watched{model});
  for (int i = 0; i < 400; ++i) {
    for (auto& w : watches) w.live(random, 1.0 / 3600.0, from_seconds(60.0 + 3000.0 * random.unit()), 1);
  }
  double mean = 0.0;
  for (const auto& w : watches) mean += w.rate_over(1h) / 20.0;
  CHECK(mean == Approx(1.0 / 3600.0).epsilon(0.15));
}

TEST_CASE("a resource that never changes is believed to change ever more rarely") {
  ChangeModel model;
  Watched w{model};
  double last = w.rate_over(1h);
  for (int day = 0; day < 5; ++day) {
    for (int i = 0; i < 24; ++i) w.read(1h, false);
    CHECK(w.rate_over(1h) < last);
    last = w.rate_over(1h);
  }
  CHECK(last < 0.1 / 3600.0);
  CHECK(last > 0.0);
}

TEST_CASE("a resource that differs at every read is believed to change more than once a read") {
  ChangeModel model;
  Watched w{model};
  for (int i = 0; i < 200; ++i) w.read(5min, true);
  CHECK(w.rate_over(5min) * 300.0 > 1.0);
  CHECK(std::isfinite(w.rate_over(5min)));
}

TEST_CASE("a burst after long quiet is followed within two reads and forgotten within days") {
  Random random(5);
  ChangeModel model;
  for (int other = 0; other < 20; ++other) {  // an upstream whose resources burst
    Watched w{model};
    for (int burst = 0; burst < 10; ++burst) {
      for (int i = 0; i < 60; ++i) w.read(1h, false);
      for (int i = 0; i < 6; ++i) w.read(10min, random.below(4) != 0);
    }
  }
  Watched w{model};
  for (int i = 0; i < 24 * 30; ++i) w.read(1h, false);
  const double quiet = w.rate_over(30min);
  w.read(1h, true);
  w.read(10min, true);
  CHECK(w.rate_over(30min) > 20.0 * quiet);
  for (int i = 0; i < 24 * 7; ++i) w.read(1h, false);
  CHECK(w.rate_over(30min) < 5.0 * quiet);
}

TEST_CASE("a rate that shifts for good is followed in both directions") {
  Random random(7);
  ChangeModel model;
  Watched w{model};
  const double slow = 1.0 / (10.0 * 86'400.0), fast = 1.0 / 3600.0;
  w.live(random, slow, 1h, 24 * 20);
  const double before = w.rate_over(1h);
  w.live(random, fast, 30min, 48 * 4);
  CHECK(w.rate_over(1h) > 20.0 * before);
  CHECK(w.rate_over(1h) == Approx(fast).epsilon(0.5));
  w.live(random, slow, 1h, 24 * 30);
  CHECK(w.rate_over(1h) < fast / 4.0);
}

TEST_CASE("a new watch starts from what its upstream's other watches showed") {
  Random random(9);
  ChangeModel busy, calm;
  Watched a{busy}, b{calm};
  a.live(random, 1.0 / 600.0, 10min, 500);
  b.live(random, 1.0 / 600'000.0, 10min, 500);
  CHECK(Watched{busy}.rate_over(10min) > 20.0 * Watched{calm}.rate_over(10min));
}

TEST_CASE("a wave over many watches is noticed and is no evidence of a single watch's rate") {
  ChangeModel model;
  std::vector<Watched> watches(100, Watched{model});
  for (int round = 0; round < 100; ++round) {
    for (auto& w : watches) w.read(1h, false);
  }
  CHECK(model.wave_since() == Instant::min());
  for (auto& w : watches) w.read(1h, true);  // one after the other, in the same hour
  CHECK(model.wave_since() != Instant::min());
  CHECK(model.wave_share() > 0.5);
  CHECK(watches.back().rate_over(1h) < 0.1 * watches.front().rate_over(1h) + 1.0 / 3600.0);
}

TEST_CASE("late and repeated news is ignored") {
  ChangeModel model;
  Watched w{model};
  w.read(1h, true);
  const auto before = w.rate_over(1h);
  model.observe(w.state, w.now, false);
  model.observe(w.state, w.now - 10min, true);
  CHECK(w.rate_over(1h) == before);
}
