#include "strategies/budget/concurrency.hpp"

#include <catch2/catch.hpp>

using namespace freshet;
using namespace std::chrono_literals;

namespace {

struct Partner {
  ConcurrencyLimit limit{16};
  Instant now{};

  void answers(int n, Duration latency) {
    for (int i = 0; i < n; ++i) {
      now += latency;
      limit.on_answer(now, latency, limit.limit());
    }
  }
};

}  // namespace

TEST_CASE("a partner that slows down is given fewer requests at once") {
  Partner partner;
  partner.answers(50, 20ms);
  CHECK(partner.limit.limit() == 16);
  partner.answers(30, 200ms);
  CHECK(partner.limit.limit() <= 4);
}

TEST_CASE("a partner that recovers is given more again, up to the limit") {
  Partner partner;
  partner.answers(50, 20ms);
  partner.answers(50, 200ms);
  partner.answers(400, 20ms);
  CHECK(partner.limit.limit() == 16);
}

TEST_CASE("one slow answer shrinks nothing and no failure shrinks it below one") {
  Partner partner;
  partner.answers(50, 20ms);
  partner.answers(1, 60ms);
  CHECK(partner.limit.limit() == 16);
  for (int i = 0; i < 100; ++i) partner.limit.on_failure(partner.now += 1s);
  CHECK(partner.limit.limit() == 1);
}

TEST_CASE("a partner that became slower for good is learnt anew") {
  Partner partner;
  partner.answers(50, 20ms);
  partner.answers(6000, 60ms);
  CHECK(partner.limit.limit() >= 8);
}
