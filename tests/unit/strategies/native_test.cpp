// Subscribing where the upstream can notify: forwarded, relayed, watched over, healed.
#include <catch2/catch.hpp>

#include "native_dialogue.hpp"

using namespace freshet;

TEST_CASE("the upstream subscribe goes first, then the read, then the answer") {
  Native d;
  d.holds_natives = true;
  d.holds_reads = true;
  const RequestId request = d.subscribe(ann);
  CHECK(d.native_subscribes() == 1);
  CHECK(d.held_reads().empty());
  d.upstream_takes();
  CHECK(d.held_reads().size() == 1);
  CHECK_FALSE(d.answered(request));
  d.answer_held();
  CHECK(d.accepted(request));
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("a repeated subscribe is forwarded once") {
  Native d;
  d.subscribe(ann);
  d.subscribe(ann);
  CHECK(d.native_subscribes() == 1);
  d.unsubscribe(ann);
  d.unsubscribe(ann);
  d.pass(1s);
  CHECK(d.native_unsubscribes() == 1);
}

TEST_CASE("a natively subscribed resource is not polled") {
  Native d;
  d.subscribe(ann);
  d.pass(300s);
  CHECK(d.reads() == 1);
}

TEST_CASE("a method that is not there is remembered for the connection, and the resource is polled") {
  Native d;
  d.native = NotSupported{};
  d.there["s"] = "A";
  CHECK(d.accepted(d.subscribe(ann)));
  CHECK(d.accepted(d.subscribe(ann, "s")));
  CHECK(d.native_subscribes() == 1);
  CHECK(d.last_move() == StrategyReason::subscribe_refused);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a refusal of one resource says nothing of the others") {
  Native d;
  d.native = Rejected{};
  d.there["s"] = "A";
  CHECK(d.accepted(d.subscribe(ann)));
  d.native = Accepted{};
  d.subscribe(ann, "s");
  CHECK(d.native_subscribes() == 2);
  CHECK(d.strategy() == Strategy::poll);
}

TEST_CASE("a passing failure of the upstream subscribe is polled over and tried again") {
  Native d;
  d.native = Failed{Failure::timeout};
  CHECK(d.accepted(d.subscribe(ann)));
  CHECK(d.strategy() == Strategy::poll);
  d.native = Accepted{};
  d.pass(30s);
  CHECK(d.strategy() == Strategy::subscribe);
  CHECK(d.last_move() == StrategyReason::restored);
}

TEST_CASE("an update is relayed at once and as it came") {
  Native d;
  d.subscribe(ann);
  d.updated(ann);
  CHECK(d.notified(ann) == 1);
  REQUIRE(d.last_notice->verbatim != nullptr);
  CHECK(*d.last_notice->verbatim == "r");
  CHECK(d.reads() == 1);
}

TEST_CASE("a burst of updates is told at once, then merged, and its last is told") {
  Native d;
  d.subscribe(ann);
  for (int i = 0; i < 50; ++i) {
    d.updated(ann);
    d.pass(1ms);
  }
  CHECK(d.notified(ann) == 1);
  d.pass(1s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("an update below the watched resource is handed on as it is and counts as life") {
  Native d;
  d.subscribe(ann);
  d.updated(ann, "r/item/3");
  CHECK(d.relayed() == 1);
  CHECK(d.notified(ann) == 0);
  d.updated(ann, "rest");
  CHECK(d.relayed() == 2);
}

TEST_CASE("an update below the watched resource that no stream can carry is owed as a change of the watched one") {
  Native d;
  d.subscribe(ann);
  d.stream_breaks(ann);
  d.updated(ann, "r/item/3");
  d.stream(ann);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("an update after the unsubscribe reaches nobody") {
  Native d;
  d.subscribe(ann);
  d.unsubscribe(ann);
  d.updated(ann);
  CHECK(d.notified(ann) == 0);
  CHECK(d.relayed() == 0);
  CHECK(d.facts<LateAfterClose>().size() == 1);
}

TEST_CASE("an update between the baseline's dispatch and the answer is told") {
  Native d;
  d.holds_reads = true;
  d.subscribe(ann);
  d.pass(10ms);
  d.updated(ann);
  d.answer_held();
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("an unsubscribe whose answer is lost is silent, tried again, and ended by a new session") {
  Native d;
  d.subscribe(ann);
  d.native = Failed{Failure::connection};
  d.unsubscribe(ann);
  d.updated(ann);
  CHECK(d.notified(ann) == 0);
  CHECK(d.engine.subscription_count() == 0);
  d.pass(5s);
  CHECK(d.native_unsubscribes() > 1);
  d.tell(SessionRenewed{ann, subscribed()});
  const std::size_t asked = d.native_unsubscribes();
  d.pass(600s);
  CHECK(d.native_unsubscribes() == asked);
}

TEST_CASE("a subscribe during an unsubscribe waits for its answer and is a new generation") {
  Native d;
  d.subscribe(ann);
  d.holds_natives = true;
  d.pass(1s);
  d.unsubscribe(ann);
  const RequestId again = d.subscribe(ann);
  CHECK(d.native_subscribes() == 1);
  d.tell(NativeUnsubscribeEnded{ann, "r", 1, Accepted{}});
  CHECK(d.native_subscribes() == 2);
  d.tell(NativeSubscribeEnded{ann, "r", 2, Accepted{}});
  CHECK(d.accepted(again));
}

TEST_CASE("a subscription that was closed while the upstream subscribe travelled is given back") {
  Native d;
  d.holds_natives = true;
  d.subscribe(ann);
  d.unsubscribe(ann);
  d.upstream_takes();
  CHECK(d.native_unsubscribes() == 1);
}

TEST_CASE("silence is checked by one read, which tells nothing if nothing changed") {
  Native d;
  d.subscribe(ann);
  d.pass(601s);
  CHECK(d.reads() == 2);
  CHECK(d.facts<WatchdogChecked>().back().result == WatchdogResult::unchanged);
  CHECK(d.strategy() == Strategy::subscribe);
  d.pass(600s);
  CHECK(d.reads() == 3);
}

TEST_CASE("a change that is not notified within the grace has the subscription polled, and is told") {
  Native d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(604s);
  CHECK(d.notified(ann) == 0);
  d.pass(2s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.last_notice->origin == Origin::watchdog);
  CHECK(d.strategy() == Strategy::poll);
  CHECK(d.last_move() == StrategyReason::silent);
}

TEST_CASE("an update within the grace keeps the native subscription") {
  Native d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(602s);
  d.updated(ann);
  d.pass(10s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("a read before the last update is no evidence against it") {
  Native d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.updated(ann);
  d.pass(601s);  // first read after the update: the new baseline
  CHECK(d.facts<WatchdogChecked>().back().result == WatchdogResult::rebased);
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("a demoted subscription moves back once its updates come before the polls, twice") {
  Native d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(606s);
  REQUIRE(d.strategy() == Strategy::poll);
  for (const char* text : {"C", "D"}) {
    CHECK(d.strategy() == Strategy::poll);
    d.there["r"] = text;
    d.updated(ann);
    d.pass(1s);
  }
  CHECK(d.strategy() == Strategy::subscribe);
  CHECK(d.last_move() == StrategyReason::prompt_again);
}

TEST_CASE("updates that come after the poll found the change do not lead back") {
  Native d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(606s);
  for (const char* text : {"C", "D", "E"}) {
    d.there["r"] = text;
    d.pass(40s);
    d.updated(ann);
    d.pass(1s);
  }
  CHECK(d.strategy() == Strategy::poll);
}

TEST_CASE("an update of a demoted subscription triggers a read and is not relayed") {
  Native d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(606s);
  CHECK(d.notified(ann) == 1);
  const std::size_t before = d.reads();
  d.updated(ann);
  d.pass(1s);
  CHECK(d.reads() == before + 1);
  CHECK(d.notified(ann) == 0);  // nothing changed
}

TEST_CASE("silence is shorter where updates are known to come often") {
  Native d;
  d.subscribe(ann);
  for (int i = 0; i < 20; ++i) {
    d.pass(10s);
    d.updated(ann);
  }
  const std::size_t before = d.reads();
  d.pass(90s);
  CHECK(d.reads() == before + 1);
}

TEST_CASE("an upstream without a stream is polled") {
  Native d;
  d.subscribe(ann);
  d.tell(UpstreamStreamRefused{ann});
  CHECK(d.strategy() == Strategy::poll);
  CHECK(d.last_move() == StrategyReason::no_upstream_stream);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a lost upstream stream is polled over, and what it missed is read when it is there again") {
  Native d;
  d.subscribe(ann);
  d.tell(UpstreamStreamLost{ann});
  CHECK(d.strategy() == Strategy::poll);
  d.pass(1s);
  d.there["r"] = "B";
  d.tell(UpstreamStreamRestored{ann});
  d.pass(1s);
  CHECK(d.strategy() == Strategy::subscribe);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a stream that is there again does not pardon a subscription that was found silent") {
  Native d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.pass(606s);
  d.tell(UpstreamStreamLost{ann});
  d.tell(UpstreamStreamRestored{ann});
  CHECK(d.strategy() == Strategy::poll);
}

TEST_CASE("a healed session is subscribed again, then read, and told what changed meanwhile, once") {
  Native d;
  d.subscribe(ann);
  d.there["r"] = "B";
  d.holds_natives = true;
  d.pass(1s);
  d.tell(SessionRenewed{ann, subscribed()});
  CHECK(d.state(ann) == "reconciliation_required");
  CHECK(d.native_subscribes() == 2);
  CHECK(d.reads() == 1);
  d.tell(NativeSubscribeEnded{ann, "r", 2, Accepted{}});
  d.pass(60s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("an answer to a subscribe of the old session is not believed after the session was healed") {
  Native d;
  d.holds_natives = true;
  d.subscribe(ann);
  d.tell(SessionRenewed{ann, subscribed()});
  d.upstream_takes();
  CHECK(d.native_subscribes() == 2);
}

TEST_CASE("a session that is healed while a baseline travels is subscribed again before the answer") {
  Native d;
  d.holds_reads = true;
  const RequestId request = d.subscribe(ann);
  d.tell(SessionRenewed{ann, subscribed()});
  CHECK(d.native_subscribes() == 2);
  d.pass(200ms);
  d.answer_held();
  CHECK(d.accepted(request));
  CHECK(d.strategy() == Strategy::subscribe);
}

TEST_CASE("capabilities that are gone after a restart change the strategy, visibly") {
  Native d;
  d.subscribe(ann);
  d.tell(SessionRenewed{ann, polled()});
  CHECK(d.strategy() == Strategy::poll);
  CHECK(d.last_move() == StrategyReason::redeclared);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("re-subscribing a thousand resources after a restart stays within the budget") {
  Native d;
  for (int i = 0; i < 900; ++i) {
    d.there["r" + std::to_string(i)] = "A";
    d.subscribe(ann, "r" + std::to_string(i));
  }
  d.pass(600s);
  const std::size_t before = d.native_subscribes() + d.reads();
  d.tell(SessionRenewed{ann, subscribed()});
  d.pass(10s);
  CHECK(d.native_subscribes() + d.reads() - before <= 110);
}
