// The upstream's own notifications, on their way to one session's client.
#include <algorithm>

#include "tests/wire/support/sidecar.hpp"

namespace freshet::test {

namespace {

const std::string board = "board://team-7/status";
const std::string vendor = R"({"jsonrpc":"2.0","method":"notifications/vendor/thing","params":{"a":1}})";

void native(Sidecar& s) {
  notifying(s);
  s.server.texts[board] = "1";
}

}  // namespace

TEST_CASE("updates reach the subscriber's stream, of the URI and of what lies below it, byte for byte (B06)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    co_await s.subscribe(board);
    CHECK(s.server.count("resources/subscribe") == 1);
    const std::string below = updated(board + "/item/3%20%C3%A9");
    co_await up.send(event(updated(board)) + event(below));
    CHECK((co_await stream.event()).find("data: " + updated(board) + "\n") != std::string::npos);
    CHECK((co_await stream.event()).find("data: " + below + "\n") != std::string::npos);
  });
}

TEST_CASE("what Freshet does not know is relayed unchanged and in order (B07, B42)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    const std::string changed = R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})";
    co_await up.send("event: ping\ndata: 2026-01-01\n\n" + event(R"({"type":"heartbeat"})") + event("not json") +
                     event(vendor) + event(changed));
    const std::string ping = co_await stream.event();
    CHECK(ping.find("event: ping\n") != std::string::npos);
    CHECK(ping.find("data: 2026-01-01\n") != std::string::npos);
    for (const std::string& data : {std::string(R"({"type":"heartbeat"})"), std::string("not json"), vendor, changed}) {
      CHECK((co_await stream.event()).find("data: " + data + "\n") != std::string::npos);
    }
  });
}

TEST_CASE("of a burst of updates the last is told after it came, and the others are few (B18)") {
  Sidecar sidecar([](Sidecar& s) {
    native(s);
    s.upstream().notify_min_interval = 200ms;
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    co_await s.subscribe(board);
    co_await up.send(event(updated(board)));
    co_await stream.event();
    for (int i = 0; i < 99; ++i) co_await up.send(event(updated(board)));
    CHECK((co_await stream.event()).find(board) != std::string::npos);
    co_await up.send(event(vendor));
    const auto rest = co_await stream.events_until("vendor");
    CHECK(rest.size() <= 2);
  });
}

TEST_CASE("only the subscriber is told, and it is told once (B10)") {
  Sidecar sidecar([](Sidecar& s) { s.server.texts = {{"r://a", "1"}, {"r://b", "1"}, {"r://c", "1"}}; });
  sidecar.run([](Sidecar& s) -> Task<> {
    std::vector<PlayedClient> streams;
    for (const char* uri : {"r://a", "r://b", "r://c"}) {
      co_await s.open();
      streams.push_back(co_await s.stream());
      co_await s.subscribe(uri);
    }
    s.server.texts["r://a"] = "2";
    CHECK((co_await streams[0].event()).find("r://a") != std::string::npos);
    for (const char* uri : {"r://a", "r://b", "r://c"}) s.server.texts[uri] = "3";
    CHECK((co_await streams[0].event()).find("r://a") != std::string::npos);
    CHECK((co_await streams[1].event()).find("r://b") != std::string::npos);
    CHECK((co_await streams[2].event()).find("r://c") != std::string::npos);
  });
}

TEST_CASE("a change while the upstream's stream was away is told (P2)") {
  Sidecar sidecar([](Sidecar& s) {
    native(s);
    s.upstream().freshness.interval = 1h;
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    co_await s.subscribe(board);
    s.server.texts[board] = "2";
    up.peer->close();
    co_await s.server.next_stream();
    CHECK((co_await stream.event()).find(board) != std::string::npos);
  });
}

TEST_CASE("a stream that cannot be had means polling, without asking again and again (B37)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next("GET");
    co_await up.send(http("200 OK", "see docs", "Content-Type: text/plain\r\n"));
    s.server.hold({});
    co_await s.subscribe(board);
    const auto asked_before = s.server.count("GET");
    s.server.texts[board] = "2";
    CHECK((co_await stream.event()).find(board) != std::string::npos);
    s.server.texts[board] = "3";
    CHECK((co_await stream.event()).find(board) != std::string::npos);
    CHECK(s.server.count("GET") == asked_before);
  });
}

TEST_CASE("a stream that closes at once is opened again ever more rarely (B38)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    std::vector<net::Clock::duration> waits;
    for (int i = 0; i < 4; ++i) {
      const auto since = net::Clock::now();
      const Asked up = co_await s.server.next_stream();
      waits.push_back(net::Clock::now() - since);
      up.peer->close();
    }
    CHECK(waits[1] >= 190ms);
    CHECK(waits[2] >= 390ms);
    CHECK(waits[3] >= 790ms);
  });
}

TEST_CASE("a stream that brings events without ids is no flap (B38)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    for (int i = 0; i < 9; ++i) {
      const auto since = net::Clock::now();
      const Asked up = co_await s.server.next_stream();
      CHECK(net::Clock::now() - since < 2s);
      co_await up.send(event(vendor));
      co_await stream.event();
      up.peer->close();
    }
  });
}

TEST_CASE("retry and Retry-After are waited for before the stream is opened again (B46, B38)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const auto waited_after = [&](std::string said) -> Task<net::Clock::duration> {
      const Asked up = co_await s.server.next("GET");
      co_await up.send(said);
      up.peer->close();
      const auto since = net::Clock::now();
      co_await s.server.changes().until([&, n = s.server.count("GET")] { return s.server.count("GET") > n; }, "a GET");
      co_return net::Clock::now() - since;
    };
    CHECK(co_await waited_after(event_stream_head + "retry: 0\nid: 1\ndata:\n\n") >= 90ms);
    CHECK(co_await waited_after(event_stream_head + "retry: 700\nid: 2\ndata:\n\n") >= 690ms);
    CHECK(co_await waited_after(event_stream_head + "retry: 12x\nid: 3\ndata:\n\n") >= 690ms);
    CHECK(co_await waited_after(http("429 Too Many Requests", "", "Retry-After: 2\r\n")) >= 1900ms);
  });
}

