// Whose session it is, how long it lives, and with whose credentials it asks.
#include "tests/wire/support/sidecar.hpp"

namespace freshet::test {

namespace {
const std::string alice = "Authorization: Bearer tok-alice\r\n";
const std::string bob = "Authorization: Bearer tok-bob\r\n";

// A get of the test's own making.
std::string get(const Sidecar& s, const std::string& fields) {
  return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + s.session + "\r\n" +
         fields + "\r\n";
}
std::string remove(const Sidecar& s, const std::string& fields = {}) {
  return "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: " + s.session + "\r\n" + fields + "\r\n";
}
}  // namespace

TEST_CASE("state follows the session, and an exchange carries its own answer and nothing else (B11, B108)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    co_await s.subscribe("r://a");
    s.server.hold({"tools/call"});
    auto calling = co_await s.posts(request("tools/call"));
    const Asked call = co_await s.server.next("tools/call");
    co_await call.send(event_stream_head);
    auto stream = co_await s.stream();
    s.server.texts["r://a"] = "2";
    CHECK((co_await stream.event()).find("r://a") != std::string::npos);
    co_await call.send(event(result("7")));
    call.peer->close();
    const auto answer = co_await calling.response();
    CHECK(answer.body == event(result("7")));
    calling.peer().half_close();
    CHECK(co_await calling.to_end() == "");
  });
}

TEST_CASE("another's credential gets nothing of a session that the upstream does not give it (B30)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open(alice);
    auto stream = co_await s.stream(alice);
    co_await s.server.next("GET");
    s.server.hold({"ping", "GET", "DELETE", "resources/subscribe", "tools/call"});
    const auto refused = [&](PlayedClient& client, std::vector<std::string> asked) -> Task<> {
      for (const std::string& method : asked) {
        const Asked as_bob = co_await s.server.next(method);
        CHECK(as_bob.field("Authorization") == "Bearer tok-bob");
        co_await as_bob.send(http("403 Forbidden", "not yours"));
      }
      const auto answer = co_await client.response();
      CHECK(answer.status == 403);
      CHECK(answer.body == "not yours");
    };
    auto getting = co_await s.sends(get(s, bob));
    co_await refused(getting, {"ping", "GET"});
    auto subscribing = co_await s.posts(subscribe_to("r://a"), bob);
    co_await refused(subscribing, {"ping", "resources/subscribe"});
    auto calling = co_await s.posts(request("tools/call"), bob);
    co_await refused(calling, {"tools/call"});
    auto deleting = co_await s.sends(remove(s, bob));
    co_await refused(deleting, {"DELETE"});
    CHECK(s.server.count("resources/read") == 0);
    s.server.hold({});
    co_await s.subscribe("r://a", alice);
    CHECK((co_await s.server.next("resources/read")).field("Authorization") == "Bearer tok-alice");
    s.server.texts["r://a"] = "2";
    CHECK((co_await stream.event()).find("r://a") != std::string::npos);
  });
}

TEST_CASE("another's credential cannot end a session by what the upstream answers to it (B30)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open(alice);
    auto stream = co_await s.stream(alice);
    co_await s.subscribe("r://a", alice);
    s.server.hold({"tools/call", "DELETE"});
    auto calling = co_await s.posts(request("tools/call"), bob);
    co_await (co_await s.server.next("tools/call")).send(s.server.unknown_session);
    CHECK((co_await calling.response()).status == 404);
    for (const char* status : {"404 Not Found", "405 Method Not Allowed"}) {
      auto deleting = co_await s.sends(remove(s, bob));
      co_await (co_await s.server.next("DELETE")).send(http(status, ""));
      CHECK((co_await deleting.response()).status >= 404);
    }
    CHECK(s.server.count("initialize") == 1);
    s.server.texts["r://a"] = "2";
    CHECK((co_await stream.event()).find("r://a") != std::string::npos);
    CHECK((co_await s.post(request("ping"), alice)).status == 200);
  });
}

TEST_CASE("a newer credential of the same client is adopted once the upstream took it (B94)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open(alice);
    auto stream = co_await s.stream(alice);
    co_await s.subscribe("r://a", alice);
    CHECK((co_await s.post(request("tools/list"), "Authorization: Bearer tok-alice-2\r\n")).status == 200);
    Asked poll = co_await s.server.next("resources/read");
    while (poll.field("Authorization") != "Bearer tok-alice-2") poll = co_await s.server.next("resources/read");
    s.server.texts["r://a"] = "2";
    CHECK((co_await stream.event()).find("r://a") != std::string::npos);
  });
}

