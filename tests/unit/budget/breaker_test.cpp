#include "strategies/budget/breaker.hpp"

#include <catch2/catch.hpp>

using namespace freshet;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{};
constexpr BreakerSettings plain{.failures_to_open = 3, .pause_min = 1s, .pause_max = 60s, .calm = 60s};

}  // namespace

TEST_CASE("a throttled partner is left alone for as long as it asked, and hardly longer") {
  Random random(1);
  Breaker breaker(plain);
  breaker.on_throttled(start, 20s, random);
  CHECK(breaker.reason() == Breaker::Reason::throttled);
  CHECK_FALSE(breaker.allows(start + 20s - 1ns));
  CHECK(breaker.allows(start + 21s));
  CHECK(breaker.available_at(start) == breaker.paused_until());
}

TEST_CASE("an absurd Retry-After is cut to the longest pause") {
  Random random(1);
  Breaker breaker(plain);
  breaker.on_throttled(start, 24h, random);
  CHECK(breaker.paused_until() == start + 60s);
}

TEST_CASE("without Retry-After the pause doubles with jitter up to the longest") {
  Random random(1);
  Breaker breaker(plain);
  Instant now = start;
  double whole = 1.0;
  for (int i = 0; i < 40; ++i) {
    breaker.on_throttled(now, std::nullopt, random);
    const double pause = seconds(breaker.paused_until() - now);
    CHECK(pause >= 0.5 * whole - 1e-6);
    CHECK(pause <= whole + 1e-6);
    whole = std::min(60.0, whole * 2.0);
    now = breaker.paused_until();
  }
}

TEST_CASE("two sidecars do not come back in step") {
  Random one(1), other(2);
  Breaker a(plain), b(plain);
  a.on_throttled(start, std::nullopt, one);
  b.on_throttled(start, std::nullopt, other);
  CHECK(a.paused_until() != b.paused_until());
}

TEST_CASE("answers to requests sent before a pause do not lengthen it") {
  Random random(1);
  Breaker breaker(plain);
  breaker.on_throttled(start, 20s, random);
  const Instant until = breaker.paused_until();
  breaker.on_throttled(start + 1s, std::nullopt, random);
  breaker.on_failure(start + 1s, random);
  breaker.on_success(start + 1s);
  CHECK(breaker.paused_until() == until);
  CHECK_FALSE(breaker.allows(start + 2s));
}

TEST_CASE("a later Retry-After during a pause is obeyed") {
  Random random(1);
  Breaker breaker(plain);
  breaker.on_throttled(start, 5s, random);
  breaker.on_throttled(start + 1s, 30s, random);
  CHECK_FALSE(breaker.allows(start + 30s));
}

TEST_CASE("the breaker opens on failures in a row and a success between resets the count") {
  Random random(1);
  Breaker breaker(plain);
  breaker.on_failure(start, random);
  breaker.on_failure(start, random);
  breaker.on_success(start);
  breaker.on_failure(start, random);
  breaker.on_failure(start, random);
  CHECK(breaker.allows(start));
  breaker.on_failure(start, random);
  CHECK_FALSE(breaker.allows(start));
  CHECK(breaker.reason() == Breaker::Reason::failing);
}

TEST_CASE("half open lets one probe out and its success closes the breaker") {
  Random random(1);
  Breaker breaker(plain);
  breaker.on_throttled(start, 5s, random);
  const Instant later = start + 10s;
  CHECK(breaker.state(later) == Breaker::State::half_open);
  REQUIRE(breaker.allows(later));
  breaker.on_sent(later);
  CHECK_FALSE(breaker.allows(later + 1s));
  breaker.on_success(later + 1s);
  CHECK(breaker.state(later + 1s) == Breaker::State::closed);
  CHECK(breaker.reason() == Breaker::Reason::none);
  CHECK(breaker.allows(later + 1s));
}

TEST_CASE("a failed probe opens the breaker again at once") {
  Random random(1);
  Breaker breaker(plain);
  breaker.on_throttled(start, 5s, random);
  breaker.on_sent(start + 10s);
  breaker.on_failure(start + 11s, random);
  CHECK(breaker.state(start + 11s) == Breaker::State::open);
}

TEST_CASE("a probe that was cancelled or never answers is replaced") {
  Random random(1);
  Breaker breaker(plain);
  breaker.on_throttled(start, 5s, random);
  breaker.on_sent(start + 10s);
  CHECK(breaker.allows(start + 10s + plain.probe_timeout));
  breaker.on_abandoned();
  CHECK(breaker.allows(start + 11s));
}

TEST_CASE("a pause soon after a recovery goes on doubling and one after a calm starts over") {
  Random random(1);
  Breaker breaker(plain);
  Instant now = start;
  const auto trip = [&] {
    breaker.on_throttled(now, std::nullopt, random);
    const double pause = seconds(breaker.paused_until() - now);
    now = breaker.paused_until();
    breaker.on_success(now);
    return pause;
  };
  for (int i = 0; i < 4; ++i) trip();
  CHECK(trip() >= 8.0);
  now += 61s;
  CHECK(trip() <= 1.0);
}
