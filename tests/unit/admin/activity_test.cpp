#include "proxy/admin/activity.hpp"

#include <catch2/catch.hpp>

#include "proxy/admin/status_query.hpp"

namespace freshet::admin {

using namespace std::chrono_literals;

TEST_CASE("requests per second are a mean over the last ten seconds") {
  RequestHistory history;
  Instant now(100s);
  double polls = 0;
  for (int i = 0; i < 60; ++i, now += 1s) history.sample({.poll = polls += i < 45 ? 1 : 3}, now);
  CHECK(history.per_second().poll == Approx(3));
  CHECK(history.per_second().client == 0);
}

TEST_CASE("the last hour is a bounded row of means, and the oldest go first") {
  RequestHistory history;
  Instant now(100s);
  double clients = 0;
  for (int i = 0; i < 2 * 3600; ++i, now += 1s) history.sample({.client = clients += i < 3500 ? 1 : 2}, now);
  const auto points = history.points();
  CHECK(points.size() == RequestHistory::points_max);
  CHECK(points.front().client == Approx(2));
  CHECK(history.per_second_last_hour().client == Approx(2).epsilon(0.01));
}

TEST_CASE("a loop that was held up shows the mean over the gap") {
  RequestHistory history;
  history.sample({.client = 0}, Instant(100s));
  history.sample({.client = 40}, Instant(120s));
  CHECK(history.per_second().client == Approx(2));
}

TEST_CASE("the same event again is counted, another one is a line of its own") {
  RecentEvents events;
  const WallTime now(1000s);
  for (int i = 0; i < 10'000; ++i) events.add({.kind = "strategy_changed", .subject = "files"}, now);
  events.add({.kind = "partner_paused", .subject = "acme"}, now + 1s);
  events.add({.kind = "strategy_changed", .subject = "files"}, now + 2s);
  REQUIRE(events.all().size() == 2);
  CHECK(events.all().front().count == 10'001);
  CHECK(events.all().front().first_at == now);
}

TEST_CASE("recent events are bounded") {
  RecentEvents events;
  for (int i = 0; i < 1'000; ++i) events.add({.kind = "x", .subject = std::to_string(i)}, WallTime(1s));
  CHECK(events.all().size() == RecentEvents::capacity);
  CHECK(events.all().front().subject == "999");
}

TEST_CASE("an upstream fails from its last failure until its next success") {
  Settings settings;
  settings.partners.emplace_back();
  settings.upstreams.emplace_back();
  Activity activity(settings);
  const UpstreamId upstream{0};
  const auto judged = [&](Verdict verdict, Instant at) {
    activity.observe(ReadJudged{.upstream = upstream, .kind = ReadKind::poll, .verdict = verdict, .age_resolved = {}},
                     {at, {}});
  };
  CHECK_FALSE(activity.health(upstream).known());
  judged(Verdict::error, Instant(1s));
  CHECK(activity.health(upstream).failing());
  judged(Verdict::unchanged, Instant(2s));
  CHECK_FALSE(activity.health(upstream).failing());
}

TEST_CASE("a status query is read with its limits, and what cannot be read is passed over") {
  const auto query = parse_status_query("/status?limit=5000&offset=20&search=note%3A%2F%2Fa+b&upstream=files&x=1");
  CHECK(query.limit == StatusQuery::limit_max);
  CHECK(query.offset == 20);
  CHECK(query.search == "note://a b");
  CHECK(query.upstream == "files");
  const auto broken = parse_status_query("/status?limit=many&offset=-1&search=%zz");
  CHECK(broken.limit == StatusQuery::limit_default);
  CHECK(broken.offset == 0);
}

}  // namespace freshet::admin
