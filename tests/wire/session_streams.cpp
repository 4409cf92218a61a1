// Streams of clients: kept alive, resumed, left, slow.
#include "tests/wire/support/sidecar.hpp"

namespace freshet::test {

namespace {

const std::string vendor = R"({"jsonrpc":"2.0","method":"notifications/vendor/thing","params":{"a":1}})";

std::string id_of(const std::string& event) {
  const auto at = event.find("id: ");
  REQUIRE(at != std::string::npos);
  return event.substr(at + 4, event.find('\n', at) - at - 4);
}

}  // namespace

TEST_CASE("every open event stream gets a comment when nothing was said for long (B33)") {
  Sidecar sidecar([](Sidecar& s) { s.settings.streams.keepalive_interval = 30ms; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    for (int i = 0; i < 3; ++i) CHECK(co_await stream.block() == ":\n\n");
    s.server.hold({"tools/call"});
    auto calling = co_await s.posts(request("tools/call"));
    const Asked call = co_await s.server.next("tools/call");
    co_await call.send(event_stream_head);
    CHECK((co_await calling.head()).field("X-Accel-Buffering") == "no");
    for (int i = 0; i < 3; ++i) CHECK(co_await calling.block() == ":\n\n");
    co_await call.send(event(result("7")));
    CHECK(co_await calling.event() == event(result("7")));
  });
}

TEST_CASE("an answer's stream is relayed byte for byte, comments only between its events (B45, B42)") {
  Sidecar sidecar([](Sidecar& s) { s.settings.streams.keepalive_interval = 20ms; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"tools/call"});
    auto calling = co_await s.posts(request("tools/call"));
    const Asked call = co_await s.server.next("tools/call");
    const std::vector<std::string> said{"id: u-41\nretry: 2000\ndata:\n\n", "event: ping\ndata: 2026-01-01\n\n: hi\n\n",
                                        "id: u-42\nda", "ta: " + result("7") + "\n\n"};
    auto beside = co_await s.stream();
    co_await call.send(event_stream_head);
    co_await calling.head();
    std::string wanted;
    for (const std::string& piece : said) {
      wanted += piece;
      co_await call.send(piece);
      for (int i = 0; i < 3; ++i) co_await beside.block();  // long enough for a comment
    }
    call.peer->close();
    std::string got;
    for (std::string piece = co_await calling.chunk(); !piece.empty(); piece = co_await calling.chunk()) {
      if (piece != ":\n\n") got += piece;
    }
    CHECK(got == wanted);
  });
}

TEST_CASE("a cursor of an answer's stream goes to the upstream and disturbs no other stream (B43)") {
  Sidecar sidecar(notifying);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    auto resuming = co_await s.sends(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        "Mcp-Session-Id: s1\r\nLast-Event-ID: p1\r\n\r\n");
    const Asked resumed = co_await s.server.next("GET");
    CHECK(resumed.field("Last-Event-ID") == "p1");
    co_await resumed.send(http("200 OK", "", "Content-Type: text/event-stream\r\n"));
    CHECK((co_await resuming.response()).body == "");
    co_await up.send(event(vendor));
    CHECK((co_await stream.event()).find("vendor") != std::string::npos);
  });
}

TEST_CASE("a cursor that nobody knows opens a fresh stream, and what the upstream says of the caller passes (B44)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    using Case = std::pair<const char*, int>;
    const auto [said, heard] = GENERATE(Case{"401 Unauthorized", 401}, Case{"404 Not Found", 404},
                                        Case{"400 Bad Request", 200}, Case{"405 Method Not Allowed", 200},
                                        Case{"409 Conflict", 200}, Case{"500 Internal Server Error", 200});
    co_await s.open();
    s.server.hold({"GET"});
    auto resuming = co_await s.sends(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
        "Mcp-Session-Id: s1\r\nLast-Event-ID: nonsense-999\r\n\r\n");
    const Asked asked = co_await s.server.next("GET");
    CHECK(asked.field("Last-Event-ID") == "nonsense-999");
    co_await asked.send(http(said, "no", "Content-Type: text/plain\r\n"));
    CHECK((co_await resuming.head()).status == heard);
  });
}

TEST_CASE("a cursor that Freshet gave to another session replays nothing and never reaches the upstream (B44)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    std::string foreign;
    for (const char* text : {"2", "3"}) {
      co_await s.open();
      auto stream = co_await s.stream(foreign.empty() ? "" : "Last-Event-ID: " + foreign + "\r\n");
      co_await s.subscribe("r://a");
      s.server.texts["r://a"] = text;
      const std::string told = co_await stream.event();
      CHECK(id_of(told) != foreign);
      foreign = id_of(told);
    }
    for (std::size_t i = s.server.count("GET"); i > 0; --i) {
      CHECK((co_await s.server.next("GET")).field("Last-Event-ID").empty());
    }
  });
}

TEST_CASE("what was sent after a cursor is replayed once and in order, also after a second loss (B44)") {
  Sidecar sidecar(notifying);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    for (const char* n : {"1", "2", "3"}) co_await up.send(event(request("vendor/n", "{}", n)));
    const std::string first = co_await stream.event();
    const auto rest = co_await stream.events_until("\"id\":3");
    for (int loss = 0; loss < 2; ++loss) {
      stream.peer().reset();
      stream = co_await s.stream("Last-Event-ID: " + id_of(first) + "\r\n");
      CHECK(co_await stream.events_until("\"id\":3") == rest);
    }
    co_await up.send(event(vendor));
    CHECK((co_await stream.event()).find("vendor") != std::string::npos);
  });
}

