// Event streams of the upstream, cut at every byte: what they say does not depend on the pieces in which they come.
#include "tests/wire/support/sidecar.hpp"

namespace freshet::test {

namespace {

const std::string mark = "\xEF\xBB\xBF";  // a byte order mark

// Two pieces, the second after the first has been read.
Task<> send_cut(Sidecar& s, const Asked& to, std::string bytes, std::size_t at) {
  co_await to.send(bytes.substr(0, at));
  co_await s.turn();
  co_await to.send(bytes.substr(at));
}

}  // namespace

TEST_CASE("an initialize result in an event stream opens the same session wherever it is cut (B41, B52, B56)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    s.server.hold({"initialize"});
    const std::string said = result("1", R"({"protocolVersion":"2025-11-25","capabilities":{"resources":{}},)"
                                         R"("serverInfo":{"name":"é","version":"1"}})");
    std::string shown = said;
    shown.replace(shown.find("{}},\"serverInfo"), 2, R"({"subscribe":true})");
    const auto with = [](const std::string& data) {
      return mark + "id: p\r\ndata:\r\n\r\nevent: message\r\ndata: " + data + "\r\n\r\n: end\n\n";
    };
    for (std::size_t at = 1; at < with(said).size(); ++at) {
      auto opening = co_await s.posts(request("initialize", "{}", "1"));
      const Asked asked = co_await s.server.next("initialize");
      co_await asked.send(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
          "Mcp-Session-Id: s1\r\n\r\n");
      co_await send_cut(s, asked, with(said), at);
      asked.peer->close();
      const auto answer = co_await opening.response();
      CAPTURE(at);
      REQUIRE(answer.field("Mcp-Session-Id") == "s1");
      REQUIRE(answer.body == with(shown));
    }
  });
}

TEST_CASE("a poll that is answered by an event stream reads the same wherever it is cut (B41, B53, B54)") {
  Sidecar sidecar([](Sidecar& s) { s.upstream().freshness.interval = 1ms; });
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    s.server.texts["r://a"] = "café 🍸";
    co_await s.subscribe("r://a");
    co_await s.server.next("resources/read");
    s.server.hold({"resources/read"});
    const auto answer = [](const Asked& poll, std::string_view text) {
      return mark + ": hi\r\n\r\nid: 1\r\ndata:\r\n\r\ndata: " + result(poll.id, contents("r://a", text)) + "\r\n\r\n";
    };
    for (std::size_t at = 1;; ++at) {
      const Asked poll = co_await s.server.next("resources/read");
      const std::string body = answer(poll, "café 🍸");
      co_await poll.send(event_stream_head);
      if (at >= body.size()) {
        co_await poll.send(answer(poll, "café"));
        break;
      }
      co_await send_cut(s, poll, body, at);
    }
    s.server.hold({});
    s.server.texts["r://a"] = "café";
    s.server.texts["r://end"] = "1";
    co_await s.subscribe("r://end");
    s.server.texts["r://end"] = "2";
    const auto told = co_await stream.events_until("r://end");
    REQUIRE(told.size() == 2);
    CHECK(told.front().find("r://a") != std::string::npos);
  });
}

TEST_CASE("updates on the upstream's stream arrive whole wherever they are cut (B41, B52, B54)") {
  Sidecar sidecar(notifying);
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    const Asked up = co_await s.server.next_stream();
    const std::string data = R"({"jsonrpc":"2.0","method":"notifications/é/🍸","params":{}})";
    for (const char* end : {"\n", "\r\n", "\r"}) {
      const std::string bytes = std::string("id: 1") + end + "data: " + data + end + end;
      for (std::size_t at = 1; at < bytes.size(); ++at) {
        co_await send_cut(s, up, bytes, at);
        const std::string told = co_await stream.event();
        CAPTURE(at, told);
        REQUIRE(told.find("data: " + data + "\n\n") != std::string::npos);
      }
    }
  });
}

TEST_CASE("a byte order mark before the upstream's stream is skipped wherever it is cut (B56)") {
  Sidecar sidecar([](Sidecar& s) { s.server.hold({"GET"}); });
  sidecar.run([](Sidecar& s) -> Task<> {
    for (std::size_t at = 1; at <= mark.size(); ++at) {
      co_await s.open();
      auto stream = co_await s.stream();
      const Asked up = co_await s.server.next_stream();
      co_await send_cut(s, up, mark + event(request("vendor/x")), at);
      CHECK((co_await stream.event()).find("vendor/x") != std::string::npos);
    }
  });
}

}  // namespace freshet::test
