// A session that the upstream forgot, and what only looks like one.
#include <sstream>

#include "tests/wire/support/sidecar.hpp"

namespace freshet::test {

namespace {

std::string error(std::string_view id, int code, std::string_view message) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" + std::to_string(code) +
         R"(,"message":")" + std::string(message) + "\"}}";
}

std::string chunked(std::string_view status, std::string_view body) {
  std::ostringstream text;
  text << "HTTP/1.1 " << status << "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
       << std::hex << body.size() << "\r\n"
       << body << "\r\n0\r\n\r\n";
  return text.str();
}

}  // namespace

TEST_CASE("a session that the upstream forgot is made anew, in each form that servers say so in (B24, B25)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    const std::vector<std::string> forms{
        json_http(error("null", -32001, "Not Found: session expired"), "404 Not Found"),
        http("404 Not Found", ""),
        chunked("404 Not Found", error("null", -32001, "Session not found")),
        json_http(error("null", -32000, "Bad Request: no valid session"), "400 Bad Request"),
        chunked("400 Bad Request", error("null", -32000, "Bad Request: Server not initialized")),
        json_http(error("null", -32603, "unknown session"), "500 Internal Server Error"),
        json_http(error("7", -32600, "missing or invalid session")),
    };
    co_await s.open();
    for (const std::string& form : forms) {
      s.server.unknown_session = form;
      s.server.forget_sessions();
      const auto made_before = s.server.count("initialize");
      const auto answer = co_await s.post(request("tools/call"));
      CAPTURE(form, answer.body);
      CHECK(answer.status == 200);
      CHECK(answer.body == result("7"));
      CHECK(s.server.count("initialize") == made_before + 1);
    }
  });
}

TEST_CASE("what is healed is subscribed again, caught up, and goes by the client's own id (B25, B28)") {
  Sidecar sidecar(notifying);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open("Authorization: Bearer t\r\n");
    auto stream = co_await s.stream("Authorization: Bearer t\r\n");
    const Asked up = co_await s.server.next_stream();
    co_await s.subscribe("r://a", "Authorization: Bearer t\r\n");
    co_await s.server.next("initialize");
    co_await s.server.next("resources/subscribe");
    s.server.forget_sessions();
    s.server.texts["r://a"] = "2";
    up.peer->close();
    const Asked again = co_await s.server.next("initialize");
    CHECK(again.field("Authorization") == "Bearer t");
    CHECK(again.field("Mcp-Session-Id").empty());
    Asked reopened = co_await s.server.next_stream();
    while (reopened.field("Mcp-Session-Id") != "s2") reopened = co_await s.server.next_stream();
    CHECK((co_await stream.event()).find("r://a") != std::string::npos);
    CHECK((co_await s.server.next("resources/subscribe")).field("Mcp-Session-Id") == "s2");
    const auto answer = co_await s.post(request("ping"), "Authorization: Bearer t\r\n");
    CHECK(answer.status == 200);
    CHECK((co_await s.server.next("ping")).field("Mcp-Session-Id") == "s2");
  });
}

TEST_CASE("calls that met the forgotten session at different times heal it once (B25)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"tools/call"});
    auto first = co_await s.posts(request("tools/call", "{}", "1"));
    auto second = co_await s.posts(request("tools/call", "{}", "2"));
    const Asked one = co_await s.server.next("tools/call");
    const Asked two = co_await s.server.next("tools/call");
    s.server.forget_sessions();
    s.server.hold({});
    co_await one.send(s.server.unknown_session);
    CHECK((co_await first.response()).status == 200);
    co_await two.send(s.server.unknown_session);
    CHECK((co_await second.response()).status == 200);
    CHECK(s.server.count("initialize") == 2);
  });
}