TEST_CASE("a client that leaves an answer's stream frees its connection to the upstream, 300 times (B47)") {
  Sidecar sidecar([](Sidecar& s) { s.upstream().connections.max = 4; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"tools/call"});
    for (int i = 0; i < 300; ++i) {
      auto calling = co_await s.posts(request("tools/call"));
      const Asked call = co_await s.server.next("tools/call");
      co_await call.send(event_stream_head);
      co_await calling.head();
      calling.peer().close();
      co_await s.server.changes().until([&] { return *call.ended; }, "the upstream's connection ends");
    }
    CHECK((co_await s.post(request("ping"))).status == 200);
    CHECK(s.server.count("notifications/cancelled") == 0);
  });
}

TEST_CASE("streams that wait do not count against the connections of calls (B47)") {
  Sidecar sidecar([](Sidecar& s) {
    notifying(s);
    s.upstream().connections.max = 1;
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    std::vector<PlayedClient> streams;
    for (int i = 0; i < 3; ++i) {
      co_await s.open();
      streams.push_back(co_await s.stream());
      co_await s.server.next_stream();
    }
    CHECK((co_await s.post(request("ping"))).status == 200);
  });
}

TEST_CASE("a client that does not read is cut, what it got is whole and in order, and its next stream goes on (B49)") {
  Sidecar sidecar([](Sidecar& s) {
    notifying(s);
    s.settings.listen.write_stall_max = 300ms;
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto slow = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    const std::string padding(256 * 1024, 'x');
    for (int n = 1; n <= 64; ++n) co_await up.send(event(request(padding, "{}", std::to_string(n))));
    co_await s.until_metric("freshet_streams{partner=\"u\",upstream=\"u\"} 0");
    const std::string got = co_await slow.to_end();
    int whole = 0;
    for (std::size_t at = 0;; ++whole) {
      at = got.find("\"id\":" + std::to_string(whole + 1) + ",", at);
      if (at == std::string::npos) break;
    }
    CHECK(whole > 0);
    CHECK(whole < 64);
    auto next = co_await s.stream();
    co_await up.send(event(vendor));
    CHECK((co_await next.events_until("vendor")).size() < 64);
  });
}

TEST_CASE("an answer does not wait behind notifications that a client does not take (B50)") {
  Sidecar sidecar(notifying);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stalled = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    std::string many;
    for (int i = 0; i < 5'000; ++i) many += event(vendor);
    co_await up.send(many);
    CHECK((co_await s.post(request("tools/call", "{}", "9"))).body == result("9"));
  });
}

TEST_CASE("an answer that ends before its response ends the same way for the client, and nothing is invented (B51)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"tools/call"});
    auto calling = co_await s.posts(request("tools/call"));
    const Asked call = co_await s.server.next("tools/call");
    co_await call.send(event_stream_head + ": hello\n\n");
    call.peer->half_close();
    CHECK((co_await calling.response()).body == ": hello\n\n");
    auto again = co_await s.posts(request("tools/call"));
    co_await (co_await s.server.next("tools/call")).send(json_http(""));
    const auto empty = co_await again.response();
    CHECK(empty.status == 200);
    CHECK(empty.body.empty());
  });
}

TEST_CASE("a poll that is answered with nothing tells nothing (B51, B72)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    co_await s.subscribe("r://a");
    co_await s.server.next("resources/read");
    s.server.hold({"resources/read"});
    const std::vector<std::string> nothing{
        json_http(""), http("200 OK", "", "Content-Type: text/event-stream\r\n"),
        json_http(R"({"jsonrpc":"2.0","id":"server-error","error":{"code":-32603,"message":"x"}})"),
        json_http(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x"}})")};
    for (const std::string& answer : nothing) {
      co_await (co_await s.server.next("resources/read")).send(answer);
      const Asked good = co_await s.server.next("resources/read");
      co_await good.send(json_http(result(good.id, contents("r://a", "1"))));
    }
    s.server.hold({});
    s.server.texts["r://end"] = "1";
    co_await s.subscribe("r://end");
    s.server.texts["r://end"] = "2";
    CHECK((co_await stream.events_until("r://end")).size() == 1);
  });
}

TEST_CASE("a call that was cancelled ends for the client, although the upstream leaves it open (B105)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"tools/call"});
    auto calling = co_await s.posts(request("tools/call", "{}", "3"));
    const Asked call = co_await s.server.next("tools/call");
    co_await call.send(event_stream_head + event(vendor));
    const std::string cancel = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})";
    CHECK((co_await s.post(cancel)).status == 202);
    CHECK((co_await s.server.next("notifications/cancelled")).body == cancel);
    CHECK((co_await calling.response()).body == event(vendor));
    co_await s.server.changes().until([&] { return *call.ended; }, "the upstream's connection ends");
  });
}

TEST_CASE("a call whose client left is neither cancelled nor waited for without end (B47)") {
  Sidecar sidecar([](Sidecar& s) {
    s.upstream().connections.max = 1;
    s.upstream().timeouts.head = 500ms;
    s.server.hold({"tools/call"});
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto leaves = co_await s.posts(request("tools/call"));
    const Asked call = co_await s.server.next("tools/call");
    leaves.peer().close();
    co_await s.turn();
    CHECK_FALSE(*call.ended);
    CHECK((co_await s.post(request("ping"))).status == 200);  // it waits for the only connection
    CHECK(*call.ended);
    CHECK(s.server.count("notifications/cancelled") == 0);
  });
}

}  // namespace freshet::test
