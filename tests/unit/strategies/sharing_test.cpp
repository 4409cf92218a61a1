// Principals, sessions of one principal, and what one read does for many.
#include <catch2/catch.hpp>

#include "dialogue.hpp"

using namespace freshet;

namespace {

const Principal alice = principal(1);
const Principal bert = principal(2);

struct Two : Dialogue {
  explicit Two(const Principal& second = alice, Settings s = one_upstream(), bool sessions = true)
      : Dialogue(std::move(s)) {
    there["r"] = "A";
    Declaration declared = polled();
    declared.sessions = sessions;
    session(ann, alice, declared);
    session(bob, second, declared);
    stream(ann);
    stream(bob);
  }
  std::size_t polls_in(Duration d) {
    const std::size_t before = reads();
    pass(d);
    return reads() - before;
  }
};

Settings checking_credentials() {
  Settings s = one_upstream();
  s.upstreams[0].principal_check = 20s;
  s.upstreams[0].freshness.plan.interval = 300s;
  return s;
}

}  // namespace

TEST_CASE("two sessions of one principal cost one poll, and both are told") {
  Two d;
  d.subscribe(ann);
  d.subscribe(bob);
  CHECK(d.polls_in(300s) <= 12);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.notified(bob) == 1);
}

TEST_CASE("two principals never share a poll") {
  Two d(bert);
  d.subscribe(ann);
  d.subscribe(bob);
  CHECK(d.engine.watch_count() == 2);
  CHECK(d.polls_in(300s) >= 18);
}

TEST_CASE("a change that one session found is confirmed in the other, and later ones cost no second read") {
  Two d;
  d.subscribe(ann);
  d.subscribe(bob);
  const std::size_t quiet = d.polls_in(500s);
  std::size_t changing = 0;
  for (const char* text : {"B", "C", "D", "E", "F"}) {
    d.there["r"] = text;
    changing += d.polls_in(100s);
    CHECK(d.notified(ann) == 1);
    CHECK(d.notified(bob) == 1);
  }
  CHECK(changing <= quiet + 3);
}

TEST_CASE("a session that sees another content is watched apart, and nobody is told of the other's") {
  Two d;
  d.per_session[bob] = "Bob's own";
  d.subscribe(ann);
  d.subscribe(bob);
  d.pass(300s);
  CHECK(d.notified(ann) == 0);
  CHECK(d.notified(bob) == 0);
  CHECK(d.facts<SessionsDisagreed>().size() == 1);
  CHECK(d.engine.watch_count() == 2);
  d.per_session[bob] = "changed";
  d.pass(40s);
  CHECK(d.notified(ann) == 0);
  CHECK(d.notified(bob) == 1);
}

TEST_CASE("a session that is watched apart is not served what was read before an update that came meanwhile") {
  Declaration declared = subscribed();
  declared.sessions = true;
  Settings one_at_a_time = one_upstream();
  one_at_a_time.partners[0].budget.concurrency = 1;
  Dialogue d(one_at_a_time);
  d.there["r"] = "A";
  for (const SubscriberId who : {ann, bob}) {
    d.session(who, alice, declared);
    d.stream(who);
  }
  d.subscribe(ann);
  d.holds_reads = true;
  d.per_session[bob] = "mine";
  d.subscribe(bob);
  while (d.held_reads().empty()) d.pass(100ms);
  d.answer(d.held_reads()[0].read, content("mine"));
  d.updated(bob);
  d.per_session[bob] = "mine, later";
  while (d.held_reads().empty()) d.pass(100ms);
  d.answer(d.held_reads()[0].read, content("A"));
  d.pass(10ms);
  REQUIRE(d.facts<SessionsDisagreed>().size() == 1);
  REQUIRE(d.notified(bob) == 1);
  CHECK_FALSE(d.served(d.read(bob)));
}

TEST_CASE("sessions that agreed once and differ later are watched apart, too") {
  Two d;
  d.subscribe(ann);
  d.subscribe(bob);
  d.there["r"] = "B";
  d.pass(100s);
  d.per_session[bob] = "Bob's own";
  d.pass(200s);
  CHECK(d.facts<SessionsDisagreed>().size() == 1);
}

TEST_CASE("the read after a notification is answered from the poll that found the change") {
  Two d;
  d.subscribe(ann);
  d.there["r"] = "B";
  while (d.notified(ann) == 0) d.pass(100ms);
  const RequestId read = d.read(ann);
  CHECK(d.served(read));
  CHECK_FALSE(d.served(d.read(ann)));  // it has read
}

