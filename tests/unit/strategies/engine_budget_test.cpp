// Whatever is asked of the engine, the partner's budget holds.
#include <catch2/catch.hpp>

#include "dialogue.hpp"

using namespace freshet;

TEST_CASE("a thousand subscribes in one second never exceed the partner's budget in any window") {
  Dialogue d;
  std::vector<Instant> sent;
  std::size_t seen = 0;
  const auto note = [&] {
    for (; seen < d.reads(); ++seen) sent.push_back(d.now);
  };
  d.session(ann);
  d.stream(ann);
  for (int i = 0; i < 1000; ++i) {
    d.there["r" + std::to_string(i)] = "A";
    d.subscribe(ann, "r" + std::to_string(i));
    d.pass(1ms);
    note();
  }
  for (int i = 0; i < 3000; ++i) {
    d.pass(100ms);
    note();
  }
  const BudgetSettings budget;
  std::size_t worst = 0;
  for (std::size_t begin = 0, end = 0; begin < sent.size(); ++begin) {
    while (end < sent.size() && sent[end] - sent[begin] < 10s) ++end;
    worst = std::max(worst, end - begin);
  }
  CHECK(sent.size() > 1000);
  CHECK(static_cast<double>(worst) <= 10 * budget.rate_per_s + budget.burst);
}

TEST_CASE("checks that are due again as soon as they are done leave polls their turn") {
  Settings scarce = one_upstream();
  scarce.partners[0].budget.rate_per_s = 1.0;
  scarce.upstreams[0].freshness.watchdog_silence = 5s;
  Dialogue d(scarce);
  d.session(ann, principal(1), subscribed());
  d.stream(ann);
  for (int i = 0; i < 20; ++i) {
    const std::string uri = "checked" + std::to_string(i);
    d.there[uri] = "A";
    d.subscribe(ann, uri);
  }
  d.session(bob);
  d.stream(bob);
  d.there["r"] = "A";
  d.subscribe(bob);
  d.pass(120s);
  d.there["r"] = "B";
  d.pass(120s);
  CHECK(d.notified(bob) == 1);
}

TEST_CASE("429 pauses every poll of the partner for as long as it asked") {
  Dialogue d;
  d.there = {{"r", "A"}, {"s", "A"}};
  d.session(ann);
  d.stream(ann);
  d.subscribe(ann, "r");
  d.subscribe(ann, "s");
  d.instead["r"] = Throttled{120s};
  while (d.facts<PartnerPaused>().empty()) d.pass(1s);
  d.instead.clear();
  const std::size_t before = d.reads();
  d.pass(119s);
  CHECK(d.reads() == before);
  d.pass(60s);
  CHECK(d.reads() > before);
  CHECK(d.facts<PartnerResumed>().size() == 1);
}

TEST_CASE("a client's 429 pauses the polls as well") {
  Dialogue d;
  d.there["r"] = "A";
  d.session(ann);
  d.stream(ann);
  d.subscribe(ann);
  d.tell(ClientRequestSent{UpstreamId{0}});
  d.tell(ClientRequestEnded{UpstreamId{0}, 429, 100s});
  d.pass(99s);
  CHECK(d.reads() == 1);
}

TEST_CASE("a poll that was cancelled is made again") {
  Dialogue d;
  d.there["r"] = "A";
  d.session(ann);
  d.stream(ann);
  d.subscribe(ann);
  d.holds_reads = true;
  d.pass(40s);
  d.answer(d.held_reads()[0].read, Failed{Failure::cancelled});
  d.pass(40s);
  CHECK(d.held_reads().size() == 1);
}

TEST_CASE("the bound that is shown holds") {
  Dialogue d;
  d.there["r"] = "A";
  d.session(ann);
  d.stream(ann);
  d.subscribe(ann);
  Duration promised = d.view(ann).bound;
  Instant since = d.now;
  for (int i = 0; i < 500; ++i) {
    d.pass(1s);
    const SubscriptionView v = d.view(ann);
    CHECK(*v.age <= v.bound);
    if (d.now - since <= promised) CHECK(*v.age <= promised);
    if (i % 7 == 0) {
      promised = v.bound;
      since = d.now;
    }
  }
}
