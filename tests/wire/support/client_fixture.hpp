// A client, the server that the test plays, and calls beside the script.
#pragma once

#include <catch2/catch.hpp>

#include "proxy/net/http_client.hpp"
#include "proxy/net/one_shot.hpp"
#include "tests/wire/support/scripted_peer.hpp"

namespace freshet::test {

inline const std::string answer_two = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

inline net::ClientRequest request_of(std::string method, std::string_view body = {}) {
  net::ClientRequest request;
  request.head = {.method = std::move(method), .target = "/mcp", .minor_version = 1, .fields = {}};
  request.body = body;
  return request;
}

struct ClientFixture {
  Loop loop;
  ScriptedServer server{loop.executor()};
  net::HttpClient client;

  explicit ClientFixture(net::HttpClientLimits limits = {})
      : client(loop.executor(), {.tls = false, .host = "127.0.0.1", .port = server.port(), .unix_path = {}}, limits,
               nullptr) {}
  void run(Task<> (*script)(ClientFixture&)) { loop.run(script(*this)); }
};

// A call under way beside the script.
struct Call {
  net::OneShot<Result<std::string>> body;
  Call(ClientFixture& fixture, net::ClientRequest request) : body(fixture.loop.executor()) {
    fixture.loop.spawn(make(fixture.client, std::move(request), body));
  }
  static Task<> make(net::HttpClient& client, net::ClientRequest request, net::OneShot<Result<std::string>>& body) {
    auto response = co_await client.send(std::move(request));
    if (!response) {
      body.set(response.error());
      co_return;
    }
    body.set(co_await response->read_all(1'000'000));
  }
  Task<std::string> text() {
    const auto result = co_await body.wait();
    REQUIRE(result.has_value());
    co_return result->has_value() ? **result : result->error().message();
  }
  Task<net::error_code> failure() {
    const auto result = co_await body.wait();
    REQUIRE(result.has_value());
    REQUIRE(result->has_error());
    co_return result->error();
  }
};

// The loop has seen what was sent to it before.
inline Task<> turn(ClientFixture& f) {
  auto peer = co_await ScriptedPeer::connect(f.loop.executor(), f.server.port());
  auto other = co_await f.server.accept();
  co_await peer.send("x");
  co_await other.read_exactly(1);
}

}  // namespace freshet::test