TEST_CASE("an upstream that still holds the old stream is asked again, and its cursor is handed back (B36, B44)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked first = co_await s.server.next_stream();
    co_await first.send("id: u-7\n" + event(vendor));
    CHECK((co_await stream.event()).find("u-7") == std::string::npos);
    first.peer->close();
    const Asked refused = co_await s.server.next("GET");
    co_await refused.send(http("409 Conflict", ""));
    const Asked again = co_await s.server.next_stream();
    CHECK(again.field("Last-Event-ID") == "u-7");
    co_await again.send(event(vendor));
    CHECK((co_await stream.event()).find("vendor") != std::string::npos);
  });
}

TEST_CASE("a second stream of a client takes over, and the upstream sees nothing of it (B36, B108)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto first = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    auto second = co_await s.stream();
    CHECK((co_await first.rest()).find("data:") == std::string::npos);
    co_await up.send(event(vendor));
    CHECK((co_await second.event()).find("vendor") != std::string::npos);
    CHECK(s.server.count("GET") == 1);
    CHECK_FALSE(*up.ended);
  });
}

TEST_CASE("with a client's stream the upstream's requests go there, and the answer goes back as it is (B107)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    co_await up.send(event(request("ping", "{}", "1")));
    CHECK((co_await stream.event()).find(request("ping", "{}", "1")) != std::string::npos);
    CHECK(s.server.count("answer") == 0);
    co_await s.post(result("1"));
    const Asked answer = co_await s.server.next("answer");
    CHECK(answer.body == result("1"));
  });
}

TEST_CASE("without a client's stream a ping is answered, and other requests wait for the client (B107)") {
  Sidecar sidecar(native);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    stream.peer().close();
    co_await s.until_metric("freshet_streams{partner=\"u\",upstream=\"u\"} 0");
    const std::string elicitation = request("elicitation/create", R"({"message":"ok?"})", "\"e1\"");
    co_await up.send(event(elicitation) + event(request("ping", "{}", "1")));
    const Asked pong = co_await s.server.next("answer");
    CHECK(pong.body == result("1"));
    CHECK(pong.field("Mcp-Session-Id") == "s1");
    auto back = co_await s.stream();
    CHECK((co_await back.event()).find(elicitation) != std::string::npos);
    CHECK(s.server.count("answer") == 1);
  });
}

TEST_CASE("the silence limits of calls do not hold for the upstream's stream (B35)") {
  Sidecar sidecar([](Sidecar& s) {
    native(s);
    s.upstream().timeouts.body_stall = 50ms;
    s.upstream().timeouts.head = 50ms;
    s.settings.streams.keepalive_interval = 60ms;
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    for (int i = 0; i < 4; ++i) CHECK(co_await stream.block() == ":\n\n");
    co_await up.send(event(vendor));
    CHECK((co_await stream.event()).find("vendor") != std::string::npos);
    CHECK(s.server.count("GET") == 1);
  });
}

TEST_CASE("line ends in what is told cannot add fields to an event (B59)") {
  Sidecar sidecar([](Sidecar& s) { s.server.texts["r://x\ndata: y\r\nid: 9"] = "1"; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    co_await s.subscribe(R"(r://x\ndata: y\r\nid: 9)");
    s.server.texts["r://x\ndata: y\r\nid: 9"] = "2";
    const std::string told = co_await stream.event();
    CHECK(told.find(R"("uri":"r://x\ndata: y\r\nid: 9")") != std::string::npos);
    CHECK(std::count(told.begin(), told.end(), '\n') == 3);
  });
}

TEST_CASE("an update on the stream of an answer reaches the client there alone, and counts as life (B06)") {
  Sidecar sidecar([](Sidecar& s) {
    native(s);
    s.server.hold({"GET", "tools/call"});
    s.upstream().freshness.watchdog_silence = 500ms;
    s.upstream().freshness.watchdog_grace = 50ms;
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    co_await s.subscribe(board);
    auto calling = co_await s.posts(request("tools/call"));
    const Asked call = co_await s.server.next("tools/call");
    s.server.texts[board] = "2";
    const std::string said = event(updated(board)) + event(result("7"));
    co_await call.send(event_stream_head + said);
    call.peer->close();
    CHECK((co_await calling.response()).body == said);
    co_await s.until_metric(R"(freshet_watchdog_checks_total{partner="u",result="rebased",upstream="u"} 1)");
    co_await up.send(event(vendor));
    CHECK((co_await stream.event()).find("vendor") != std::string::npos);
    co_await s.until_metric(R"(freshet_watchdog_checks_total{partner="u",result="broken",upstream="u"} 0)");
  });
}

TEST_CASE("what a client that is away has no room for is counted, one by one (B49)") {
  Sidecar sidecar([](Sidecar& s) {
    native(s);
    s.settings.streams.outbox_bytes_max = 2 * vendor.size();
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    stream.peer().close();
    co_await s.until_metric("freshet_streams{partner=\"u\",upstream=\"u\"} 0");
    for (int i = 0; i < 7; ++i) co_await up.send(event(vendor));
    co_await s.until_metric(R"(freshet_messages_dropped_total{partner="u",upstream="u"} 5)");
  });
}

}  // namespace freshet::test
