// Subscribing and unsubscribing where the upstream cannot notify.
#include <catch2/catch.hpp>

#include "dialogue.hpp"

using namespace freshet;

namespace {

struct Polled : Dialogue {
  explicit Polled(Settings s = one_upstream()) : Dialogue(std::move(s)) {
    there["r"] = "A";
    session(ann);
    stream(ann);
  }
};

}  // namespace

TEST_CASE("a subscribe is answered after its baseline read, and not before") {
  Polled d;
  d.holds_reads = true;
  const RequestId request = d.subscribe(ann);
  REQUIRE(d.held_reads().size() == 1);
  CHECK(d.held_reads()[0].kind == ReadKind::baseline);
  CHECK_FALSE(d.answered(request));
  CHECK(d.state(ann) == "subscribing");
  d.answer_held();
  CHECK(d.accepted(request));
  CHECK_FALSE(d.degraded(request));
  CHECK(d.state(ann) == "active");
}

TEST_CASE("a definite error of the baseline is the subscribe's answer, and leaves nothing behind") {
  static const auto why = std::make_shared<const Refusal>(Refusal{404, {}, "{}"});
  const auto outcome = GENERATE_COPY(ReadOutcome(NotFound{why}), ReadOutcome(Unauthorized{why}),
                                     ReadOutcome(Forbidden{why}), ReadOutcome(Rejected{why}));
  Polled d;
  d.instead["r"] = outcome;
  const RequestId request = d.subscribe(ann);
  CHECK(d.refusal(request) == why);
  CHECK(d.engine.subscription_count() == 0);
  CHECK(d.engine.watch_count() == 0);
  d.pass(600s);
  CHECK(d.reads() == 1);
}

