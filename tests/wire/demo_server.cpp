// The demo's upstream is what it says it is: a server that keeps sessions and cannot notify.
#include "proxy/app/demo_server.hpp"

#include <catch2/catch.hpp>

#include "proxy/codec/mcp.hpp"
#include "proxy/codec/url.hpp"
#include "proxy/net/http_client.hpp"
#include "tests/wire/support/loop.hpp"

namespace freshet::test {
namespace {

struct Answer {
  int status = 0;
  std::string session_id;
  std::string body;
};

struct Fixture {
  Loop loop;
  app::DemoServer server{loop.executor(), 1, [](const app::Deployment&) {}};
  codec::Url url = *codec::parse_url(server.url());
  net::HttpClient http{
      loop.executor(), {.tls = false, .host = url.host, .port = url.port, .unix_path = {}}, {}, nullptr};
  std::string session_id;

  Fixture() { server.start(); }

  Task<Answer> send(std::string method, std::string body) {
    net::ClientRequest request;
    request.head.method = std::move(method);
    request.head.target = url.target;
    if (!session_id.empty()) request.head.fields.add("Mcp-Session-Id", session_id);
    request.body = body;
    auto response = co_await http.send(std::move(request));
    REQUIRE(response.has_value());
    const auto text = co_await response->read_all(64 * 1024);
    REQUIRE(text.has_value());
    co_return Answer{response->head().status, std::string(response->head().fields.find("Mcp-Session-Id").value_or("")),
                     *text};
  }
  Task<Answer> call(std::string method, std::string params) {
    co_return co_await send("POST", codec::request("1", method, params));
  }
  Task<Answer> open() {
    Answer answer = co_await call("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
    session_id = answer.session_id;
    co_return answer;
  }
  void run(Task<> (*dialogue)(Fixture&)) {
    loop.run([](Fixture& f, Task<> (*d)(Fixture&)) -> Task<> {
      co_await d(f);
      co_await f.server.stop();
    }(*this, dialogue));
  }
};

TEST_CASE("the demo's server declares resources without subscribe, and has no stream") {
  Fixture().run([](Fixture& f) -> Task<> {
    const Answer opened = co_await f.open();
    const auto result = codec::read_initialize_result(opened.body);
    CHECK(result.ok);
    CHECK(result.protocol_version == "2025-11-25");
    CHECK(result.declaration.resources);
    CHECK_FALSE(result.declaration.subscribe);
    CHECK((co_await f.send("GET", "")).status == 405);
    const Answer refused = co_await f.call("resources/subscribe", R"({"uri":"deploy://api"})");
    CHECK(refused.body.find("-32601") != std::string::npos);
  });
}

TEST_CASE("the demo's server lists what can be read, and nothing else") {
  Fixture().run([](Fixture& f) -> Task<> {
    co_await f.open();
    const Answer list = co_await f.call("resources/list", "{}");
    CHECK(list.body.find("deploy://api") != std::string::npos);
    const Answer read = co_await f.call("resources/read", R"({"uri":"deploy://api"})");
    CHECK(read.body.find("revision") != std::string::npos);
    const Answer missing = co_await f.call("resources/read", R"({"uri":"deploy://none"})");
    CHECK(missing.body.find("-32002") != std::string::npos);
    CHECK(f.server.reads() == 2);
  });
}

TEST_CASE("the demo's server knows the sessions that it opened, until they end") {
  Fixture().run([](Fixture& f) -> Task<> {
    CHECK((co_await f.call("ping", "{}")).status == 400);
    co_await f.open();
    CHECK((co_await f.call("ping", "{}")).status == 200);
    CHECK((co_await f.send("POST", codec::notification("notifications/initialized"))).status == 202);
    CHECK((co_await f.send("DELETE", "")).status == 204);
    CHECK((co_await f.call("ping", "{}")).status == 404);
  });
}

}  // namespace
}  // namespace freshet::test
