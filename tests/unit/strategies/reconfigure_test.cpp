// Settings change while subscriptions stand.
#include <catch2/catch.hpp>

#include "dialogue.hpp"

using namespace freshet;

namespace {

void reconfigure(Dialogue& d, const Settings& settings) {
  d.tell(Reconfigured{std::make_shared<const Settings>(settings)});
}

Settings with_interval(Duration interval) {
  Settings settings = one_upstream();
  settings.upstreams[0].freshness.plan.interval = interval;
  return settings;
}

void subscribe_attached(Dialogue& d, const std::string& uri = "r") {
  d.there[uri] = "A";
  d.session(ann);
  d.stream(ann);
  d.subscribe(ann, uri);
}

}  // namespace

TEST_CASE("a shorter interval counts from the reload on, not only after the next poll") {
  Dialogue d(with_interval(1h));
  subscribe_attached(d);
  reconfigure(d, with_interval(10s));
  const std::size_t before = d.reads();
  d.pass(60s);
  CHECK(d.reads() - before >= 5);
  CHECK(d.reads() - before <= 8);
  CHECK(d.view(ann).bound < 60s);
}

TEST_CASE("a longer interval counts from the reload on") {
  Dialogue d(with_interval(10s));
  subscribe_attached(d);
  d.pass(25s);
  reconfigure(d, with_interval(1h));
  const std::size_t before = d.reads();
  d.pass(5min);
  CHECK(d.reads() - before <= 1);
}

TEST_CASE("a reload that changes nothing moves no read and tells nobody") {
  Dialogue d;
  subscribe_attached(d);
  d.pass(12s);
  const Duration next = *d.view(ann).next_read_in;
  for (int i = 0; i < 100; ++i) reconfigure(d, one_upstream());
  CHECK(*d.view(ann).next_read_in == next);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("what changed before a reload is found and told after it, once") {
  Dialogue d(with_interval(30s));
  subscribe_attached(d);
  d.there["r"] = "B";
  reconfigure(d, with_interval(5s));
  d.pass(10s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a rule that comes with a reload counts for what is watched already") {
  Dialogue d(with_interval(1h));
  subscribe_attached(d, "log://a");
  Settings settings = with_interval(1h);
  settings.upstreams[0].rules = {{"log://*", settings.upstreams[0].freshness}};
  settings.upstreams[0].rules[0].freshness.plan.interval = 5s;
  reconfigure(d, settings);
  const std::size_t before = d.reads();
  d.pass(30s);
  CHECK(d.reads() - before >= 4);
}

TEST_CASE("watches that were spread over the old interval are spread over the new one") {
  Settings settings = with_interval(1000s);
  settings.partners[0].budget.rate_per_s = 1000;
  Dialogue d(settings);
  d.session(ann);
  d.stream(ann);
  for (int i = 0; i < 200; ++i) {
    d.there["r" + std::to_string(i)] = "A";
    d.subscribe(ann, "r" + std::to_string(i));
  }
  d.pass(1s);
  settings.upstreams[0].freshness.plan.interval = 100s;
  reconfigure(d, settings);
  std::size_t worst = 0;
  for (int second = 0; second < 100; ++second) {
    const std::size_t before = d.reads();
    d.pass(1s);
    worst = std::max(worst, d.reads() - before);
  }
  CHECK(worst < 10);
}

TEST_CASE("another rate counts from the reload on, in every window") {
  Dialogue d(with_interval(1s));
  d.session(ann);
  d.stream(ann);
  for (int i = 0; i < 30; ++i) {
    d.there["r" + std::to_string(i)] = "A";
    d.subscribe(ann, "r" + std::to_string(i));
  }
  d.pass(30s);
  Settings settings = with_interval(1s);
  settings.partners[0].budget.rate_per_s = 2;
  reconfigure(d, settings);
  d.pass(5s);
  const std::size_t before = d.reads();
  d.pass(60s);
  CHECK(d.reads() - before <= 60 * 2 + 2);
  CHECK(d.reads() - before >= 60);
  CHECK(d.engine.partners(d.now)[0].rate_per_s == 2);
}

TEST_CASE("a shorter silence is watched for from the reload on, where the server should notify") {
  Dialogue d;
  d.there["r"] = "A";
  d.session(ann, {}, subscribed());
  d.stream(ann);
  d.subscribe(ann);
  d.pass(1s);
  const std::size_t before = d.reads();
  Settings settings = one_upstream();
  settings.upstreams[0].freshness.watchdog_silence = 60s;
  reconfigure(d, settings);
  d.pass(70s);
  CHECK(d.reads() == before + 1);
}

TEST_CASE("a shorter grace for absent clients counts for those who left before the reload") {
  Dialogue d(with_interval(1s));
  subscribe_attached(d);
  d.stream_breaks(ann);
  d.pass(5s);
  Settings settings = with_interval(1s);
  settings.upstreams[0].absent_grace = 10s;
  reconfigure(d, settings);
  d.pass(15s);
  CHECK(d.view(ann).absent);
}

TEST_CASE("a lower limit closes nothing, and refuses what comes") {
  Dialogue d;
  subscribe_attached(d);
  Settings settings = one_upstream();
  settings.limits.subscriptions_per_subscriber_max = 1;
  reconfigure(d, settings);
  CHECK(d.refused(d.subscribe(ann, "s")));
  CHECK(d.state(ann) == "active");
}

TEST_CASE("an upstream's share weighs from the start, and a changed one from the reload on") {
  Settings settings = with_interval(1s);
  settings.partners[0].budget.rate_per_s = 4;
  settings.upstreams.push_back(settings.upstreams[0]);
  settings.upstreams[0].share = 3;
  Dialogue d(settings);
  const auto reads_of = [&](std::uint32_t upstream) {
    std::size_t count = 0;
    for (const ReadJudged& read : d.facts<ReadJudged>()) count += index(read.upstream) == upstream ? 1 : 0;
    return static_cast<double>(count);
  };
  for (const std::uint32_t upstream : {0U, 1U}) {
    const SubscriberId who{10 + upstream};
    d.tell(
        SubscriberOpened{.subscriber = who, .upstream = UpstreamId{upstream}, .principal = {}, .declared = polled()});
    d.stream(who);
    for (int i = 0; i < 40; ++i) {
      d.there["r" + std::to_string(i)] = "A";
      d.subscribe(who, "r" + std::to_string(i));
    }
  }
  d.pass(60s);
  double before[] = {reads_of(0), reads_of(1)};
  d.pass(200s);
  CHECK((reads_of(0) - before[0]) / (reads_of(1) - before[1]) == Approx(3).epsilon(0.2));
  settings.upstreams[0].share = 1;
  reconfigure(d, settings);
  before[0] = reads_of(0), before[1] = reads_of(1);
  d.pass(200s);
  CHECK((reads_of(0) - before[0]) / (reads_of(1) - before[1]) == Approx(1).epsilon(0.2));
}
