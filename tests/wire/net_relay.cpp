// The two sides together, as the proxy joins them: an event stream passes as it comes.
#include <catch2/catch.hpp>

#include "proxy/net/http_client.hpp"
#include "proxy/net/one_shot.hpp"
#include "tests/wire/support/scripted_peer.hpp"
#include "tests/wire/support/server.hpp"

namespace freshet::test {
namespace {

using net::ClientRequest;
using net::ClientResponse;
using net::HttpClient;
using net::ServerExchange;

Task<> copy(ClientResponse& from, ServerExchange& to) {
  for (;;) {
    const auto piece = co_await from.read_some();
    if (!piece) co_return;
    if (piece->empty()) break;
    const auto sent = co_await to.write(*piece);
    if (!sent) co_return;
  }
  co_await to.finish();
}

Task<> relay(ServerExchange& exchange, HttpClient& upstream) {
  ClientRequest request;
  request.head = exchange.head();
  request.next_piece = [&exchange] { return exchange.read_body_some(); };
  auto response = co_await upstream.send(std::move(request));
  if (!response) co_return;
  auto head = response->head();
  codec::remove_hop_by_hop(head.fields);
  exchange.begin(std::move(head));
  co_await exchange.flush();
  co_await copy(*response, exchange);
}

struct Fixture {
  Loop loop;
  ScriptedServer upstream{loop.executor()};
  HttpClient client{
      loop.executor(), {.tls = false, .host = "127.0.0.1", .port = upstream.port(), .unix_path = {}}, {}, nullptr};
  Server proxy{loop, [this](ServerExchange& exchange) { return relay(exchange, client); }};
};

Task<> pass_on(Fixture& f) {
  auto client = co_await ScriptedPeer::connect(f.loop.executor(), f.proxy.port());
  co_await client.send("POST /mcp HTTP/1.1\r\nHost: p\r\nContent-Length: 6\r\n\r\nabc");
  auto server = co_await f.upstream.accept();
  CHECK((co_await server.read_until("abc")).find("\r\nContent-Length: 6\r\n\r\n") != std::string::npos);
  co_await client.send("def");
  CHECK(co_await server.read_exactly(3) == "def");
  co_await server.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(co_await client.read_until("\r\n\r\n") ==
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (const std::string chunk : {"7\r\ndata: 1\r\n", "2\r\n\n\n\r\n", "0\r\n\r\n"}) {
    co_await server.send(chunk);
    CHECK(co_await client.read_exactly(chunk.size()) == chunk);
  }
}

TEST_CASE("each piece leaves before the next arrives, in both directions") {
  Fixture f;
  f.loop.run(pass_on(f));
}

Task<> cut(Fixture& f) {
  auto client = co_await ScriptedPeer::connect(f.loop.executor(), f.proxy.port());
  co_await client.send("GET /mcp HTTP/1.1\r\nHost: p\r\n\r\n");
  auto server = co_await f.upstream.accept();
  co_await server.read_until("0\r\n\r\n");
  co_await server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  co_await client.read_until("abc\r\n");
  server.close();
  CHECK(co_await client.read_to_end() == "");
}

TEST_CASE("a stream that the upstream cuts is cut downstream, and not ended") {
  Fixture f;
  f.loop.run(cut(f));
}

}  // namespace
}  // namespace freshet::test
