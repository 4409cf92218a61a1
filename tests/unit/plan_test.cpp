// Prices that can be reckoned by hand.
#include "strategies/plan.hpp"

#include <cmath>

#include <catch2/catch.hpp>

namespace freshet {
namespace {

using namespace std::chrono_literals;

// 240 sessions of an hour, each with 6 resources of its own, evenly over the day: 10 at once, 60 watches.
Workload even_workload() {
  return {.sessions_per_day = 240,
          .session_length = 1h,
          .resources_per_session = 6,
          .distinct_resources = 100,
          .principals = 0,
          .client_requests_per_session = 36,
          .busy_hours = {0, 24},
          .busy_share = 1.0};
}

struct Given {
  Settings settings;
  std::vector<UpstreamLoad> loads;

  explicit Given(WatchPlan plan = {}, Workload workload = even_workload()) {
    settings.partners.push_back({.name = "partner", .budget = {}, .breaker = {}});
    add_upstream(plan, workload);
  }
  void add_upstream(WatchPlan plan, Workload workload, double share = 1.0) {
    UpstreamSettings upstream;
    upstream.share = share;
    upstream.freshness.plan = plan;
    upstream.absent_grace = 0s;
    settings.upstreams.push_back(upstream);
    loads.push_back({.workload = workload});
  }
  BudgetSettings& budget() { return settings.partners[0].budget; }
  [[nodiscard]] PartnerPlan plan() const { return price(settings, PartnerId{}, loads); }
  [[nodiscard]] Price price_now() const { return plan().configured.most; }
};

WatchPlan each(Duration interval) {
  return {.policy = PollPolicy::fixed, .interval = interval, .interval_max = 1h};
}
WatchPlan within(PollPolicy policy, Duration min, Duration max) {
  return {.policy = policy, .interval_min = min, .interval_max = max};
}

TEST_CASE("a plan counts a poll for each watch and interval, and a baseline for each subscribe") {
  const Price p = Given(each(30s)).price_now();
  CHECK(p.busiest.sessions == Approx(10));
  CHECK(p.busiest.watches == Approx(60));
  CHECK(p.busiest.polls_per_s == Approx(2));
  CHECK(p.busiest.baselines_per_s == Approx(60.0 / 3600));
  CHECK(p.own_per_s == Approx(2 + 60.0 / 3600));
  CHECK(p.reads_per_session == Approx(6 * 120 + 6));
  CHECK(p.reads_per_day == Approx(240 * 726));
  CHECK(p.client_per_s == Approx(0.1));
  CHECK(p.busiest.fits());
}

TEST_CASE("an age is half the interval on average, and at worst the interval with jitter and a read's time-out") {
  const Price p = Given(each(30s)).price_now();
  CHECK(p.age_mean_s == Approx(15));
  CHECK(p.age_worst_s == Approx(30 * 1.1 + 30));
}

TEST_CASE("half the interval costs twice the polls for half the age, and double the interval half for twice") {
  const PartnerPlan plan = Given(each(30s)).plan();
  CHECK(plan.half.most.busiest.polls_per_s == Approx(4));
  CHECK(plan.half.most.age_mean_s == Approx(7.5));
  CHECK(plan.twice.most.busiest.polls_per_s == Approx(1));
  CHECK(plan.twice.most.age_mean_s == Approx(30));
}

TEST_CASE("the busy hours carry their share of the sessions, and the day their mean") {
  Workload w = even_workload();
  w.busy_hours = {9, 17};
  w.busy_share = 0.8;
  const Price p = Given(each(30s), w).price_now();
  CHECK(p.busiest.hour == 9);
  CHECK(p.busiest.sessions == Approx(240 * 0.8 / 8));
  CHECK(p.busiest.polls_per_s == Approx(24 * 6 / 30.0));
  CHECK(p.own_per_s == Approx(2 + 60.0 / 3600));
}

TEST_CASE("busy hours may go over midnight, and sessions may outlast them and the day") {
  Workload w = even_workload();
  w.busy_hours = {22, 6};
  w.busy_share = 1.0;
  w.session_length = 10h;
  const Price p = Given(each(30s), w).price_now();
  CHECK(p.busiest.hour == 5);
  CHECK(p.busiest.sessions == Approx(240));
  w.session_length = 48h;
  CHECK(Given(each(30s), w).price_now().busiest.sessions == Approx(480));
}

TEST_CASE("sessions of one principal share what they watch in common") {
  Workload w = even_workload();
  w.principals = 1;
  w.distinct_resources = 20;
  // 10 sessions with 6 of 20 resources: each resource has 3 holders on average, none with e^-3.
  const Price p = Given(each(30s), w).price_now();
  CHECK(p.busiest.watches == Approx(20 * (1 - std::exp(-3.0))));
  CHECK(p.busiest.polls_per_s == Approx(20 * (1 - std::exp(-3.0)) / 30));
}

TEST_CASE("a principal is read for once in its period, however slow its polls are") {
  Workload w = even_workload();
  w.resources_per_session = 1;
  const Price p = Given(each(60s), w).price_now();
  CHECK(p.busiest.polls_per_s == Approx(10 / 20.0));
  CHECK(p.age_mean_s == Approx(10));
}

TEST_CASE("where the reads of principals do not fit, the plan says by how much") {
  Workload w = even_workload();
  w.resources_per_session = 1;
  w.client_requests_per_session = 0;
  Given given(each(10min), w);
  given.budget().rate_per_s = 0.25 + 10.0 / 3600;
  given.budget().client_reserve = 0;
  CHECK_FALSE(given.price_now().busiest.fits());
  CHECK(given.price_now().busiest.stretch == Approx(0.5 / 0.25));
}

TEST_CASE("a client that leaves without a word costs polls for the grace") {
  Given given(each(30s));
  given.settings.upstreams[0].absent_grace = 6min;
  CHECK(given.price_now().busiest.polls_per_s == Approx(2.2));
  CHECK(given.price_now().busiest.sessions == Approx(10));
}

TEST_CASE("wishes above the budget are stretched, and the longest interval becomes the bound") {
  Given given(each(3s));  // 60 watches: 20 a second
  given.budget().rate_per_s = 5;
  given.budget().client_reserve = 0.2;
  const Price p = given.price_now();
  const double for_polls = 4.0 - 60.0 / 3600;
  CHECK_FALSE(p.busiest.fits());
  CHECK(p.hours_stretched == 24);
  CHECK(p.busiest.available_per_s == Approx(4));
  CHECK(p.busiest.own_per_s() == Approx(4));
  CHECK(p.busiest.stretch == Approx(20 / for_polls));
  CHECK(p.age_mean_s == Approx(60 / for_polls / 2));
  CHECK(p.age_worst_s == Approx(3600 + 30));
}

TEST_CASE("where even the longest intervals do not fit, all are stretched alike and the bound says so") {
  WatchPlan plan = each(3s);
  plan.interval_max = 6s;
  Given given(plan);
  given.budget().rate_per_s = 5 + 60.0 / 3600;
  given.budget().client_reserve = 0;
  given.loads[0].workload.client_requests_per_session = 0;
  const Price p = given.price_now();
  CHECK(p.age_worst_s == Approx(60 / 5.0 + 30));
  CHECK(p.age_mean_s == Approx(60 / 5.0 / 2));
}

TEST_CASE("client traffic takes from what polls may have") {
  Workload w = even_workload();
  w.client_requests_per_session = 36 * 80;  // 8 a second
  const Price p = Given(each(3s), w).price_now();
  CHECK(p.busiest.client_per_s == Approx(8));
  CHECK(p.busiest.available_per_s == Approx(2));
  CHECK(p.busiest.own_per_s() == Approx(2));
}

TEST_CASE("the budget policy spends what is left, but never reads sooner than its shortest interval") {
  Given given(within(PollPolicy::budget, 1s, 10min));
  CHECK(given.price_now().busiest.own_per_s() == Approx(9));
  CHECK(given.price_now().busiest.fits());
  CHECK(given.price_now().age_worst_s == Approx(600 + 30));
  given = Given(within(PollPolicy::budget, 30s, 10min));
  CHECK(given.price_now().busiest.polls_per_s == Approx(2));
  CHECK(given.price_now().age_mean_s == Approx(15));
}

TEST_CASE("a fixed interval beside the budget policy is served first") {
  Given given(within(PollPolicy::budget, 1s, 10min));
  given.add_upstream(each(30s), even_workload());
  const PartnerPlan plan = given.plan();
  REQUIRE(plan.kinds.size() == 2);
  CHECK(plan.kinds[1].interval_s == Approx(30));
  CHECK(plan.configured.most.busiest.own_per_s() == Approx(9));
}

TEST_CASE("an adaptive policy is a range, from always changing to never") {
  const PartnerPlan plan = Given(within(PollPolicy::adaptive, 10s, 2min)).plan();
  CHECK(plan.adaptive);
  CHECK(plan.configured.most.busiest.polls_per_s == Approx(6));
  CHECK(plan.configured.least.busiest.polls_per_s == Approx(0.5));
  CHECK(plan.configured.least.age_worst_s == Approx(120 * 1.1 + 30));
}

TEST_CASE("upstreams of one partner share its budget by their weight") {
  Given given(each(1s));
  given.add_upstream(each(1s), even_workload(), 3.0);
  const PartnerPlan plan = given.plan();
  CHECK(plan.kinds[0].interval_s == Approx(3 * plan.kinds[1].interval_s));
}

TEST_CASE("what an upstream leaves of its share goes to the others") {
  Given given(each(1s));
  given.add_upstream(each(60s), even_workload());
  CHECK(given.plan().kinds[1].interval_s == Approx(60));
}

TEST_CASE("a rule prices its share of what a session watches") {
  Given given(each(30s));
  Rule fast{.match = "deploy://*", .freshness = {}};
  fast.freshness.plan = each(6s);
  given.settings.upstreams[0].rules = {fast};
  given.loads[0].rule_shares = {0.5};
  CHECK(given.price_now().busiest.polls_per_s == Approx(30 / 6.0 + 30 / 30.0));
}

TEST_CASE("an upstream that is off costs only its clients' requests, and a rollout its share of the sessions") {
  Given given(each(30s));
  given.loads[0].rollout = 0.25;
  CHECK(given.price_now().busiest.polls_per_s == Approx(0.5));
  given.settings.upstreams[0].mode = Mode::off;
  CHECK(given.price_now().own_per_s == 0);
  CHECK(given.price_now().client_per_s == Approx(0.1));
}

TEST_CASE("lists that are polled cost one request for each principal and interval") {
  Given given(each(30s));
  given.settings.upstreams[0].list_polling = true;
  given.settings.upstreams[0].list_interval = 50s;
  CHECK(given.price_now().busiest.lists_per_s == Approx(0.2));
}

TEST_CASE("nothing to do costs nothing") {
  Workload w = even_workload();
  w.sessions_per_day = 0;
  const Price p = Given(each(30s), w).price_now();
  CHECK(p.own_per_s == 0);
  CHECK(p.age_mean_s == 0);
  CHECK(p.busiest.fits());
}

}  // namespace
}  // namespace freshet
