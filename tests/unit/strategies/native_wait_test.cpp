// An upstream that takes its time over a subscribe, and updates that reach the client on another way.
#include <catch2/catch.hpp>

#include "native_dialogue.hpp"

using namespace freshet;

TEST_CASE("what the upstream takes its time for is read and answered all the same, and polled until it is taken") {
  Native d;
  d.holds_natives = true;
  const RequestId request = d.subscribe(ann);
  d.pass(900ms);
  CHECK_FALSE(d.answered(request));
  d.pass(100ms);
  CHECK(d.accepted(request));
  CHECK_FALSE(d.degraded(request));
  CHECK(d.strategy() == Strategy::poll);
  CHECK(d.last_move() == StrategyReason::subscribe_slow);
  CHECK(d.reads() == 1);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  d.upstream_takes();
  CHECK(d.strategy() == Strategy::subscribe);
  CHECK(d.last_move() == StrategyReason::restored);
  const std::size_t before = d.reads();
  d.pass(300s);
  CHECK(d.reads() == before);
}

TEST_CASE("what the upstream takes its time for is read in time also where its stream broke meanwhile") {
  Native d;
  d.holds_natives = true;
  const RequestId request = d.subscribe(ann);
  d.tell(UpstreamStreamLost{ann});
  d.pass(1s);
  CHECK(d.accepted(request));
  CHECK_FALSE(d.degraded(request));
}

TEST_CASE("what the upstream took while the baseline was read is read again, since that may have seen less") {
  Native d;
  d.holds_natives = true;
  d.holds_reads = true;
  const RequestId request = d.subscribe(ann);
  d.pass(1s);
  REQUIRE(d.held_reads().size() == 1);
  const ReadId baseline = d.held_reads().front().read;
  d.upstream_takes();
  CHECK(d.strategy() == Strategy::subscribe);
  d.answer(baseline, content("A"));
  CHECK(d.accepted(request));
  d.there["r"] = "B";  // before it was taken: nobody notifies
  d.release_reads();
  d.pass(1s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("what is neither taken nor read by the end of the wait is accepted, and polled") {
  Native d;
  d.holds_natives = true;
  d.holds_reads = true;
  const RequestId request = d.subscribe(ann);
  d.pass(2s);
  CHECK(d.degraded(request));
  CHECK(d.strategy() == Strategy::poll);
}

TEST_CASE("an update that the client has already counts as life and is not told again") {
  Native d;
  d.subscribe(ann);
  d.pass(595s);
  d.there["r"] = "B";
  const std::size_t relayed = d.relayed();
  for (const char* uri : {"r", "other"})
    d.tell(UpdateArrived{ann, uri, std::make_shared<const std::string>("u"), true});
  d.pass(700s);
  CHECK(d.notified(ann) == 0);
  CHECK(d.relayed() == relayed);
  CHECK(d.strategy() == Strategy::subscribe);
  CHECK(d.facts<WatchdogChecked>().back().result == WatchdogResult::rebased);
}

TEST_CASE("an update that the client has already hurries the poll of what is not notified") {
  Native d;
  d.native = NotSupported{};
  d.subscribe(ann);
  const std::size_t before = d.reads();
  d.tell(UpdateArrived{ann, "r", std::make_shared<const std::string>("u"), true});
  d.pass(1s);
  CHECK(d.reads() == before + 1);
}