TEST_CASE("a read is not answered from a poll that is too old, or where that is turned off") {
  Settings off = one_upstream();
  off.upstreams[0].reads_max_age = Duration::zero();
  const bool turned_off = GENERATE(false, true);
  Two d(alice, turned_off ? off : one_upstream());
  d.subscribe(ann);
  d.there["r"] = "B";
  while (d.notified(ann) == 0) d.pass(100ms);
  if (!turned_off) d.pass(3s);
  CHECK_FALSE(d.served(d.read(ann)));
}

TEST_CASE("who writes reads what was written") {
  Two d;
  d.subscribe(ann);
  d.there["r"] = "B";
  while (d.notified(ann) == 0) d.pass(10ms);
  d.tell(WriteEnded{ann});
  CHECK_FALSE(d.served(d.read(ann)));
}

TEST_CASE("a read after an update of its URI is not answered from an older poll") {
  Two d;
  d.subscribe(ann);
  d.there["r"] = "B";
  while (d.notified(ann) == 0) d.pass(10ms);
  d.updated(ann);
  CHECK_FALSE(d.served(d.read(ann)));
}

TEST_CASE("a read with parameters of its own travels") {
  Two d;
  d.subscribe(ann);
  d.there["r"] = "B";
  while (d.notified(ann) == 0) d.pass(10ms);
  CHECK_FALSE(d.served(d.read(ann, "r", false)));
}

TEST_CASE("a read joins a poll that is under way, but not one that was sent before the session wrote") {
  Two d;
  d.subscribe(ann);
  d.holds_reads = true;
  d.pass(40s);
  REQUIRE(d.held_reads().size() == 1);
  const bool wrote = GENERATE(false, true);
  d.pass(1ms);
  if (wrote) d.tell(WriteEnded{ann});
  const RequestId read = d.read(ann);
  CHECK(d.held_client_reads().size() == (wrote ? 1 : 0));
  d.answer_held();
  CHECK(d.served(read) == !wrote);
}

TEST_CASE("who joined a read that failed goes on alone") {
  Two d;
  d.subscribe(ann);
  d.holds_reads = true;
  d.pass(40s);
  d.read(ann);
  CHECK(d.held_client_reads().empty());
  d.answer(d.held_reads()[0].read, Failed{Failure::timeout});
  CHECK(d.held_client_reads().size() == 1);
}

TEST_CASE("401 stops the principal's reads at once, tells each subscription once, and drops what was kept") {
  Two d;
  d.there["s"] = "A";
  d.subscribe(ann);
  d.subscribe(ann, "s");
  d.instead["r"] = Unauthorized{};
  d.instead["s"] = Unauthorized{};
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.notified(ann, "s") == 1);
  CHECK(d.facts<PrincipalRefused>().size() == 1);
  CHECK_FALSE(d.served(d.read(ann)));
  CHECK(d.polls_in(3600s) == 0);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("a client's read that succeeds after a 401 has its principal polled again") {
  Two d;
  d.subscribe(ann);
  d.instead["r"] = Unauthorized{};
  d.pass(40s);
  d.instead.clear();
  d.pass(40s);
  d.read(ann);
  CHECK(d.polls_in(300s) > 5);
}

TEST_CASE("403 stops that watch's reads and no other's, and is told once") {
  Two d;
  d.there["s"] = "A";
  d.subscribe(ann);
  d.subscribe(ann, "s");
  d.instead["r"] = Forbidden{};
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.facts<ResourceRefused>().size() == 1);
  d.pass(300s);
  CHECK(d.notified(ann) == 0);
  CHECK(d.facts<ResourceRefused>().size() == 1);
  d.instead.clear();
  d.read(ann);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a late 403 that was overtaken by a content forbids nothing") {
  Two d;
  d.subscribe(ann);
  d.holds_reads = true;
  d.read(ann);
  const ReadId slow = d.held_client_reads()[0].read;
  d.read(ann);
  d.answer(d.held_client_reads()[1].read, content("A"), true);
  d.answer(slow, Forbidden{});
  CHECK(d.facts<ResourceRefused>().empty());
}

TEST_CASE("one principal's refusal does not touch another's") {
  Two d(bert);
  d.subscribe(ann);
  d.subscribe(bob);
  d.holds_reads = true;
  while (d.held_reads().empty() || d.held_reads().back().via != ann) d.pass(1s);
  d.answer(d.held_reads().back().read, Unauthorized{});
  d.release_reads();
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(bob) == 1);
}

