// What Freshet answers by itself, and what it must not take for its own.
#include <algorithm>

#include "tests/wire/support/sidecar.hpp"

namespace freshet::test {

namespace {
const std::string without_id = R"({"jsonrpc":"2.0","method":"resources/subscribe","params":{"uri":"r://a"}})";
}

TEST_CASE("an answer of Freshet's own carries the request's id as it was written (B61)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    for (const char* id : {R"("0")", R"("init-1")", "0", "-1"}) {
      const auto answer = co_await s.post(subscribe_to("r://a", id));
      CHECK(answer.status == 200);
      CHECK(answer.body == result(id));
    }
  });
}

TEST_CASE("a subscribe with a null id is refused, and nothing is watched (B63)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    const auto answer = co_await s.post(subscribe_to("r://a", "null"));
    CHECK(answer.status == 400);
    CHECK(answer.body.find("-32600") != std::string::npos);
    CHECK(s.server.count("resources/read") == 0);
    co_await s.post(request("tools/call", "{}", "null"));
    CHECK((co_await s.server.next("tools/call")).body == request("tools/call", "{}", "null"));
  });
}

TEST_CASE("a message without an id is a notification: passed on, not answered, not acted on (B65)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    for (const std::string& said :
         {std::string(R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})"), without_id}) {
      const auto answer = co_await s.post(said);
      CHECK(answer.status == 202);
      CHECK(answer.body.empty());
    }
    CHECK((co_await s.server.next("resources/subscribe")).body == without_id);
    CHECK(s.server.count("resources/read") == 0);
  });
}

TEST_CASE("names compare exactly, and a subscribe that can be read in two ways is refused (B68)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    const std::string ping =
        R"({"jsonrpc":"2.0","id":5,"method":"ping","Method":"resources/subscribe","params":{"uri":"a://1","uri":"a://2"}})";
    CHECK((co_await s.post(ping)).body == result("5"));
    CHECK((co_await s.server.next("ping")).body == ping);
    for (const char* twice :
         {R"({"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"r://a","uri":"r://b"}})",
          R"({"jsonrpc":"2.0","id":5,"method":"ping","m\u0065thod":"resources/subscribe","params":{"uri":"r://a"}})",
          R"({"jsonrpc":"2.0","id":5,"method":"resources/subscribe","method":"ping","params":{"uri":"r://a"}})"}) {
      const auto answer = co_await s.post(twice);
      CAPTURE(twice, answer.body);
      CHECK((answer.status == 400 || s.server.count("ping") > 1));
    }
    CHECK(s.server.count("resources/read") == 0);
  });
}