TEST_CASE("an answer that means something else is passed on unaltered, and nothing is made anew (B24, B25, B26)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    const std::vector<std::string> forms{
        json_http(error("7", -32601, "Method not found"), "404 Not Found"),
        http("401 Unauthorized", "", "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n"),
        json_http(error("7", -32603, "could not open the database session")),
        json_http(error("7", -32602, "the parameter session is missing")),
        json_http(error("7", -32002, "Resource not found: chat://session/1")),
        chunked("400 Bad Request", error("7", -32000, "no")),
    };
    co_await s.open();
    s.server.hold({"tools/call"});
    for (const std::string& form : forms) {
      auto asking = co_await s.posts(request("tools/call"));
      const Asked asked = co_await s.server.next("tools/call");
      co_await asked.send(form);
      const auto answer = co_await asking.response();
      CAPTURE(form);
      CHECK(form.find("HTTP/1.1 " + std::to_string(answer.status)) == 0);
      CHECK(form.find(answer.body) != std::string::npos);
      CHECK(s.server.count("initialize") == 1);
    }
    CHECK((co_await s.post(request("ping"))).status == 200);
  });
}

TEST_CASE("where healing fails the client gets the upstream's own answer, whatever its size, and starts again (B25)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    for (const std::size_t size : {10, 20'000}) {
      co_await s.open();
      co_await s.server.next("initialize");
      s.server.forget_sessions();
      s.server.unknown_session = chunked("404 Not Found", std::string(size, 'x'));
      s.server.hold({"initialize"});
      auto asking = co_await s.posts(request("tools/list"));
      const Asked again = co_await s.server.next("initialize");
      co_await again.send(http("503 Service Unavailable", ""));
      const auto answer = co_await asking.response();
      CHECK(answer.status == 404);
      CHECK(answer.body == std::string(size, 'x'));
      s.server.hold({});
      const auto after = co_await s.post(request("ping"));
      CHECK(after.status == 404);
      CHECK(after.body.find("-32001") != std::string::npos);
    }
  });
}

TEST_CASE("404 to the upstream's GET heals the session, 405 leaves it as it is (B26)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.server.hold({"GET"});
    auto stream = co_await s.stream();
    const Asked lost = co_await s.server.next("GET");
    co_await lost.send(http("404 Not Found", ""));
    const Asked again = co_await s.server.next("GET");
    CHECK(again.field("Mcp-Session-Id") == "s2");
    co_await again.send(http("405 Method Not Allowed", ""));
    co_await s.subscribe("r://a");
    s.server.texts["r://a"] = "2";
    CHECK((co_await stream.event()).find("r://a") != std::string::npos);
    CHECK(s.server.count("initialize") == 2);
  });
}

TEST_CASE("a poll that meets the forgotten session heals it, and tells what changed meanwhile (B24)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    co_await s.subscribe("r://a");
    s.server.texts["r://a"] = "2";
    s.server.forget_sessions();
    CHECK((co_await stream.event()).find("r://a") != std::string::npos);
    CHECK(s.server.count("initialize") == 2);
  });
}

TEST_CASE("a session that is refused right after it was made is not made again at once (B25)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    const std::string refusal = error("7", -32600, "missing or invalid session");
    co_await s.open();
    s.server.unknown_session = json_http(refusal);
    s.server.forgetful = true;
    s.server.forget_sessions();
    CHECK((co_await s.post(request("tools/call"))).body == refusal);
    const auto refused_again = net::Clock::now();
    CHECK(s.server.count("initialize") == 2);
    for (int i = 0; i < 3; ++i) CHECK((co_await s.post(request("tools/call"))).body == refusal);
    CHECK(s.server.count("initialize") == 2);
    co_await s.until_metric(R"(freshet_heals_total{partner="u",result="held_back",upstream="u"} 3)");
    while (s.server.count("initialize") == 2) co_await s.post(request("tools/call"));
    CHECK(net::Clock::now() - refused_again >= 950ms);
  });
}

TEST_CASE("a server that has no stream in any session is polled, and its sessions are left alone (B26, B37)") {
  Sidecar sidecar(notifying);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    for (int i = 0; i < 2; ++i) co_await (co_await s.server.next("GET")).send(http("404 Not Found", ""));
    co_await s.until_metric(R"(freshet_heals_total{partner="u",result="held_back",upstream="u"} 1)");
    co_await s.subscribe("r://a");
    s.server.texts["r://a"] = "2";
    CHECK((co_await stream.event()).find("r://a") != std::string::npos);
    CHECK(s.server.count("initialize") == 2);
    CHECK(s.server.count("GET") == 2);
  });
}

}  // namespace freshet::test
