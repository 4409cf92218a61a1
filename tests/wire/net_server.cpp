// The server side: what clients send, however they send it.
#include <catch2/catch.hpp>

#include "tests/wire/support/scripted_peer.hpp"
#include "tests/wire/support/server.hpp"

namespace freshet::test {
namespace {

using namespace std::string_literals;

// Answers with what it understood.
Task<> echo(net::ServerExchange& exchange) {
  const auto body = co_await exchange.read_body(1024);
  if (!body) co_return;
  codec::ResponseHead head;
  head.reason = "OK";
  co_await exchange.respond(std::move(head), exchange.head().method + ' ' + exchange.head().target + ' ' + *body);
}

Task<> handler_task(net::ServerExchange& exchange) {
  return echo(exchange);
}

Task<> cut_everywhere(Loop& loop, Server& server, std::string request, std::string answer) {
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    auto peer = co_await ScriptedPeer::connect(loop.executor(), server.port());
    co_await peer.send(request.substr(0, cut));
    co_await peer.send(request.substr(cut));
    const auto got = co_await peer.read_message();
    INFO("cut at " << cut);
    REQUIRE(got == answer);
  }
}

TEST_CASE("a request is understood wherever it is cut") {
  Loop loop;
  Server server(loop, handler_task);
  loop.run(cut_everywhere(loop, server, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
                          "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\nPOST /mcp hello"));
}

}  // namespace
}  // namespace freshet::test