TEST_CASE("depth and size have limits with answers that say so, and large calls below them pass (B71)") {
  Sidecar sidecar([](Sidecar& s) { s.settings.limits.body_bytes_max = 4'000'000; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    const auto deep =
        co_await s.post(R"({"jsonrpc":"2.0","method":"resources/subscribe","params":{"uri":"a://b"},"id":)" +
                        std::string(200'000, '['));
    CHECK(deep.status == 400);
    CHECK(deep.body.size() < 1'000);
    const std::string large = request("tools/call", "{\"x\":\"" + std::string(3'000'000, 'x') + "\"}");
    CHECK((co_await s.post(large)).body == result("7"));
    CHECK((co_await s.server.next("tools/call")).body == large);
    auto over = co_await s.sends(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: 5000000\r\n\r\n");
    const auto refused = co_await over.response();
    CHECK(refused.status == 413);
    CHECK(refused.body.find("-32600") != std::string::npos);
  });
}

TEST_CASE("members of a batch that concern Freshet are answered in one array with the others (B66)") {
  Sidecar sidecar([](Sidecar& s) { s.version = "2025-03-26"; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"batch"});
    auto asking = co_await s.posts("[" + subscribe_to("r://a", "1") + "," + read_of("r://a", "2") +
                                   R"(,{"jsonrpc":"2.0","method":"notifications/initialized"},)" +
                                   unsubscribe_from("z://q", "3") + "]");
    const Asked rest = co_await s.server.next("batch");
    CHECK(rest.body == "[" + read_of("r://a", "2") + R"(,{"jsonrpc":"2.0","method":"notifications/initialized"}])");
    const std::string read = result("2", contents("r://a", "[1]"));
    co_await rest.send(json_http("[" + read + "]"));
    const auto answer = co_await asking.response();
    CHECK(answer.status == 200);
    CHECK(answer.body == "[" + result("1") + "," + result("3") + "," + read + "]");
  });
}

TEST_CASE("the rest of a batch may be answered as events, one or many (B66)") {
  Sidecar sidecar([](Sidecar& s) { s.version = "2025-03-26"; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"batch"});
    auto asking = co_await s.posts("[" + subscribe_to("r://a", "1") + "," + read_of("r://a", "2") + "," +
                                   request("ping", "{}", "3") + "]");
    const Asked rest = co_await s.server.next("batch");
    const std::string read = result("2", contents("r://a", "[1]"));
    co_await rest.send(event_stream_head + event(read) + event(result("3")));
    rest.peer->half_close();
    const auto answer = co_await asking.response();
    CHECK(answer.field("Content-Type") == "text/event-stream");
    for (const std::string& one : {read, result("3")})
      CHECK(answer.body.find("data: " + one + "\n") != std::string::npos);
    CHECK(answer.body.find(result("1")) != std::string::npos);
  });
}

TEST_CASE("the rest of a batch may be notifications only, or be refused as a whole (B66)") {
  Sidecar sidecar([](Sidecar& s) { s.version = "2025-03-26"; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"batch"});
    const std::string told = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
    auto asking = co_await s.posts("[" + subscribe_to("r://a", "1") + "," + told + "]");
    co_await (co_await s.server.next("batch")).send(http("202 Accepted", ""));
    const auto answer = co_await asking.response();
    CHECK(answer.status == 200);
    CHECK(answer.body == "[" + result("1") + "]");
    auto again = co_await s.posts("[" + subscribe_to("r://a", "1") + "," + request("ping", "{}", "2") + "]");
    const std::string refusal = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no [batches]"}})";
    co_await (co_await s.server.next("batch")).send(json_http(refusal));
    CHECK((co_await again.response()).body == "[" + result("1") + "," + refusal + "]");
  });
}

TEST_CASE(
    "where nothing of a batch is left for the upstream, it is not called; later revisions have no batches (B66)") {
  Sidecar sidecar([](Sidecar& s) { s.version = "2025-03-26"; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    const std::string both = "[" + subscribe_to("r://a", "1") + "," + unsubscribe_from("r://a", "2") + "]";
    CHECK((co_await s.post(both)).body == "[" + result("1") + "," + result("2") + "]");
    const auto reads = s.server.count("resources/read");
    s.version = "2025-11-25";
    const auto refused = co_await s.post(both);
    CHECK(refused.status == 400);
    CHECK(refused.body.find("-32600") != std::string::npos);
    CHECK(s.server.count("batch") == 0);
    CHECK(s.server.count("resources/read") == reads);
  });
}

TEST_CASE("a media type is known whatever its case and parameters, in both directions (B81)") {
  Sidecar sidecar([](Sidecar& s) { s.server.hold({"GET"}); });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next("GET");
    co_await up.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream;charset=UTF-8\r\n\r\n");
    const std::string type = "Content-Type: Application/JSON; Charset=\"UTF-8\"\r\n";
    CHECK((co_await s.post(subscribe_to("r://a"), type)).body == result("4"));
    const Asked baseline = co_await s.server.next("resources/read");
    CHECK(baseline.field("Content-Type") == "application/json");
    co_await s.post(request("ping"), type);
    CHECK((co_await s.server.next("ping")).head.find(type) != std::string::npos);
    co_await up.send(event(request("vendor/x")));
    CHECK((co_await stream.event()).find("vendor/x") != std::string::npos);
  });
}

