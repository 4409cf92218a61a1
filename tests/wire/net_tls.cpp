// TLS on both sides, against an authority that the test makes.
#include <boost/asio/ssl/error.hpp>
#include <catch2/catch.hpp>

#include "proxy/net/http_client.hpp"
#include "proxy/net/listener.hpp"
#include "proxy/net/one_shot.hpp"
#include "proxy/net/tls.hpp"
#include "tests/wire/support/certificates.hpp"
#include "tests/wire/support/scripted_peer.hpp"

namespace freshet::test {
namespace {

using net::ClientResponse;
using net::HttpClient;
using net::ServerExchange;

codec::ResponseHead ok() {
  return {.status = 200, .reason = "OK", .minor_version = 1, .fields = {}};
}

// A server that speaks for `names`, and a client that trusts the authority and looks for `host`.
struct Fixture {
  TemporaryFolder folder;
  Certificates authority{folder};
  Certificates::Files files;
  net::asio::ssl::context server_context;
  net::asio::ssl::context client_context;
  Loop loop;
  net::Listener listener;
  HttpClient client;

  Fixture(const std::string& names, const std::string& host, net::Handler handler, bool verify = true)
      : files(authority.issue(names)),
        server_context(net::make_server_context(files.certificate, files.key)),
        client_context(net::make_client_context(authority.ca(), verify)),
        listener(loop.executor(), net::TcpEndpoint{"localhost", 0}, &server_context, {}, 10),
        client(loop.executor(), {.tls = true, .host = host, .port = listener.port(), .unix_path = {}}, {},
               &client_context) {
    listener.start(loop.background(), std::move(handler));
  }
};

net::ClientRequest post(std::string_view body) {
  net::ClientRequest request;
  request.head = {.method = "POST", .target = "/", .minor_version = 1, .fields = {}};
  request.body = body;
  return request;
}

Task<> echo(ServerExchange& exchange) {
  const auto body = co_await exchange.read_body(10'000'000);
  if (!body) co_return;
  co_await exchange.respond(ok(), *body);
}

Task<> exchange_twice(Fixture& f) {
  for (const std::size_t size : {std::size_t{5}, std::size_t{3'000'000}}) {
    const std::string body(size, 'x');
    auto response = co_await f.client.send(post(body));
    REQUIRE(response.has_value());
    const auto got = co_await response->read_all(size);
    CHECK(got.value() == body);
    CHECK(f.client.open_connections() == 1);
    CHECK(f.listener.connections() == 1);
  }
}

TEST_CASE("exchanges over TLS share one connection, small and large") {
  Fixture f("DNS:localhost", "localhost", echo);
  f.loop.run(exchange_twice(f));
}

TEST_CASE("an address is verified as one") {
  Fixture f("IP:127.0.0.1", "127.0.0.1", echo);
  f.loop.run(exchange_twice(f));
}

Task<> refused(Fixture& f) {
  auto response = co_await f.client.send(post(""));
  REQUIRE(response.has_error());
  CHECK(response.error().category() == boost::asio::error::get_ssl_category());
}

TEST_CASE("a certificate for another name is refused") {
  Fixture f("DNS:other.example", "localhost", echo);
  f.loop.run(refused(f));
}

TEST_CASE("a certificate of an unknown authority is refused") {
  Fixture f("DNS:localhost", "localhost", echo);
  const TemporaryFolder folder;
  const Certificates other(folder);
  f.client_context = net::make_client_context(other.ca(), true);
  f.loop.run(refused(f));
}

TEST_CASE("any certificate will do where verification is off") {
  Fixture f("DNS:other.example", "localhost", echo, false);
  f.loop.run(exchange_twice(f));
}

int note_name(SSL* ssl, int*, void* name) {
  const char* sent = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  *static_cast<std::string*>(name) = sent ? sent : "";
  return SSL_TLSEXT_ERR_OK;
}

TEST_CASE("the server is told which name is meant") {
  Fixture f("DNS:localhost", "localhost", echo);
  std::string name;
  SSL_CTX_set_tlsext_servername_callback(f.server_context.native_handle(), note_name);
  SSL_CTX_set_tlsext_servername_arg(f.server_context.native_handle(), &name);
  f.loop.run(exchange_twice(f));
  CHECK(name == "localhost");
}

Task<> stream(ServerExchange& exchange, net::OneShot<bool>& ended) {
  exchange.begin(ok());
  co_await exchange.write("first");
  ended.set(co_await exchange.peer_ended());
}

Task<> leave(Fixture& f, net::OneShot<bool>& ended) {
  {
    auto response = co_await f.client.send(post(""));
    REQUIRE(response.has_value());
    CHECK((co_await response->read_some()).value() == "first");
  }
  CHECK((co_await ended.wait()).has_value());
}

TEST_CASE("a client that leaves a stream is noticed under TLS") {
  net::OneShot<bool>* ended = nullptr;
  Fixture f("DNS:localhost", "localhost", [&](ServerExchange& exchange) { return stream(exchange, *ended); });
  net::OneShot<bool> signal(f.loop.executor());
  ended = &signal;
  f.loop.run(leave(f, signal));
}

Task<> plain_text(Fixture& f) {
  auto peer = co_await ScriptedPeer::connect(f.loop.executor(), f.listener.port());
  co_await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK((co_await peer.read_to_end()).find("HTTP") == std::string::npos);
  co_await exchange_twice(f);
}

TEST_CASE("plain text to a TLS port ends that connection only") {
  Fixture f("DNS:localhost", "localhost", echo);
  f.loop.run(plain_text(f));
}

TEST_CASE("files that are missing are named at start-up") {
  CHECK_THROWS_WITH(net::make_server_context("/missing.pem", "/missing.key"), Catch::Contains("/missing.pem"));
  CHECK_THROWS_WITH(net::make_client_context("/missing-ca.pem", true), Catch::Contains("/missing-ca.pem"));
}

}  // namespace
}  // namespace freshet::test