TEST_CASE(
    "a passing failure of the baseline is accepted as degraded and tried again, and the first picture tells nothing") {
  Polled d;
  d.instead["r"] = Failed{Failure::internal};
  const RequestId request = d.subscribe(ann);
  CHECK(d.accepted(request));
  CHECK(d.degraded(request));
  d.instead.clear();
  d.pass(60s);
  CHECK_FALSE(d.view(ann).degraded);
  CHECK(d.notified(ann) == 0);
  d.there["r"] = "B";
  d.pass(60s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a slow baseline is waited for only so long") {
  Polled d;
  d.holds_reads = true;
  const RequestId request = d.subscribe(ann);
  d.pass(1999ms);
  CHECK_FALSE(d.answered(request));
  d.pass(1ms);
  CHECK(d.degraded(request));
  d.answer_held();
  CHECK_FALSE(d.view(ann).degraded);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("a change is told once, within the interval and its jitter") {
  Polled d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(33s);
  CHECK(d.notified(ann) == 1);
  d.pass(300s);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("no change tells nothing") {
  Polled d;
  d.subscribe(ann);
  d.pass(600s);
  CHECK(d.reads() > 15);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("a change back before the subscriber read it owes nothing, and the next one is told") {
  Polled d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  d.there["r"] = "A";
  d.pass(40s);
  CHECK(d.notified(ann) == 0);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("changes merge while a notification is on its way, and the last is not lost") {
  Polled d;
  d.subscribe(ann);
  d.holds_notices = true;
  for (const char* text : {"B", "C", "D"}) {
    d.there["r"] = text;
    d.pass(40s);
  }
  d.settle_notices(true);
  CHECK(d.notified(ann) == 1);
  d.pass(1s);
  d.settle_notices(true);
  CHECK(d.notified(ann) == 1);
  CHECK(d.last_notice->version == to_hex(content("D").digest));
}

TEST_CASE("a notification that died with its stream is owed to the next") {
  Polled d;
  d.subscribe(ann);
  d.holds_notices = true;
  d.there["r"] = "B";
  d.pass(40s);
  d.stream_breaks(ann);
  d.settle_notices(false);
  d.holds_notices = false;
  d.stream(ann);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("what was told and not read is told again on a stream that resumes nothing, but not on one that resumes") {
  const bool resumed = GENERATE(false, true);
  Polled d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  d.stream_breaks(ann);
  d.stream(ann, resumed);
  CHECK(d.notified(ann) == (resumed ? 0 : 1));
}

TEST_CASE("an absent client costs no reads and is caught up on return") {
  Polled d;
  d.subscribe(ann);
  d.stream_breaks(ann);
  d.pass(61s);
  const std::size_t before = d.reads();
  d.pass(3600s);
  CHECK(d.reads() == before);
  d.there["r"] = "B";
  d.stream(ann);
  d.pass(1s);
  CHECK(d.reads() == before + 1);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("repeated subscribes and unsubscribes are answered and change nothing") {
  Polled d;
  d.subscribe(ann);
  const std::size_t before = d.reads();
  CHECK(d.accepted(d.subscribe(ann)));
  CHECK(d.reads() == before);
  CHECK(d.engine.subscription_count() == 1);
  d.unsubscribe(ann);
  d.unsubscribe(ann);
  d.unsubscribe(ann, "never subscribed");
  CHECK(d.engine.subscription_count() == 0);
  d.there["r"] = "B";
  d.pass(600s);
  CHECK(d.reads() == before);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("a subscribe that comes while another waits is answered with it") {
  Polled d;
  d.holds_reads = true;
  const RequestId first = d.subscribe(ann);
  const RequestId second = d.subscribe(ann);
  d.answer_held();
  CHECK(d.accepted(first));
  CHECK(d.accepted(second));
  CHECK(d.reads() == 1);
}

TEST_CASE("late content and a late 404 after a close leave only a count") {
  const auto outcome = GENERATE(ReadOutcome(content("B")), ReadOutcome(NotFound{}));
  Polled d;
  d.subscribe(ann);
  d.holds_reads = true;
  d.pass(40s);
  REQUIRE(d.held_reads().size() == 1);
  d.unsubscribe(ann);
  d.answer(d.held_reads()[0].read, outcome);
  CHECK(d.facts<LateAfterClose>().size() == 1);
  CHECK(d.notified(ann) == 0);
  CHECK(d.engine.watch_count() == 0);
}

TEST_CASE("a read of an older generation is nobody's baseline") {
  Polled d;
  d.holds_reads = true;
  d.subscribe(ann);
  const ReadId old = d.held_reads()[0].read;
  d.unsubscribe(ann);
  const RequestId again = d.subscribe(ann);
  d.answer(old, content("old"));
  CHECK_FALSE(d.answered(again));
  d.answer_held();
  CHECK(d.accepted(again));
  CHECK(d.view(ann).version == to_hex(content("A").digest));
}

TEST_CASE("a notification that is still queued is withdrawn by the unsubscribe") {
  Polled d;
  d.subscribe(ann);
  d.holds_notices = true;
  d.there["r"] = "B";
  d.pass(40s);
  d.unsubscribe(ann);
  CHECK(d.facts<Withdraw>().size() == 1);
  d.settle_notices(true);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("a slow read that was sent before the accepted one is dropped and counted") {
  Polled d;
  d.subscribe(ann);
  d.holds_reads = true;
  d.read(ann);  // sees A=5
  const ReadId slow = d.held_client_reads()[0].read;
  d.there["r"] = "B";
  d.pass(40s);
  d.answer(d.held_reads()[0].read, content("B"));
  CHECK(d.view(ann).version == to_hex(content("B").digest));
  d.answer(slow, content("A"), true);
  CHECK(d.view(ann).version == to_hex(content("B").digest));
  CHECK(d.facts<ReadJudged>().back().verdict == Verdict::stale);
}

TEST_CASE("a slow old read delivered after a newer one was read is owed a notification") {
  Polled d;
  d.subscribe(ann);
  d.holds_reads = true;
  d.read(ann);
  const ReadId slow = d.held_client_reads()[0].read;
  d.read(ann);
  d.answer(d.held_client_reads()[1].read, content("B"), true);
  CHECK(d.notified(ann) == 0);
  d.answer(slow, content("A"), true);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("read, change, subscribe is not silent") {
  Polled d;
  d.read(ann);
  d.there["r"] = "B";
  d.subscribe(ann);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("what was read between two subscriptions counts, and a baseline that nobody read does not") {
  Polled d;
  d.subscribe(ann);
  d.unsubscribe(ann);
  d.there["r"] = "B";
  d.subscribe(ann);
  CHECK(d.notified(ann) == 0);
  d.read(ann);
  d.unsubscribe(ann);
  d.there["r"] = "C";
  d.subscribe(ann);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("the client's own read moves the poll and settles what was owed") {
  Polled d;
  d.subscribe(ann);
  d.pass(10s);
  for (int i = 0; i < 20; ++i) {
    d.read(ann);
    d.pass(20s);
  }
  CHECK(d.reads() <= 2);  // the baseline, and at most one poll before the first of them
  d.there["r"] = "B";
  d.read(ann);
  d.pass(100s);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("limits refuse with a clear error and are given back") {
  Settings settings = one_upstream();
  settings.limits.subscriptions_per_subscriber_max = 2;
  settings.limits.subscriptions_max = 3;
  Polled d(settings);
  d.there = {{"a", "1"}, {"b", "1"}, {"c", "1"}};
  d.session(bob);
  CHECK(d.accepted(d.subscribe(ann, "a")));
  CHECK(d.accepted(d.subscribe(ann, "b")));
  CHECK(d.refused(d.subscribe(ann, "c")));
  CHECK(d.accepted(d.subscribe(bob, "a")));
  CHECK(d.refused(d.subscribe(bob, "b")));
  d.unsubscribe(ann, "a");
  CHECK(d.accepted(d.subscribe(bob, "b")));
}

TEST_CASE("where the upstream has no resources a subscribe is refused") {
  Dialogue d;
  d.session(ann, {}, Declaration{.server_name = {}, .server_version = {}});
  CHECK(d.refused(d.subscribe(ann)));
}

TEST_CASE("in shadow nothing is delivered, and what would have been is counted") {
  Dialogue d;
  d.there["r"] = "A";
  d.session(ann, {}, polled(), true);
  d.stream(ann);
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 0);
  CHECK(d.facts<NoticeWithheld>().size() == 1);
  CHECK_FALSE(d.served(d.read(ann)));
}

TEST_CASE("nothing is left once everything is closed") {
  Polled d;
  d.session(bob, principal(2));
  d.stream(bob);
  for (int i = 0; i < 20; ++i) {
    const std::string uri = "r" + std::to_string(i);
    d.there[uri] = "A";
    d.subscribe(ann, uri);
    d.subscribe(bob, uri);
  }
  d.pass(100s);
  d.tell(SubscriberClosed{ann});
  d.tell(SubscriberClosed{bob});
  d.pass(1s);
  CHECK(d.engine.watch_count() == 0);
  CHECK(d.engine.reads_in_flight() == 0);
  CHECK(d.engine.timers() == 0);
  CHECK(d.engine.notices_under_way() == 0);
  CHECK(d.engine.caller_count() == 0);
  CHECK(d.engine.errands() == 0);
  CHECK(d.engine.next_wake() == never);
}

TEST_CASE("spellings of one URI are resources of their own, byte for byte") {
  Dialogue d;
  d.session(ann);
  d.stream(ann);
  const std::vector<std::string> spellings{"x://h/a",   "x://h/a/",     "x://h/%61",    "x://H/a", "s://d/a%20b",
                                           "s://d/a b", "s://d/%C3%A9", "s://d/%c3%a9", "s://d",   "s://d/"};
  for (const std::string& uri : spellings) {
    d.there[uri] = "A";
    CHECK(d.accepted(d.subscribe(ann, uri)));
  }
  CHECK(d.engine.watch_count() == spellings.size());
  d.there["x://h/a/"] = "B";
  d.pass(40s);
  for (const std::string& uri : spellings) CHECK(d.notified(ann, uri) == (uri == "x://h/a/" ? 1 : 0));
}
