// An upstream that notifies is not called silent for what it did not have to notify, or for what Freshet missed.
#include <catch2/catch.hpp>

#include "native_dialogue.hpp"

using namespace freshet;

namespace {

Settings checked_often() {
  Settings settings = one_upstream();
  settings.upstreams[0].freshness.watchdog_silence = 60s;
  return settings;
}

struct Prompt : Native {
  Prompt() : Native(checked_often()) {}
};

}  // namespace

TEST_CASE("what was updated while the baseline travelled is told at once, and no fault of the upstream") {
  Prompt d;
  d.read(ann);
  d.holds_reads = true;
  d.subscribe(ann);
  const ReadId baseline = d.held_reads().front().read;
  d.pass(10ms);
  d.there["r"] = "B";
  d.updated(ann);
  d.answer(baseline, content("A"));
  CHECK(d.notified(ann) == 1);
  d.holds_reads = false;
  d.pass(300s);
  CHECK(d.notified(ann) == 0);
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("what changed before the upstream took the subscription is the catch-up's to find") {
  Prompt d;
  d.holds_natives = true;
  d.read(ann);
  d.holds_reads = true;
  d.subscribe(ann);
  d.pass(2s);
  REQUIRE_FALSE(d.held_reads().empty());
  const ReadId baseline = d.held_reads().front().read;
  d.there["r"] = "B";
  d.upstream_takes();
  d.answer(baseline, content("A"));
  d.release_reads();
  d.pass(1s);
  CHECK(d.notified(ann) == 1);
  d.pass(300s);
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("a permission that is given back is not a change that the upstream kept to itself") {
  Prompt d;
  d.subscribe(ann);
  d.instead["r"] = Forbidden{};
  d.pass(70s);
  CHECK(d.notified(ann) == 1);
  d.instead.clear();
  d.read(ann);
  d.pass(300s);
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("an older answer that reaches the client late has it told, and the upstream stays trusted") {
  Prompt d;
  d.subscribe(ann);
  d.holds_reads = true;
  d.read(ann);
  const ReadId slow = d.held_client_reads()[0].read;
  d.there["r"] = "B";
  d.updated(ann);
  CHECK(d.notified(ann) == 1);
  d.read(ann);
  d.answer(d.held_client_reads()[1].read, content("B"), true);
  d.answer(slow, content("A"), true);
  d.holds_reads = false;
  d.pass(300s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("what a slow read saw before the update is no base for the checks that follow the baseline") {
  Prompt d;
  d.holds_natives = true;
  d.holds_reads = true;
  d.subscribe(ann);
  d.read(ann);
  d.updated(ann);
  d.pass(10ms);
  d.upstream_takes();
  REQUIRE(d.held_reads().size() == 1);
  const ReadId baseline = d.held_reads()[0].read;
  d.answer(d.held_client_reads()[0].read, content("A"), true);
  d.there["r"] = "B";
  d.answer(baseline, content("B"));
  d.release_reads();
  d.pass(300s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("who subscribes again before the old subscription is given back is polled until the new one is there") {
  Prompt d;
  d.subscribe(ann);
  d.holds_natives = true;
  d.unsubscribe(ann);
  const RequestId again = d.subscribe(ann);
  d.pass(2s);
  CHECK(d.accepted(again));
  d.tell(NativeUnsubscribeEnded{ann, "r", 1, Accepted{}});
  CHECK(d.strategy() == Strategy::poll);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  d.tell(NativeSubscribeEnded{ann, "r", 2, Accepted{}});
  CHECK(d.strategy() == Strategy::subscribe);
}