TEST_CASE("a rotated credential keeps what was seen and is used from then on") {
  Two d;
  d.read(ann);
  d.subscribe(ann);
  d.there["r"] = "B";
  d.tell(PrincipalAdopted{ann, bert});
  d.pass(1s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.engine.watch_count() == 1);
  d.tell(SubscriberClosed{bob});
  CHECK(d.engine.caller_count() == 1);
}

TEST_CASE("a refusal of the old credential does not condemn the new one") {
  Two d;
  d.subscribe(ann);
  d.holds_reads = true;
  d.pass(40s);
  const ReadId old = d.held_reads()[0].read;
  d.tell(PrincipalAdopted{ann, bert});
  d.answer(old, Unauthorized{});
  d.release_reads();
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a read that was asked with the old credential counts for it, also where it first joined another") {
  Two d;
  d.subscribe(ann);
  d.subscribe(bob);
  d.holds_reads = true;
  d.pass(40s);
  d.read(bob);
  REQUIRE(d.held_client_reads().empty());
  d.tell(PrincipalAdopted{bob, bert});
  d.answer(d.held_reads()[0].read, Failed{Failure::timeout});
  REQUIRE(d.held_client_reads().size() == 1);
  d.answer(d.held_client_reads()[0].read, Unauthorized{}, true);
  REQUIRE(d.facts<PrincipalRefused>().size() == 1);
  d.release_reads();
  d.pass(1s);
  d.notified(bob);
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(bob) == 1);
}

TEST_CASE("who takes on a credential while a read that refuses it is under way is told of the refusal") {
  Settings one_at_a_time = one_upstream();
  one_at_a_time.partners[0].budget.concurrency = 1;
  Two d(bert, one_at_a_time);
  d.subscribe(ann);
  d.subscribe(bob);
  d.holds_reads = true;
  while (d.held_reads().empty() || d.held_reads()[0].via != ann) {
    if (!d.held_reads().empty()) d.answer(d.held_reads()[0].read, content("A"));
    d.pass(1s);
  }
  d.tell(PrincipalAdopted{bob, alice});
  d.answer(d.held_reads()[0].read, Forbidden{});
  d.pass(1s);
  CHECK(d.notified(bob) == 1);
  d.pass(300s);
  CHECK(d.notified(bob) == 0);
}

TEST_CASE("what a client read itself, and then changed back without a word, is told after the watchdog's grace") {
  Declaration sessionless = subscribed();
  sessionless.sessions = false;
  Dialogue d;
  for (const SubscriberId who : {ann, bob}) {
    d.there["r"] = "A";
    d.session(who, alice, sessionless);
    d.stream(who);
    d.subscribe(who);
    d.pass(1s);
  }
  d.read(bob);
  d.there["r"] = "B";
  d.read(ann);
  d.there["r"] = "A";
  d.read(bob);
  d.pass(6s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a principal with watches makes some read each 20 seconds") {
  Two d(alice, checking_credentials());
  d.subscribe(ann);
  d.pass(300s);
  CHECK(d.polls_in(200s) >= 9);
  d.instead["r"] = Unauthorized{};
  CHECK(d.polls_in(300s) == 1);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a principal that reads by itself, is anonymous, or has no stream, is not checked") {
  Two d(Principal{}, checking_credentials());
  d.subscribe(bob);
  CHECK(d.polls_in(200s) <= 2);
  d.stream_breaks(ann);
  d.subscribe(ann);
  d.pass(61s);
  CHECK(d.polls_in(200s) <= 2);
}

TEST_CASE("content that the upstream calls public counts for every principal, other content for none") {
  const bool is_public = GENERATE(false, true);
  Two d(bert, one_upstream(), false);
  Content a = content("A");
  Content b = content("B");
  a.shareable_across_principals = b.shareable_across_principals = is_public;
  d.instead["r"] = a;
  d.subscribe(ann);
  d.subscribe(bob);
  d.instead["r"] = b;
  d.holds_reads = true;
  while (d.held_reads().empty()) d.pass(1s);
  const SubscriberId reader = d.held_reads()[0].via;
  d.answer(d.held_reads()[0].read, b);
  CHECK(d.notified(reader) == 1);
  CHECK(d.notified(reader == ann ? bob : ann) == (is_public ? 1 : 0));
}