TEST_CASE("Accept travels as it is, and what Freshet answers is what the client accepts (B82)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    for (const char* accept : {"*/*", "application/json", "application/json;q=0.9, text/event-stream;q=0"}) {
      const std::string field = std::string("Accept: ") + accept + "\r\n";
      CHECK((co_await s.post(subscribe_to("r://a"), field)).field("Content-Type") == "application/json");
      co_await s.post(request("ping"), field);
      CHECK((co_await s.server.next("ping")).field("Accept") == accept);
    }
    const auto events = co_await s.post(subscribe_to("r://a"), "Accept: text/event-stream\r\n");
    CHECK(events.field("Content-Type") == "text/event-stream");
    CHECK(events.body.find("data: " + result("4") + "\n") != std::string::npos);
    const Asked own = co_await s.server.next("resources/read");
    CHECK(own.field("Accept") == "application/json, text/event-stream");
  });
}

TEST_CASE("the answer to a notification passes in whatever shape it comes (B83)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    const std::string note = R"({"jsonrpc":"2.0","method":"notifications/x"})";
    s.server.hold({"notifications/x"});
    const auto shown = [&](std::string raw) -> Task<Response> {
      auto client = co_await s.posts(note);
      co_await (co_await s.server.next("notifications/x")).send(raw);
      co_return co_await client.response();
    };
    CHECK((co_await shown("HTTP/1.1 204 No Content\r\n\r\n")).status == 204);
    const auto text = co_await shown(http("202 Accepted", "Accepted", "Content-Type: text/plain\r\n"));
    CHECK(text.status == 202);
    CHECK(text.body == "Accepted");
    CHECK((co_await shown(json_http("null"))).body == "null");
    const auto chunked = co_await shown("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    CHECK(chunked.status == 200);
    CHECK(chunked.body.empty());
  });
}

TEST_CASE("healing takes any acknowledgement of its own notification (B83)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    for (const std::string& form : {std::string("HTTP/1.1 204 No Content\r\n\r\n"), json_http("null"),
                                    std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")}) {
      co_await s.open();
      co_await s.server.next("notifications/initialized");
      s.server.hold({"notifications/initialized"});
      s.server.forget_sessions();
      auto calling = co_await s.posts(request("ping"));
      co_await (co_await s.server.next("notifications/initialized")).send(form);
      CHECK((co_await calling.response()).body == result("7"));
      s.server.hold({});
    }
  });
}

TEST_CASE("Host and Origin are checked before anything else (B84)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    const auto status = [&](std::string fields) -> Task<int> {
      const std::string body = request("ping");
      auto client = co_await s.sends("POST /mcp HTTP/1.1\r\n" + fields + "Content-Type: application/json\r\n" +
                                     "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
      co_return (co_await client.response()).status;
    };
    for (const char* good : {"Host: [::1]:8080\r\n", "Host: LOCALHOST\r\n", "Host: 127.0.0.1:1\r\n"}) {
      CHECK(co_await status(good) == 200);
    }
    const auto passed = s.server.count("ping");
    for (const char* bad : {"Host: attacker.example:80\r\n", "Host: localhost\r\nOrigin: https://evil.example\r\n",
                            "Host: localhost\r\nOrigin: null\r\n"}) {
      CHECK(co_await status(bad) == 403);
    }
    CHECK(s.server.count("ping") == passed);
    const Asked asked = co_await s.server.next("ping");
    CHECK(asked.field("Host") == "127.0.0.1:" + std::to_string(s.server.port()));
  });
}

TEST_CASE("own requests use the version that the upstream answered, and a client's are left as they are (B85)") {
  Sidecar sidecar([](Sidecar& s) { s.server.protocol_version = "2025-06-18"; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    co_await s.subscribe("r://a");
    CHECK((co_await s.server.next("resources/read")).field("MCP-Protocol-Version") == "2025-06-18");
    co_await s.post(request("ping"));
    CHECK((co_await s.server.next("ping")).field("MCP-Protocol-Version") == "2025-11-25");
    auto bare = co_await s.sends(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Mcp-Session-Id: s1\r\nContent-Length: " +
        std::to_string(request("ping").size()) + "\r\n\r\n" + request("ping"));
    co_await bare.response();
    CHECK((co_await s.server.next("ping")).field("MCP-Protocol-Version").empty());
  });
}

TEST_CASE("own reads follow a redirect on the same origin only, and a client's redirect is the client's (B86)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open("Authorization: Bearer t\r\n");
    s.server.hold({"resources/read", "tools/call"});
    auto asking = co_await s.posts(subscribe_to("r://a"), "Authorization: Bearer t\r\n");
    const auto moved = [](const std::string& to) {
      return http("307 Temporary Redirect", "", "Location: " + to + "\r\n");
    };
    const Asked first = co_await s.server.next("resources/read");
    co_await first.send(moved("/mcp/"));
    const Asked second = co_await s.server.next("resources/read");
    CHECK(second.head.find("POST /mcp/ HTTP/1.1\r\n") == 0);
    CHECK(second.body == first.body);
    CHECK(second.field("Authorization") == "Bearer t");
    co_await second.send(json_http(result(second.id, contents("r://a", "1"))));
    CHECK((co_await asking.response()).body == result("4"));
    ScriptedServer elsewhere(s.loop.executor());
    const Asked poll = co_await s.server.next("resources/read");
    co_await poll.send(moved("http://127.0.0.1:" + std::to_string(elsewhere.port()) + "/mcp"));
    const Asked later = co_await s.server.next("resources/read");
    co_await later.send(json_http(result(later.id, contents("r://a", "1"))));
    auto calling = co_await s.posts(request("tools/call"), "Authorization: Bearer t\r\n");
    co_await (co_await s.server.next("tools/call")).send(moved("http://u.example.test/mcp/"));
    const auto shown = co_await calling.response();
    CHECK(shown.status == 307);
    CHECK(shown.field("Location") == "http://u.example.test/mcp/");
    auto probe = co_await ScriptedPeer::connect(s.loop.executor(), elsewhere.port());
    co_await probe.send("x");
    auto only = co_await elsewhere.accept();
    CHECK(co_await only.read_exactly(1) == "x");
  });
}

TEST_CASE("a kept connection that the upstream closed costs no call, and no call runs twice (B90)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    co_await s.post(request("ping"));
    (co_await s.server.next("ping")).peer->close();
    CHECK((co_await s.post(request("tools/call"))).status == 200);
    co_await s.server.next("tools/call");
    s.server.hold({"tools/call"});
    auto calling = co_await s.posts(request("tools/call"));
    (co_await s.server.next("tools/call")).peer->close();
    const auto answer = co_await calling.response();
    CHECK(answer.status == 502);
    CHECK(answer.body.find("UPSTREAM_UNAVAILABLE") != std::string::npos);
    CHECK(s.server.count("tools/call") == 2);
  });
}

TEST_CASE("each challenge passes byte for byte, also where the baseline met it (B93)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    const std::string bearer = R"(WWW-Authenticate: Bearer realm="r", scope="a b", error="invalid_token", )"
                               R"(resource_metadata="https://u.example.test/.well-known/oauth-protected-resource/mcp")"
                               "\r\n";
    const std::string challenges = bearer + "WWW-Authenticate: DPoP algs=\"ES256\"\r\n";
    co_await s.open();
    s.server.hold({"resources/read", "ping"});
    auto pinging = co_await s.posts(request("ping"));
    co_await (co_await s.server.next("ping")).send(http("401 Unauthorized", "", challenges));
    const auto passed = co_await pinging.response();
    CHECK(passed.status == 401);
    CHECK(passed.head.find(challenges) != std::string::npos);
    auto subscribing = co_await s.posts(subscribe_to("r://a"));
    co_await (co_await s.server.next("resources/read")).send(http("401 Unauthorized", "", challenges));
    const auto refused = co_await subscribing.response();
    CHECK(refused.status == 401);
    CHECK(refused.head.find(challenges) != std::string::npos);
  });
}

TEST_CASE("the series of /metrics do not grow with sessions or URIs (B95)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    std::size_t series = 0;
    for (int n = 0; n < 20; ++n) {
      const std::string uri = "r://" + std::to_string(n) + R"(/\"quoted\"\n)";
      s.server.texts["r://" + std::to_string(n) + "/\"quoted\"\n"] = "1";
      co_await s.open();
      co_await s.subscribe(uri);
      const std::string shown = co_await s.metrics();
      const auto lines = static_cast<std::size_t>(std::count(shown.begin(), shown.end(), '\n'));
      if (n == 1) series = lines;
      if (n > 1) CHECK(lines == series);
      CHECK(shown.find("r://") == std::string::npos);
      CHECK(shown.find("quoted") == std::string::npos);
    }
  });
}

}  // namespace freshet::test
