#include "strategies/budget/limiter.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "strategies/random.hpp"

using namespace freshet;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{};

Instant at(double s) {
  return start + from_seconds(s);
}

// Brute force: the most events in any window (a, a + w], tried from every event.
std::size_t most_in_window(const std::vector<Instant>& events, Duration w) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    std::size_t n = 0;
    for (std::size_t j = i; j < events.size() && events[j] - events[i] <= w; ++j) ++n;
    most = std::max(most, n);
  }
  return most;
}

// Takes whenever something may be taken, as a backlog of `n` does.
std::vector<Instant> drain(Limiter& limiter, Instant now, std::size_t n, Urgency urgency = Urgency::background) {
  std::vector<Instant> taken;
  while (taken.size() < n) {
    now = limiter.available_at(now, urgency);
    REQUIRE(limiter.try_take(now, urgency));
    taken.push_back(now);
  }
  return taken;
}

BudgetSettings unreserved(double rate, double burst) {
  return {.rate_per_s = rate, .burst = burst, .poll_burst = std::min(2.0, burst), .client_reserve = 0.0};
}

}  // namespace

TEST_CASE("own requests never exceed rate times window plus burst in any window") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    BudgetSettings s = unreserved(0.2 + 30.0 * random.unit(), 1.0 + std::floor(12.0 * random.unit()));
    s.client_reserve = 0.5 * random.unit();
    s.own_wait_max = from_seconds(1.0 + 5.0 * random.unit());
    Limiter limiter(s);
    std::vector<Instant> taken;
    Instant now = start;
    for (int i = 0; i < 1500; ++i) {
      now += from_seconds(-std::log(1.0 - random.unit()) * (random.below(20) == 0 ? 20.0 : 0.5) / s.rate_per_s);
      if (random.below(4) == 0) limiter.charge_client(now);
      if (random.below(200) == 0) limiter.spend_burst(now);
      const Urgency urgency = random.below(2) == 0 ? Urgency::background : Urgency::waited_for;
      if (limiter.try_take(now, urgency)) taken.push_back(now);
    }
    const double own = s.rate_per_s * (1.0 - s.client_reserve);
    for (double w = 0.01; w < 2000.0; w *= 3.0) {
      CHECK(static_cast<double>(most_in_window(taken, from_seconds(w))) <= own * w + s.burst + 1e-6);
    }
    CHECK(taken.size() > 100);
  }
}

TEST_CASE("a thousand watches that arrive in one second are polled at a constant rate") {
  Limiter limiter(unreserved(10.0, 20.0));
  const auto taken = drain(limiter, start, 1000);
  CHECK(most_in_window(taken, 1s) <= 12);
  CHECK(most_in_window(taken, 10s) <= 102);
  CHECK(most_in_window(taken, 60s) <= 602);
  CHECK(taken.back() - start < 101s);
}

TEST_CASE("polls do not burst after a long idle time") {
  Limiter limiter(unreserved(10.0, 20.0));
  drain(limiter, start, 50);
  CHECK(most_in_window(drain(limiter, at(3600.0), 100), 1s) <= 12);
}

TEST_CASE("after a pause even awaited reads keep the pace of polls until the burst would have refilled") {
  Limiter limiter(unreserved(10.0, 20.0));
  limiter.spend_burst(at(60.0));
  const auto taken = drain(limiter, at(60.0), 100, Urgency::waited_for);
  const auto early = std::count_if(taken.begin(), taken.end(), [](Instant t) { return t < at(62.0); });
  CHECK(early <= 22);
  CHECK(most_in_window(std::vector<Instant>(taken.begin(), taken.begin() + early), 1s) <= 12);
}

TEST_CASE("what a client waits for may use the contract's burst and a poll may not") {
  Limiter limiter(unreserved(10.0, 5.0));
  int waited_for = 0;
  while (limiter.try_take(start, Urgency::waited_for)) ++waited_for;
  CHECK(waited_for == 5);
  CHECK_FALSE(limiter.try_take(start, Urgency::background));
}

