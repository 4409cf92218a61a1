// Modern listen streams: each is a subscriber, and no read can be ascribed to the client that has it.
#include <catch2/catch.hpp>

#include "dialogue.hpp"

using namespace freshet;

namespace {

const Principal alice = principal(1);

struct Listens : Dialogue {
  Listens() { there["r"] = "A"; }
  void listen(SubscriberId s, const Declaration& server = polled()) {
    Declaration declared = server;
    declared.sessions = false;
    tell(SubscriberOpened{s, UpstreamId{0}, alice, declared, false, true});
    subscribe(s);
    stream(s);
  }
  void leave(SubscriberId s) {
    stream_breaks(s);
    tell(SubscriberClosed{s});
  }
  // Some client of alice's reads; the shell can only ascribe it to a stream of hers.
  void read_by_alice(SubscriberId via) {
    const Content seen = content(there["r"]);
    read(via);
    tell(ReadDelivered{UpstreamId{0}, alice, "r", seen.digest});
  }
  void read_without_stream(const std::string& text) {
    tell(ReadDelivered{UpstreamId{0}, alice, "r", content(text).digest});
  }
};

}  // namespace

TEST_CASE("a read by one client of a principal does not silence the streams of its others") {
  Listens d;
  d.listen(ann);
  d.listen(bob);
  d.there["r"] = "B";
  d.read_by_alice(bob);
  d.pass(1s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.notified(bob) == 1);
  d.pass(120s);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("a listen stream is told of each version that replaces another, there and back") {
  Listens d;
  d.listen(ann);
  for (const char* text : {"B", "A", "B"}) {
    d.there["r"] = text;
    d.pass(40s);
    CHECK(d.notified(ann) == 1);
  }
}

TEST_CASE("both clients of a principal are served from the poll that found the change") {
  Listens d;
  d.listen(ann);
  d.listen(bob);
  d.there["r"] = "B";
  while (d.notified(ann) == 0) d.pass(100ms);
  CHECK(d.served(d.read(bob)));
  CHECK(d.served(d.read(bob)));
  d.pass(3s);
  CHECK_FALSE(d.served(d.read(bob)));
}

TEST_CASE("read, change, listen is not silent") {
  Listens d;
  d.read_without_stream("before");
  d.listen(ann);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("what was told on a stream that broke is told again on the next, unless it was read") {
  Listens d;
  d.read_without_stream("A");
  d.listen(ann);
  CHECK(d.notified(ann) == 0);
  d.holds_notices = true;
  d.there["r"] = "B";
  d.pass(40s);
  d.settle_notices(false);
  d.holds_notices = false;
  d.leave(ann);
  d.listen(bob);
  CHECK(d.notified(bob) == 1);
  d.read_by_alice(bob);
  d.leave(bob);
  d.listen(SubscriberId{3});
  d.pass(1s);
  CHECK(d.notified(SubscriberId{3}) == 0);
}

TEST_CASE("a slow old read that reaches a client after the newer version was told is told of") {
  Listens d;
  d.listen(ann);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  d.read_without_stream("A");
  d.pass(1s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("nobody is served a picture older than what some client of the principal read before it was accepted") {
  Listens d;
  d.holds_reads = true;
  d.listen(ann);
  d.pass(10ms);
  d.read_without_stream("B");
  d.answer(d.held_reads()[0].read, content("A"));
  CHECK(d.notified(ann) == 1);
  CHECK_FALSE(d.served(d.read(ann)));
}

TEST_CASE("a listen stream that was told of an update is not owed it again by the checks that follow") {
  Listens d;
  d.listen(ann, subscribed());
  const bool changed = GENERATE(true, false);
  if (changed) d.there["r"] = "B";
  d.updated(ann);
  d.pass(50min);
  CHECK(d.notified(ann) == 1);
  CHECK(d.view(ann).strategy == Strategy::subscribe);
}

TEST_CASE("what the upstream told and a client read is not taken for what all its clients hold") {
  Listens d;
  d.listen(ann, subscribed());
  d.there["r"] = "B";
  d.updated(ann);
  CHECK(d.notified(ann) == 1);
  d.read_by_alice(ann);
  d.tell(UpstreamStreamLost{ann});
  d.there["r"] = "A";
  d.pass(40s);
  CHECK(d.notified(ann) >= 1);
}

TEST_CASE("a principal's reads are remembered within the limit, the latest ones") {
  SeenMemory memory(2);
  memory.remember("a", Digest{{1, 1}});
  memory.remember("b", Digest{{2, 2}});
  memory.remember("a", Digest{{3, 3}});
  memory.remember("c", Digest{{4, 4}});
  CHECK_FALSE(memory.find("b"));
  CHECK(memory.find("a") == Digest{{3, 3}});
  CHECK(memory.take("c") == Digest{{4, 4}});
  CHECK_FALSE(memory.find("c"));
}