TEST_CASE("one 401 quiets all polls of a principal, its stream stays, and a newer credential wakes them (B94)") {
  Sidecar sidecar([](Sidecar& s) { s.server.texts = {{"r://a", "1"}, {"r://b", "1"}, {"r://other", "1"}}; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open(bob);
    auto other = co_await s.stream(bob);
    co_await s.subscribe("r://other", bob);
    co_await s.open(alice);
    auto stream = co_await s.stream(alice);
    co_await s.subscribe("r://a", alice);
    co_await s.subscribe("r://b", alice);
    s.server.hold({"resources/read"});
    std::string refused;
    for (int others = 0; others < 6;) {
      const Asked poll = co_await s.server.next("resources/read");
      const bool mine = poll.field("Authorization") == "Bearer tok-alice";
      const std::string expired = http("401 Unauthorized", "", "WWW-Authenticate: Bearer\r\n");
      co_await poll.send(mine ? expired : json_http(result(poll.id, contents(poll.uri, "1"))));
      if (mine) refused += poll.uri + " ";
      others += mine ? 0 : 1;
    }
    CAPTURE(refused);
    CHECK(refused.size() >= std::size("r://a"));
    CHECK(refused.size() <= std::size("r://a r://b"));  // the second may have been under way
    s.server.hold({});
    s.server.texts["r://a"] = "2";
    CHECK((co_await s.post(request("ping"), "Authorization: Bearer tok-new\r\n")).status == 200);
    const auto told = co_await stream.events_until("r://a");
    CHECK(told.size() <= 3);  // that it lost sight of both, and this
  });
}

TEST_CASE("what a client carries in its query, its own requests carry too") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    const std::string body = request(
        "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}})");
    const auto with_key = [&](const std::string& text) {
      return "POST /mcp?key=k1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
             (s.session.empty() ? "" : "Mcp-Session-Id: " + s.session + "\r\n") +
             "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
    };
    auto opening = co_await s.sends(with_key(body));
    s.session = (co_await opening.response()).field("Mcp-Session-Id");
    auto subscribing = co_await s.sends(with_key(subscribe_to("r://a")));
    CHECK((co_await subscribing.response()).body == result("4"));
    const Asked baseline = co_await s.server.next("resources/read");
    CHECK(baseline.head.find("POST /mcp?key=k1 HTTP/1.1\r\n") == 0);
    CHECK(s.server.count("ping") == 0);
  });
}

TEST_CASE("405 to DELETE ends what Freshet did for the session and leaves the id to the upstream (B29)") {
  Sidecar sidecar([](Sidecar& s) { s.server.texts["r://b"] = "1"; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    co_await s.subscribe("r://a");
    s.server.hold({"DELETE"});
    auto deleting = co_await s.sends(remove(s));
    const Asked asked = co_await s.server.next("DELETE");
    CHECK(asked.field("Mcp-Session-Id") == "s1");
    co_await asked.send(http("405 Method Not Allowed", ""));
    CHECK((co_await deleting.response()).status == 405);
    const auto reads_then = s.server.reads_of("r://a");
    CHECK((co_await s.post(request("ping"))).body == result("7"));
    co_await s.open();
    auto stream = co_await s.stream();
    co_await s.subscribe("r://b");
    for (const char* text : {"2", "3"}) {
      s.server.texts["r://b"] = s.server.texts["r://a"] = text;
      CHECK((co_await stream.event()).find("r://b") != std::string::npos);
    }
    CHECK(s.server.reads_of("r://a") == reads_then);
  });
}

TEST_CASE("404 to the owner's DELETE ends the session (B29)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"DELETE"});
    auto deleting = co_await s.sends(remove(s));
    co_await (co_await s.server.next("DELETE")).send(http("404 Not Found", ""));
    CHECK((co_await deleting.response()).status == 404);
    CHECK((co_await s.post(request("ping"))).status == 404);
    CHECK(s.server.count("ping") == 0);
  });
}

TEST_CASE("sessions that were never used cost nothing, and are given back after a short time (B109)") {
  Sidecar sidecar([](Sidecar& s) { s.upstream().sessions.unused_max = 100ms; });
  sidecar.run([](Sidecar& s) -> Task<> {
    const std::string body = request(
        "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}})");
    for (int i = 0; i < 30; ++i) CHECK((co_await s.post(body)).status == 200);
    for (int i = 0; i < 30; ++i) co_await s.server.next("DELETE");
    CHECK(s.server.count("GET") + s.server.count("resources/read") == 0);
    co_await s.until_metric("freshet_sessions{partner=\"u\",upstream=\"u\"} 0");
  });
}

}  // namespace freshet::test
