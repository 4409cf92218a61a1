#include "strategies/budget/scheduler.hpp"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

using namespace freshet;
using namespace std::chrono_literals;

namespace {

constexpr Instant start{};

// A partner that grants a read every 1/rate seconds and whose watches change as `changes` says.
struct Partner {
  explicit Partner(double reads_per_s) : rate(reads_per_s), scheduler(reads_per_s, 11) {}

  void add(Scheduler::Handle h, const WatchPlan& plan, const Payer& payer = {}) {
    scheduler.add(h, plan, payer, now);
    last.resize(std::max<std::size_t>(last.size(), h + 1), now);
    last[h] = now;
    reads.resize(last.size());
    longest.resize(last.size());
  }

  template <class Changes>
  void run(Duration time, Changes changes) {
    const Instant end = now + time;
    for (; now < end; now += from_seconds(1.0 / rate)) {
      const auto h = scheduler.take(now);
      if (!h) continue;
      ++reads[*h];
      ++total;
      longest[*h] = std::max(longest[*h], now - last[*h]);
      last[*h] = now;
      scheduler.observed(*h, now, changes(*h));
    }
  }

  void run(Duration time) {
    run(time, [](Scheduler::Handle) { return false; });
  }

  void reset() {
    std::fill(reads.begin(), reads.end(), 0);
    std::fill(longest.begin(), longest.end(), Duration{});
    total = 0;
  }

  double rate;
  Scheduler scheduler;
  Instant now = start;
  std::vector<Instant> last;
  std::vector<int> reads;
  std::vector<Duration> longest;
  int total = 0;
};

WatchPlan fixed(Duration interval, Duration longest) {
  return {.policy = PollPolicy::fixed, .interval = interval, .interval_max = longest};
}

WatchPlan budget(Duration longest, double weight = 1.0) {
  return {.policy = PollPolicy::budget, .interval_min = 1s, .interval_max = longest, .weight = weight};
}

}  // namespace

TEST_CASE("while the wishes fit the budget every watch is read at its interval with jitter") {
  Partner partner(10.0);
  for (Scheduler::Handle h = 0; h < 60; ++h) partner.add(h, fixed(30s, 300s));
  CHECK_FALSE(partner.scheduler.overloaded());
  partner.run(3000s);
  for (Scheduler::Handle h = 0; h < 60; ++h) {
    CHECK(partner.reads[h] >= 95);
    CHECK(partner.reads[h] <= 105);
    CHECK(partner.longest[h] <= 34s);
  }
}

TEST_CASE("first reads are spread over the whole interval") {
  Partner partner(100.0);
  for (Scheduler::Handle h = 0; h < 300; ++h) partner.add(h, fixed(30s, 300s));
  for (int third = 0; third < 3; ++third) {
    const int before = partner.total;
    partner.run(10s);
    CHECK(partner.total - before == Approx(100).margin(35));
  }
}

TEST_CASE("nothing starves: under overload no watch waits longer than its longest interval") {
  Partner partner(2.0);
  for (Scheduler::Handle h = 0; h < 200; ++h) partner.add(h, fixed(10s, 200s));
  CHECK(partner.scheduler.overloaded());
  partner.run(1000s, [](Scheduler::Handle h) { return h < 20; });
  partner.reset();
  partner.run(4000s, [](Scheduler::Handle h) { return h < 20; });
  const Duration worst = *std::max_element(partner.longest.begin(), partner.longest.end());
  CHECK(worst <= 210s);
  CHECK(partner.total >= 7900);
}

TEST_CASE("longest intervals that the budget cannot carry are stretched alike and the bound says so") {
  Partner partner(1.0);
  for (Scheduler::Handle h = 0; h < 100; ++h) partner.add(h, fixed(10s, 50s));
  partner.run(1000s);
  partner.reset();
  Duration bound{};
  for (Scheduler::Handle h = 0; h < 100; ++h) bound = std::max(bound, partner.scheduler.bound(h, partner.now));
  partner.run(1000s);
  const auto [least, most] = std::minmax_element(partner.reads.begin(), partner.reads.end());
  CHECK(*most <= 2 * *least);
  CHECK(bound >= 95s);
  CHECK(*std::max_element(partner.longest.begin(), partner.longest.end()) <= bound + 15s);
}

