// Where connections go: names, both families, Unix sockets.
#include <fstream>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "proxy/net/http_client.hpp"
#include "proxy/net/listener.hpp"
#include "tests/wire/support/scripted_peer.hpp"
#include "tests/wire/support/temporary_folder.hpp"

namespace freshet::test {
namespace {

using net::HttpClient;
using net::Listener;
using net::Origin;

// Answers with the Host field and who asks.
Task<> tell_host(net::ServerExchange& exchange) {
  const std::string host(*exchange.head().fields.find("Host"));
  const auto peer = exchange.transport().peer_name();
  co_await exchange.respond({.status = 200, .reason = "OK", .minor_version = 1, .fields = {}},
                            host + ' ' + peer.substr(0, peer.rfind(':')));
}

Task<> ask(HttpClient& client, std::string answer) {
  net::ClientRequest request;
  request.head = {.method = "GET", .target = "/", .minor_version = 1, .fields = {}};
  auto response = co_await client.send(std::move(request));
  REQUIRE(response.has_value());
  CHECK((co_await response->read_all(1000)).value() == answer);
}

void serve_and_ask(const net::ListenAddress& at, Origin origin, std::string answer) {
  Loop loop;
  Listener listener(loop.executor(), at, nullptr, {}, 10);
  listener.start(loop.background(), tell_host);
  if (listener.port() != 0) origin.port = listener.port();
  // '#' stands for the port.
  if (const auto port = answer.find('#'); port != answer.npos) answer.replace(port, 1, std::to_string(listener.port()));
  HttpClient client(loop.executor(), std::move(origin), {}, nullptr);
  loop.run(ask(client, answer));
}

Origin plain(std::string host) {
  return {.tls = false, .host = std::move(host), .port = 0, .unix_path = {}};
}

TEST_CASE("localhost is found whichever family its server listens on") {
  serve_and_ask(net::TcpEndpoint{"127.0.0.1", 0}, plain("localhost"), "localhost:# 127.0.0.1");
  serve_and_ask(net::TcpEndpoint{"::1", 0}, plain("localhost"), "localhost:# [::1]");
}

TEST_CASE("a listener on localhost serves both families on one port") {
  serve_and_ask(net::TcpEndpoint{"localhost", 0}, plain("127.0.0.1"), "127.0.0.1:# 127.0.0.1");
  serve_and_ask(net::TcpEndpoint{"localhost", 0}, plain("::1"), "[::1]:# [::1]");
}

TEST_CASE("a listener on any IPv6 address serves both families") {
  serve_and_ask(net::TcpEndpoint{"::", 0}, plain("::1"), "[::1]:# [::1]");
  serve_and_ask(net::TcpEndpoint{"::", 0}, plain("127.0.0.1"), "127.0.0.1:# [::ffff:127.0.0.1]");
}

TEST_CASE("a Unix socket serves, and its file goes with it") {
  const TemporaryFolder folder;
  const auto path = folder.file("s.sock");
  serve_and_ask(net::UnixEndpoint{path}, {.tls = false, .host = "u.example", .port = 80, .unix_path = path},
                "u.example unix");
  CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("an abandoned socket file is replaced; a live one and another file are not") {
  const TemporaryFolder folder;
  Loop loop;
  const auto path = folder.file("s.sock");
  const auto abandoned = folder.file("abandoned.sock");
  {
    const auto gone = net::listen_on_unix(loop.executor(), abandoned);
  }
  CHECK_NOTHROW(Listener(loop.executor(), net::UnixEndpoint{abandoned}, nullptr, {}, 1));
  const Listener live(loop.executor(), net::UnixEndpoint{path}, nullptr, {}, 1);
  CHECK_THROWS_WITH(Listener(loop.executor(), net::UnixEndpoint{path}, nullptr, {}, 1), Catch::Contains(path));
  const auto file = folder.file("file");
  std::ofstream(file) << "x";
  CHECK_THROWS_WITH(Listener(loop.executor(), net::UnixEndpoint{file}, nullptr, {}, 1), Catch::Contains(file));
}

TEST_CASE("a port in use is an error that names the address") {
  Loop loop;
  const Listener first(loop.executor(), net::TcpEndpoint{"127.0.0.1", 0}, nullptr, {}, 1);
  const auto port = first.port();
  CHECK_THROWS_WITH(Listener(loop.executor(), net::TcpEndpoint{"127.0.0.1", port}, nullptr, {}, 1),
                    Catch::Contains("127.0.0.1:" + std::to_string(port)));
}

TEST_CASE("the Host field brackets IPv6, leaves out the zone and the usual port") {
  CHECK(Origin{false, "::1", 9001, ""}.authority() == "[::1]:9001");
  CHECK(Origin{false, "fe80::1%eth0", 9001, ""}.authority() == "[fe80::1]:9001");
  CHECK(Origin{false, "u.example", 80, ""}.authority() == "u.example");
  CHECK(Origin{true, "u.example", 443, ""}.authority() == "u.example");
  CHECK(Origin{true, "u.example", 80, ""}.authority() == "u.example:80");
}

Task<> no_such_name(Loop& loop) {
  const auto origin = plain("no-such-name.invalid");
  const auto connected = co_await net::connect(loop.executor(), origin, nullptr, std::chrono::seconds(5));
  CHECK(connected.has_error());
}

TEST_CASE("a name that nobody knows is an error") {
  Loop loop;
  loop.run(no_such_name(loop));
}

}  // namespace
}  // namespace freshet::test
