// Not found is not deletion; lists are scanned until they can be believed.
#include <catch2/catch.hpp>

#include "dialogue.hpp"
#include "strategies/list_scan.hpp"

using namespace freshet;

namespace {

struct Listed : Dialogue {
  explicit Listed(Settings s = one_upstream(), const Declaration& declared = polled()) : Dialogue(std::move(s)) {
    there = {{"r", "A"}, {"s", "A"}};
    list = {{"r"}, {"s"}};
    session(ann, {}, declared);
    stream(ann);
    subscribe(ann);
  }
};

ListPage page(std::vector<std::string> uris, std::optional<std::string> next = {},
              std::optional<std::string> snapshot = {}) {
  ListPage p;
  for (std::string& uri : uris) p.resources.push_back({uri, content(uri).digest});
  p.next_cursor = std::move(next);
  p.snapshot = std::move(snapshot);
  return p;
}

}  // namespace

TEST_CASE("not found is confirmed by two equal scans of the list, then told once, then looked for more rarely") {
  Listed d;
  d.there.erase("r");
  d.list = {{"s"}, {"t"}};
  d.pass(33s);
  CHECK(d.list_pages() == 4);
  CHECK(d.notified(ann) == 1);
  CHECK(d.view(ann).presence == Presence::absent);
  const std::size_t before = d.reads();
  d.pass(1000s);
  CHECK(d.reads() - before < 7);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("a resource that is not found but still listed stays pending, and nobody is told") {
  Listed d;
  d.there.erase("r");
  d.pass(1000s);
  CHECK(d.view(ann).presence == Presence::tombstone_pending);
  CHECK(d.notified(ann) == 0);
  d.list = {{"s"}};
  d.pass(400s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("a resource that was gone and comes back is a change, one that was only doubted is not") {
  Listed d;
  d.there.erase("r");
  d.pass(100s);
  CHECK(d.view(ann).presence == Presence::tombstone_pending);
  d.there["r"] = "A";
  d.pass(400s);
  CHECK(d.notified(ann) == 0);
  d.there.erase("r");
  d.list = {{"s"}};
  d.pass(100s);
  CHECK(d.notified(ann) == 1);
  d.there["r"] = "A";
  d.pass(400s);
  CHECK(d.notified(ann) == 0);  // what it comes back as is what the subscriber holds
  d.there["r"] = "B";
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("an empty answer for a resource that is gone is no second change") {
  Listed d;
  d.there.erase("r");
  d.list = {{"s"}};
  d.pass(40s);
  CHECK(d.notified(ann) == 1);
  Content nothing = content("[]");
  nothing.empty = true;
  d.instead["r"] = nothing;
  d.pass(600s);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("where lists cannot be had, a second read confirms") {
  Listed d;
  d.list.clear();
  d.there.erase("r");
  d.pass(100s);
  CHECK(d.notified(ann) == 1);
  CHECK(d.facts<ListScanned>().back().result == ListResult::failed);
}

TEST_CASE("list_changed has a resource that is gone looked for at once") {
  Listed d;
  d.there.erase("r");
  d.list = {{"s"}};
  d.pass(40s);
  d.notified(ann);
  d.there["r"] = "B";
  d.list = {{"r"}, {"s"}};
  d.tell(ListChangeArrived{ann});
  d.pass(5s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("an unsubscribe ends a pending tombstone without a word") {
  Listed d;
  d.there.erase("r");
  d.pass(33s);
  d.unsubscribe(ann);
  d.list = {{"s"}};
  d.pass(600s);
  CHECK(d.notified(ann) == 0);
}

TEST_CASE("a scan is believed after two complete ones in a row with equal digests") {
  ListScan scan(Instant{}, false, {});
  CHECK(scan.page(page({"a"}, "x"), Instant{}).next == ListScan::Next::page);
  CHECK(scan.cursor() == "x");
  CHECK(scan.page(page({"b"}), Instant{}).next == ListScan::Next::page);
  CHECK_FALSE(scan.cursor().has_value());
  const ListScan::Step last = scan.page(page({"b", "a"}), Instant{});
  CHECK(last.next == ListScan::Next::done);
  CHECK(last.result == ListResult::unproven);
  CHECK(scan.proof() == SnapshotProof::unproven);
  CHECK(scan.contains("a"));
  CHECK_FALSE(scan.contains("c"));
}

TEST_CASE("a change across the pages of a scan is not believed") {
  ListScan scan(Instant{}, false, {});
  scan.page(page({"a", "b"}, "x"), Instant{});
  scan.page(page({"b", "c"}), Instant{});  // a was removed before the second page: b came twice
  CHECK(scan.page(page({"b", "c"}), Instant{}).result == ListResult::differing);
  CHECK(scan.page(page({"b", "c"}), Instant{}).next == ListScan::Next::done);
}

TEST_CASE("an empty cursor is a cursor") {
  ListScan scan(Instant{}, false, {});
  CHECK(scan.page(page({"a"}, ""), Instant{}).next == ListScan::Next::page);
  CHECK(scan.cursor() == "");
}

TEST_CASE("a looping cursor, a refused cursor and a change meanwhile each begin the scan again, and not for ever") {
  ListScan scan(Instant{}, false, {});
  const int how = GENERATE(0, 1, 2);
  int steps = 0;
  for (; steps < 100; ++steps) {
    scan.page(page({"a"}, "x"), Instant{});
    const ListScan::Step step = how == 0   ? scan.page(page({"a"}, "x"), Instant{})
                                : how == 1 ? scan.cursor_refused(Instant{})
                                           : scan.overtaken(Instant{});
    CHECK(step.result == (how == 0 ? ListResult::looping : how == 1 ? ListResult::bad_cursor : ListResult::overtaken));
    if (step.next == ListScan::Next::give_up) break;
    CHECK_FALSE(scan.cursor().has_value());
  }
  CHECK(steps < 10);
}

TEST_CASE("a list without an end is given up at the page limit") {
  ListScan scan(Instant{}, false, {});
  std::size_t pages = 1;
  while (scan.page(page({"a"}, std::to_string(pages)), Instant{}).next == ListScan::Next::page) ++pages;
  CHECK(pages == list_pages_max);
}

TEST_CASE("only a negotiated snapshot id, the same on every page, proves") {
  ListScan proven(Instant{}, true, {});
  proven.page(page({"a"}, "x", "7"), Instant{});
  CHECK(proven.page(page({"b"}, {}, "7"), Instant{}).result == ListResult::proven);
  CHECK(proven.proof() == SnapshotProof::proven);

  ListScan forged(Instant{}, false, {});
  forged.page(page({"a"}, "x", "7"), Instant{});
  CHECK(forged.page(page({"b"}, {}, "7"), Instant{}).next == ListScan::Next::page);

  ListScan torn(Instant{}, true, {});
  torn.page(page({"a"}, "x", "7"), Instant{});
  CHECK(torn.page(page({"b"}, {}, "8"), Instant{}).next == ListScan::Next::page);
}

TEST_CASE("where the operator wants it and the upstream does not tell, list changes are told, and no content change") {
  Settings s = one_upstream();
  s.upstreams[0].list_polling = true;
  const bool tells_itself = GENERATE(false, true);
  Declaration declared = polled();
  declared.list_changed = tells_itself;
  Listed d(s, declared);
  d.pass(400s);
  CHECK(d.list_changes(ann) == 0);
  d.list = {{"r"}, {"s", "t"}};
  d.pass(400s);
  CHECK(d.list_changes(ann) == (tells_itself ? 0 : 1));
  d.pass(1000s);
  CHECK(d.list_changes(ann) == (tells_itself ? 0 : 1));
  CHECK(d.notified(ann) == 0);
  std::size_t shown = 0;
  d.engine.for_each_snapshot(d.now, [&](const SnapshotView& v) {
    ++shown;
    CHECK(v.proof == SnapshotProof::unproven);
    CHECK(v.resources == 3);
    CHECK(v.next_review_in.has_value());
  });
  CHECK(shown == (tells_itself ? 0 : 1));
}

TEST_CASE("lists are not polled for nobody") {
  Settings s = one_upstream();
  s.upstreams[0].list_polling = true;
  Listed d(s);
  d.stream_breaks(ann);
  d.pass(61s);
  const std::size_t before = d.list_pages();
  d.pass(3600s);
  CHECK(d.list_pages() == before);
}

TEST_CASE("a list that nobody was there to wait for is asked again when somebody comes back") {
  Dialogue d;
  d.there["r"] = "A";
  d.list = {{"s"}};
  for (const SubscriberId who : {ann, bob}) {
    d.session(who, principal(1));
    d.stream(who);
    d.subscribe(who);
  }
  d.stream_breaks(ann);
  d.pass(90s);
  d.there.erase("r");
  d.holds_reads = true;
  while (d.held_reads().empty()) d.pass(1s);
  d.tell(PartnerHoldAsked{PartnerId{0}, true});
  d.release_reads();
  d.tell(PrincipalAdopted{bob, principal(2)});
  d.tell(PartnerHoldAsked{PartnerId{0}, false});
  d.pass(1s);
  d.stream(ann);
  d.pass(60s);
  CHECK(d.notified(ann) == 1);
}

TEST_CASE("what was forbidden, and is then not found, is looked for again") {
  Dialogue d;
  d.there["r"] = "A";
  d.session(ann);
  d.stream(ann);
  d.subscribe(ann);
  d.instead["r"] = Forbidden{};
  while (d.notified(ann) == 0) d.pass(1s);
  d.instead.clear();
  d.there.clear();
  d.read(ann);
  d.there["r"] = "B";
  d.pass(600s);
  CHECK(d.notified(ann) >= 1);
}