TEST_CASE("what a plan asks for stays, whatever delays the reads") {
  Partner partner(1.0);
  partner.add(0, fixed(10s, 50s));
  partner.add(1, budget(120s));
  for (Scheduler::Handle h = 2; h < 100; ++h) partner.add(h, fixed(10s, 50s));
  partner.run(1000s);
  partner.scheduler.postpone(0, partner.now + 1h);
  CHECK(partner.scheduler.asked_interval(0) == 11s);
  CHECK(partner.scheduler.asked_interval(1) == 132s);
  partner.scheduler.set_hint(0, 20s);
  partner.scheduler.observed(0, partner.now, false);
  CHECK(partner.scheduler.asked_interval(0) == 22s);
}

TEST_CASE("no read comes later than the bound published before it") {
  Partner partner(3.0);
  for (Scheduler::Handle h = 0; h < 100; ++h) partner.add(h, budget(120s));
  partner.run(600s, [](Scheduler::Handle h) { return h % 10 == 0; });
  int late = 0;
  for (int i = 0; i < 3000; ++i) {
    partner.now += from_seconds(1.0 / 3.0);
    const auto h = partner.scheduler.take(partner.now);
    if (!h) continue;
    const Duration age = partner.now - partner.last[*h];
    partner.last[*h] = partner.now;
    partner.scheduler.observed(*h, partner.now, *h % 10 == 0);
    late += age > 125s ? 1 : 0;
  }
  CHECK(late == 0);
}

TEST_CASE("a wish is never exceeded, however much budget there is") {
  Partner partner(100.0);
  partner.add(0, fixed(30s, 300s));
  partner.add(1, budget(300s));
  partner.run(300s, [](Scheduler::Handle) { return true; });
  CHECK(partner.reads[0] <= 12);
  CHECK(partner.reads[1] <= 301);
}

TEST_CASE("under overload what changes is read more often than what does not") {
  Partner partner(1.0);
  for (Scheduler::Handle h = 0; h < 100; ++h) partner.add(h, budget(1000s));
  Random random(1);
  const auto changes = [&](Scheduler::Handle h) { return h < 10 && random.below(2) == 0; };
  partner.run(4000s, changes);
  partner.reset();
  partner.run(4000s, changes);
  CHECK(partner.reads[0] > 2 * partner.reads[50]);
}

TEST_CASE("under overload what weighs more is read more often") {
  Partner partner(1.0);
  for (Scheduler::Handle h = 0; h < 100; ++h) partner.add(h, budget(2000s, h < 10 ? 27.0 : 1.0));
  partner.run(8000s);
  CHECK(partner.reads[0] > 2 * partner.reads[50]);
}

TEST_CASE("a budget that is not overloaded is spent whole") {
  Partner partner(2.0);
  for (Scheduler::Handle h = 0; h < 50; ++h) partner.add(h, budget(3600s));
  partner.run(500s);
  partner.reset();
  partner.run(1000s);
  CHECK(partner.total >= 1980);
}

TEST_CASE("an adaptive watch follows its change rate between its limits") {
  Partner partner(10.0);
  const WatchPlan plan{.policy = PollPolicy::adaptive, .interval_min = 10s, .interval_max = 600s};
  partner.add(0, plan, {.upstream = 0});
  partner.add(1, plan, {.upstream = 1});
  partner.run(4h, [](Scheduler::Handle h) { return h == 0; });
  CHECK(partner.scheduler.planned_interval(0) <= 60s);
  CHECK(partner.scheduler.planned_interval(1) >= 500s);
}

TEST_CASE("a principal with many watches delays only its own") {
  Partner partner(2.0);
  for (Scheduler::Handle h = 0; h < 10; ++h) partner.add(h, fixed(30s, 3600s), {.upstream = 0, .principal = 1});
  for (Scheduler::Handle h = 10; h < 2010; ++h) partner.add(h, fixed(30s, 3600s), {.upstream = 0, .principal = 2});
  partner.run(1000s);
  partner.reset();
  partner.run(2000s);
  for (Scheduler::Handle h = 0; h < 10; ++h) CHECK(partner.longest[h] <= 40s);
}

TEST_CASE("the upstreams of one partner share its budget by weight") {
  Partner partner(4.0);
  partner.scheduler.set_upstream_weight(1, 3.0);
  for (Scheduler::Handle h = 0; h < 400; ++h) partner.add(h, fixed(10s, 3600s), {.upstream = h % 2});
  partner.run(2000s);
  partner.reset();
  partner.run(2000s);
  int second = 0;
  for (Scheduler::Handle h = 1; h < 400; h += 2) second += partner.reads[h];
  CHECK(static_cast<double>(second) / partner.total == Approx(0.75).margin(0.03));
}

