// The server side: what clients send, however they send it.
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>

#include "proxy/net/one_shot.hpp"
#include "tests/wire/support/scripted_peer.hpp"
#include "tests/wire/support/server.hpp"

namespace freshet::test {
namespace {

using namespace std::chrono_literals;
using net::HttpServerLimits;
using net::ServerExchange;

codec::ResponseHead ok() {
  return {.status = 200, .reason = "OK", .minor_version = 1, .fields = {}};
}

// Answers with what it understood.
Task<> echo(ServerExchange& exchange) {
  const auto body = co_await exchange.read_body(100'000);
  if (!body) co_return;
  co_await exchange.respond(ok(), exchange.head().method + ' ' + exchange.head().target + ' ' + *body);
}

Task<> answer_unread(ServerExchange& exchange) {
  co_await exchange.respond(ok(), "no");
}

// Opens a conversation with a server, hands it to `script`.
using Script = std::function<Task<>(ScriptedPeer&)>;

Task<> converse(Loop& loop, std::uint16_t port, Script script) {
  auto peer = co_await ScriptedPeer::connect(loop.executor(), port);
  co_await script(peer);
}

void with_server(net::Handler handler, Script script, HttpServerLimits limits = {}) {
  Loop loop;
  Server server(loop, std::move(handler), limits);
  loop.run(converse(loop, server.port(), std::move(script)));
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
  for (const auto& [request, answer] : std::vector<std::pair<std::string, std::string>>{
           {"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\nPOST /mcp hello"},
           {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nhe\r\n3\r\nllo\r\n0\r\nX: "
            "1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nPOST / hello"}}) {
    Loop loop;
    Server server(loop, echo);
    loop.run(cut_everywhere(loop, server, request, answer));
  }
}

Task<> refused(ScriptedPeer& peer, std::string request, std::string status) {
  co_await peer.send(request);
  const auto answer = co_await peer.read_to_end();
  CHECK(answer.starts_with("HTTP/1.1 " + status));
  CHECK(answer.find("Connection: close\r\n\r\n") != answer.npos);
}

TEST_CASE("what is no request is answered with its status, and the connection closed") {
  for (const auto& [request, status] : std::vector<std::pair<std::string, std::string>>{
           {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "400 "},
           {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "400 "},
           {"GET / HTTP/1.1\nHost: a\n", "400 "},
           {"GET / HTTP/1.1\r\n\r\n", "400 "},
           {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "501 "},
           {"PRI * HTTP/2.0\r\n\r\n", "505 "},
           {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(1'000'000, 'a'), "431 "},
           {"\x16\x03\x01\x02\r\n", "400 "}})
    with_server(echo, [=](ScriptedPeer& peer) { return refused(peer, request, status); });
}

Task<> large_heads(ScriptedPeer& peer) {
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 300; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  for (const auto& head :
       {many, "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + std::string(16'000, 'a') + "\r\n"}) {
    co_await peer.send(head + "\r\n");
    CHECK((co_await peer.read_message()).starts_with("HTTP/1.1 200 "));
  }
}

TEST_CASE("large bearer tokens and hundreds of fields pass") {
  with_server(echo, large_heads);
}

Task<> expect_continue(ScriptedPeer& peer) {
  co_await peer.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(co_await peer.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  co_await peer.send("hi");
  CHECK((co_await peer.read_message()).ends_with("POST / hi"));
}

TEST_CASE("a client that expects 100-continue is told to go on") {
  with_server(echo, expect_continue);
}

Task<> expectation_refused(ScriptedPeer& peer) {
  co_await peer.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK((co_await peer.read_message()).find("Connection: close\r\n") != std::string::npos);
  // What may follow is either the body or a request: nobody could tell.
  CHECK(co_await peer.read_to_end() == "");
}

TEST_CASE("after a final answer to an expectation nothing is read as a new request") {
  with_server(answer_unread, expectation_refused);
}

Task<> pipelined(ScriptedPeer& peer) {
  co_await peer.send(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"
      "GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK((co_await peer.read_message()).ends_with("GET /1 "));
  CHECK((co_await peer.read_message()).ends_with("POST /2 x"));
  CHECK((co_await peer.read_to_end()).ends_with("GET /3 "));
}

TEST_CASE("pipelined requests are answered in their order") {
  with_server(echo, pipelined);
}

Task<> unread_small_body(ScriptedPeer& peer) {
  for (int i = 0; i < 2; ++i) {
    co_await peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
    CHECK(co_await peer.read_message() == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno");
    co_await peer.send("hello");
  }
}

TEST_CASE("a small body that the handler did not read is skipped") {
  with_server(answer_unread, unread_small_body);
}

Task<> unread_large_body(ScriptedPeer& peer) {
  co_await peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n" + std::string(100'000, 'x'));
  peer.half_close();
  CHECK(co_await peer.read_to_end() == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
}

TEST_CASE("the answer before a large body arrives whole, and the connection ends") {
  with_server(answer_unread, unread_large_body);
}

Task<> old_client(ScriptedPeer& peer) {
  co_await peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(co_await peer.read_message() == "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: keep-alive\r\n\r\nGET / ");
  co_await peer.send("GET / HTTP/1.0\r\n\r\n");
  CHECK(co_await peer.read_to_end() == "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nGET / ");
}

TEST_CASE("an HTTP/1.0 client keeps its connection only if it asks") {
  with_server(echo, old_client);
}

Task<> stream_two_pieces(ServerExchange& exchange) {
  exchange.begin(ok());
  co_await exchange.flush();
  co_await exchange.write("one");
  co_await exchange.write("");
  co_await exchange.write("0123456789abcdef");
  co_await exchange.finish();
}

Task<> streamed(ScriptedPeer& peer) {
  co_await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(co_await peer.read_until("\r\n0\r\n\r\n") ==
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n");
  co_await peer.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(co_await peer.read_until("\r\n\r\n") == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  co_await peer.send("GET / HTTP/1.0\r\n\r\n");
  CHECK(co_await peer.read_to_end() == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\none0123456789abcdef");
}

TEST_CASE("a streamed response is framed as the client's version allows") {
  with_server(stream_two_pieces, streamed);
}

Task<> stream_and_give_up(ServerExchange& exchange) {
  exchange.begin(ok());
  co_await exchange.write("one");
}

Task<> truncated(ScriptedPeer& peer) {
  co_await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK((co_await peer.read_to_end()).ends_with("3\r\none\r\n"));
}

TEST_CASE("a response that its handler did not finish is seen to be cut") {
  with_server(stream_and_give_up, truncated);
}

Task<> forget(ServerExchange&) {
  co_return;
}

TEST_CASE("a handler that answers nothing is answered for") {
  with_server(forget, [](ScriptedPeer& peer) { return refused(peer, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "500 "); });
}

Task<> expect_cut(ScriptedPeer& peer, std::string bytes) {
  if (!bytes.empty()) co_await peer.send(bytes);
  CHECK(co_await peer.read_to_end() == "");
}

TEST_CASE("slow clients are cut: idle, inside a head, inside a body") {
  with_server(echo, [](ScriptedPeer& peer) { return expect_cut(peer, ""); }, {.idle_time_max = 20ms});
  with_server(echo, [](ScriptedPeer& peer) { return expect_cut(peer, "GET / HT"); }, {.head_time_max = 20ms});
  with_server(
      echo,
      [](ScriptedPeer& peer) { return expect_cut(peer, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"); },
      {.body_stall_max = 20ms});
}

Task<> write_until_failure(ServerExchange& exchange, net::OneShot<net::error_code>& ended) {
  exchange.begin(ok());
  const std::string piece(1'000'000, 'x');
  for (;;) {
    const auto sent = co_await exchange.write(piece);
    if (!sent) ended.set(sent.error());
    if (!sent) co_return;
  }
}

Task<> read_nothing(Loop& loop, std::uint16_t port, net::OneShot<net::error_code>& ended) {
  auto peer = co_await ScriptedPeer::connect(loop.executor(), port);
  co_await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(co_await ended.wait() == net::error_code(boost::asio::error::timed_out));
}

TEST_CASE("a client that does not read is cut") {
  Loop loop;
  net::OneShot<net::error_code> ended(loop.executor());
  Server server(loop, [&](ServerExchange& exchange) { return write_until_failure(exchange, ended); },
                {.write_stall_max = 20ms});
  loop.run(read_nothing(loop, server.port(), ended));
}

Task<> wait_for_end(ServerExchange& exchange, net::OneShot<bool>& ended) {
  exchange.begin(ok());
  co_await exchange.flush();
  ended.set(co_await exchange.peer_ended());
  co_await exchange.write("still here");
  co_await exchange.finish();
}

Task<> half_close(Loop& loop, std::uint16_t port, net::OneShot<bool>& ended) {
  auto peer = co_await ScriptedPeer::connect(loop.executor(), port);
  co_await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  co_await peer.read_until("\r\n\r\n");
  peer.half_close();
  CHECK((co_await peer.read_to_end()).find("still here") != std::string::npos);
  CHECK(co_await ended.wait() == false);
}

Task<> reset(Loop& loop, std::uint16_t port, net::OneShot<bool>& ended) {
  auto peer = co_await ScriptedPeer::connect(loop.executor(), port);
  co_await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  co_await peer.read_until("\r\n\r\n");
  peer.reset();
  CHECK(co_await ended.wait() == true);
}

// A pipelined request hides the end of the connection, its reset does not hide.
Task<> reset_behind_bytes(Loop& loop, std::uint16_t port, net::OneShot<bool>& ended) {
  auto peer = co_await ScriptedPeer::connect(loop.executor(), port);
  co_await peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  co_await peer.read_until("\r\n\r\n");
  co_await peer.send("GET /next HTTP/1.1\r\n");
  peer.reset();
  CHECK(co_await ended.wait() == true);
}

TEST_CASE("a half-closed client still receives; a reset one is gone") {
  for (const auto script : {half_close, reset, reset_behind_bytes}) {
    Loop loop;
    net::OneShot<bool> ended(loop.executor());
    Server server(loop, [&](ServerExchange& exchange) { return wait_for_end(exchange, ended); });
    loop.run(script(loop, server.port(), ended));
  }
}

struct Gate {
  net::OneShot<bool> reached;
  net::OneShot<bool> opened;
  explicit Gate(net::Executor executor) : reached(executor), opened(executor) {}
};

Task<> answer_behind(ServerExchange& exchange, Gate& gate) {
  gate.reached.set(true);
  co_await gate.opened.wait();
  co_await exchange.respond(ok(), "done");
}

Task<> drain(Loop& loop, Server& server, Gate& gate) {
  auto busy = co_await ScriptedPeer::connect(loop.executor(), server.port());
  auto idle = co_await ScriptedPeer::connect(loop.executor(), server.port());
  co_await busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  co_await gate.reached.wait();
  while (server.listener().connections() < 2) co_await boost::asio::post(loop.executor(), net::use_task);
  server.listener().close();
  CHECK(co_await idle.read_to_end() == "");
  gate.opened.set(true);
  CHECK(co_await busy.read_to_end() == "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone");
}

TEST_CASE("a drain closes what is idle and answers what has begun") {
  Loop loop;
  Gate gate(loop.executor());
  Server server(loop, [&](ServerExchange& exchange) { return answer_behind(exchange, gate); });
  loop.run(drain(loop, server, gate));
}

Task<> one_after_another(Loop& loop, std::uint16_t port) {
  auto first = co_await ScriptedPeer::connect(loop.executor(), port);
  auto second = co_await ScriptedPeer::connect(loop.executor(), port);
  co_await second.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  co_await first.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK((co_await first.read_message()).ends_with("GET /1 "));
  first.close();
  CHECK((co_await second.read_message()).ends_with("GET /2 "));
}

TEST_CASE("connections above the limit wait for a place") {
  Loop loop;
  net::Listener listener(loop.executor(), net::TcpEndpoint{"127.0.0.1", 0}, nullptr, {}, 1);
  listener.start(loop.background(), echo);
  loop.run(one_after_another(loop, listener.port()));
}

}  // namespace
}  // namespace freshet::test