TEST_CASE("client traffic counts first and polls get what is left") {
  BudgetSettings s = unreserved(10.0, 10.0);
  Limiter limiter(s);
  int own = 0;
  for (int tick = 0; tick < 60'000; ++tick) {  // 60 s in steps of 1 ms, 6 client requests a second
    const Instant now = start + std::chrono::milliseconds(tick);
    if (tick % 1000 < 1 || tick % 166 == 0) limiter.charge_client(now);
    own += limiter.try_take(now) ? 1 : 0;
  }
  CHECK(own <= 4 * 60);
  CHECK(own >= 2.5 * 60);
  CHECK(limiter.own_rate(at(60.0)) == Approx(10.0 - 7.0 * (1 - std::exp(-1.0))).margin(1.0));
}

TEST_CASE("polls leave the reserve to clients") {
  BudgetSettings s = unreserved(10.0, 10.0);
  s.client_reserve = 0.3;
  Limiter limiter(s);
  const auto taken = drain(limiter, start, 700);
  CHECK(seconds(taken.back() - start) == Approx(100.0).margin(0.5));
}

TEST_CASE("a flood of client requests delays polls by a few seconds at most once it is over") {
  Limiter limiter(unreserved(10.0, 10.0));
  for (int i = 0; i < 100'000; ++i) limiter.charge_client(start);
  CHECK(limiter.available_at(start) <= at(3.1));
}

TEST_CASE("one poll passes per longest wait while clients saturate the rate") {
  BudgetSettings s = unreserved(10.0, 10.0);
  s.own_wait_max = 30s;
  Limiter limiter(s);
  int own = 0;
  for (int tick = 0; tick < 12'000; ++tick) {  // 120 s, 100 client requests a second
    const Instant now = start + tick * 10ms;
    limiter.charge_client(now);
    own += limiter.try_take(now) ? 1 : 0;
  }
  CHECK(own >= 3);
  CHECK(own <= 6);
}

TEST_CASE("with clients enforced everything together stays within the contract and polls still do not starve") {
  BudgetSettings s = unreserved(10.0, 10.0);
  s.enforce_clients = true;
  s.own_wait_max = 10s;
  Limiter limiter(s);
  std::vector<Instant> all;
  int own = 0;
  for (int tick = 0; tick < 6000; ++tick) {
    const Instant now = start + tick * 10ms;
    if (limiter.try_take_client(now)) all.push_back(now);
    if (limiter.try_take(now)) {
      all.push_back(now);
      ++own;
    }
  }
  CHECK(own >= 5);
  for (const Duration w : {1000ms, 10'000ms, 50'000ms}) {
    CHECK(static_cast<double>(most_in_window(all, w)) <= 10.0 * seconds(w) + 10.0);
  }
}

TEST_CASE("polls wait for a place in flight") {
  BudgetSettings s = unreserved(100.0, 10.0);
  s.concurrency = 2;
  Limiter limiter(s);
  limiter.own_began();
  limiter.client_began();
  CHECK_FALSE(limiter.try_take(at(1.0)));
  CHECK(limiter.available_at(at(1.0)) == never);
  limiter.client_ended();
  CHECK(limiter.try_take(at(1.0)));
}

TEST_CASE("one own request passes per longest wait while clients hold every place") {
  BudgetSettings s = unreserved(100.0, 10.0);
  s.concurrency = 2;
  s.own_wait_max = 30s;
  Limiter limiter(s);
  limiter.client_began();
  limiter.client_began();
  CHECK_FALSE(limiter.try_take(at(1.0)));
  CHECK(limiter.available_at(at(2.0)) == at(31.0));
  CHECK_FALSE(limiter.try_take(at(30.9)));
  REQUIRE(limiter.try_take(at(31.0)));
  limiter.own_began();
  CHECK_FALSE(limiter.try_take(at(90.0)));
}

TEST_CASE("a shrunken concurrency applies at once and never falls below one") {
  Limiter limiter(unreserved(100.0, 10.0));
  limiter.set_concurrency(0);
  CHECK(limiter.try_take(at(1.0)));
  limiter.own_began();
  CHECK_FALSE(limiter.try_take(at(2.0)));
}

TEST_CASE("available_at is the first moment at which a take succeeds") {
  Random random(7);
  Limiter limiter(unreserved(3.0, 4.0));
  Instant now = start;
  for (int i = 0; i < 500; ++i) {
    now += from_seconds(random.unit());
    if (random.below(3) == 0) limiter.charge_client(now);
    const Instant when = limiter.available_at(now);
    if (when > now) {
      Limiter early = limiter;
      CHECK_FALSE(early.try_take(when - 1ns));
    }
    CHECK(limiter.try_take(when));
    now = when;
  }
}