TEST_CASE("a postponed watch is read at the moment given and then planned as before") {
  Partner partner(10.0);
  partner.add(0, fixed(10s, 100s));
  partner.scheduler.postpone(0, start + 70s);
  CHECK(partner.scheduler.next_due() == start + 70s);
  CHECK_FALSE(partner.scheduler.take(start + 69s));
  REQUIRE(partner.scheduler.take(start + 70s) == 0U);
  partner.scheduler.observed(0, start + 70s, false);
  CHECK(partner.scheduler.next_due() <= start + 81s);
}

TEST_CASE("a client's read moves the next poll") {
  Partner partner(10.0);
  partner.add(0, fixed(10s, 100s));
  partner.scheduler.observed(0, start + 5s, false);
  CHECK(partner.scheduler.next_due() >= start + 14s);
}

TEST_CASE("a hint moves the wish within the limits") {
  Partner partner(10.0);
  partner.add(0, {.policy = PollPolicy::fixed, .interval = 30s, .interval_min = 5s, .interval_max = 100s});
  partner.scheduler.set_hint(0, 60s);
  CHECK(partner.scheduler.planned_interval(0) >= 54s);
  partner.scheduler.set_hint(0, 1h);
  CHECK(partner.scheduler.planned_interval(0) <= 110s);
  CHECK(partner.scheduler.planned_interval(0) >= 90s);
}

TEST_CASE("a removed watch leaves nothing behind, also while its read is out") {
  Partner partner(10.0);
  for (Scheduler::Handle h = 0; h < 20; ++h) {
    partner.add(h, fixed(10s, 100s), {.upstream = 0, .principal = h % 3});
  }
  const auto out = partner.scheduler.take(start + 11s);
  REQUIRE(out);
  for (Scheduler::Handle h = 0; h < 20; ++h) partner.scheduler.remove(h);
  CHECK(partner.scheduler.watches() == 0);
  CHECK(partner.scheduler.wished_rate() == Approx(0.0).margin(1e-9));
  CHECK(partner.scheduler.next_due() == never);
  CHECK_FALSE(partner.scheduler.take(start + 1h));
  partner.add(0, fixed(10s, 100s));
  CHECK(partner.scheduler.next_due() != never);
}

TEST_CASE("reads go on at the granted pace after the clock jumped over a long pause") {
  Partner partner(2.0);
  for (Scheduler::Handle h = 0; h < 100; ++h) partner.add(h, fixed(30s, 300s));
  partner.run(600s);
  partner.now += 1800s;
  partner.reset();
  partner.run(60s);
  CHECK(partner.total <= 121);
  partner.run(600s);
  CHECK(*std::min_element(partner.reads.begin(), partner.reads.end()) >= 2);
}

TEST_CASE("random operations never break the order or lose a watch") {
  Random random(17);
  Scheduler scheduler(5.0, 3);
  std::vector<int> state(200, 0);  // 0 absent, 1 scheduled, 2 out
  Instant now = start;
  for (int i = 0; i < 50'000; ++i) {
    now += from_seconds(random.unit() * 0.2);
    const auto h = static_cast<Scheduler::Handle>(random.below(state.size()));
    switch (random.below(6)) {
      case 0:
        if (state[h] != 0) break;
        scheduler.add(h, random.below(2) == 0 ? budget(100s) : fixed(20s, 100s),
                      {.upstream = h % 3, .principal = random.below(4)}, now);
        state[h] = 1;
        break;
      case 1:
        if (state[h] == 0 || random.below(4) != 0) break;
        scheduler.remove(h);
        state[h] = 0;
        break;
      case 2:
        if (state[h] == 0) break;
        scheduler.observed(h, now, random.below(5) == 0);
        state[h] = 1;
        break;
      case 3:
        if (state[h] == 0) break;
        scheduler.postpone(h, now + 10s);
        state[h] = 1;
        break;
      default:
        if (const auto taken = scheduler.take(now)) {
          REQUIRE(state[*taken] == 1);
          CHECK(scheduler.bound(*taken, now) > Duration::zero());
          state[*taken] = 2;
        }
    }
  }
  int present = 0;
  for (Scheduler::Handle h = 0; h < 200; ++h) {
    if (state[h] == 0) continue;
    ++present;
    scheduler.postpone(h, now);
  }
  CHECK(scheduler.watches() == static_cast<std::size_t>(present));
  int left = 0;
  while (scheduler.take(now)) ++left;
  CHECK(left == present);
}
