// The pool: which connections are used again, what is repeated, who waits.
#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include "tests/wire/support/client_fixture.hpp"

namespace freshet::test {
namespace {

using namespace std::chrono_literals;
using net::ClientRequest;
using net::ClientResponse;
using net::HttpClient;
using net::HttpError;
using net::Lifetime;
using Fixture = ClientFixture;

// One call that leaves its connection idle in the pool.
Task<ScriptedPeer> warm_up(Fixture& f) {
  Call call(f, request_of("GET"));
  auto peer = co_await f.server.accept();
  co_await peer.read_message();
  co_await peer.send(answer_two);
  CHECK(co_await call.text() == "hi");
  CHECK(f.client.open_connections() == 1);
  co_return peer;
}

Task<> stale(Fixture& f) {
  auto peer = co_await warm_up(f);
  peer.close();
  co_await turn(f);
  Call call(f, request_of("POST", "once"));
  auto fresh = co_await f.server.accept();
  CHECK((co_await fresh.read_message()).ends_with("once"));
  co_await fresh.send(answer_two);
  CHECK(co_await call.text() == "hi");
}

TEST_CASE("a pooled connection that its server closed is not used") {
  Fixture().run(stale);
}

Task<> unasked(Fixture& f) {
  auto peer = co_await warm_up(f);
  co_await peer.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
  co_await turn(f);
  Call call(f, request_of("GET"));
  auto fresh = co_await f.server.accept();
  co_await fresh.read_message();
  co_await fresh.send(answer_two);
  CHECK(co_await call.text() == "hi");
}

TEST_CASE("a pooled connection on which something came unasked is not used") {
  Fixture().run(unasked);
}

Task<> repeated(Fixture& f) {
  for (const bool post : {false, true}) {
    auto peer = co_await warm_up(f);
    auto request = request_of(post ? "POST" : "GET", post ? "read" : "");
    request.safe_to_repeat = post;
    Call call(f, std::move(request));
    co_await peer.read_message();
    peer.reset();
    auto fresh = co_await f.server.accept();
    co_await fresh.read_message();
    co_await fresh.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    CHECK(co_await call.text() == "hi");
  }
}

TEST_CASE("what only reads is sent once more when a reused connection dies under it") {
  Fixture().run(repeated);
}

Task<> not_repeated(Fixture& f) {
  auto peer = co_await warm_up(f);
  Call call(f, request_of("POST", "once"));
  co_await peer.read_message();
  peer.close();
  CHECK(co_await call.failure() == boost::asio::error::eof);

  auto again = co_await warm_up(f);
  Call half(f, request_of("GET"));
  co_await again.read_message();
  co_await again.send("HTTP/1.1 2");
  again.close();
  CHECK(co_await half.failure() == HttpError::partial_message);

  Call fresh(f, request_of("GET"));
  auto first = co_await f.server.accept();
  co_await first.read_message();
  first.close();
  CHECK(co_await fresh.failure() == boost::asio::error::eof);
}

TEST_CASE("nothing is repeated that may have run, was answered in part, or failed on a fresh connection") {
  Fixture().run(not_repeated);
}

Task<> dropped(Fixture& f) {
  for (int i = 0; i < 300; ++i) {
    auto request = request_of("GET");
    request.lifetime = Lifetime::stream;
    net::OneShot<Result<ClientResponse>> opened(f.loop.executor());
    f.loop.spawn([](HttpClient& client, ClientRequest r, net::OneShot<Result<ClientResponse>>& out) -> Task<> {
      out.set(co_await client.send(std::move(r)));
    }(f.client, std::move(request), opened));
    auto peer = co_await f.server.accept();
    co_await peer.read_message();
    co_await peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n:\r\n");
    co_await opened.wait();
    CHECK(co_await peer.read_to_end() == "");
  }
  CHECK(f.client.open_connections() == 0);
}

TEST_CASE("a response that is dropped closes its connection, three hundred times") {
  Fixture().run(dropped);
}

Task<> queued(Fixture& f) {
  Call first(f, request_of("GET"));
  auto peer = co_await f.server.accept();
  co_await peer.read_message();
  Call second(f, request_of("POST", "second"));
  auto unwanted = request_of("POST", "unwanted");
  unwanted.on_dispatch = [] { return false; };
  Call dropped_call(f, std::move(unwanted));
  Call third(f, request_of("POST", "third"));
  co_await turn(f);
  Call refused(f, request_of("GET"));
  CHECK(co_await refused.failure() == boost::asio::error::no_buffer_space);
  auto stream = request_of("GET");
  stream.lifetime = Lifetime::stream;
  Call apart(f, std::move(stream));
  auto other = co_await f.server.accept();
  co_await other.read_message();
  co_await other.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
  CHECK(co_await apart.text() == "hi");

  co_await peer.send(answer_two);
  CHECK((co_await peer.read_message()).ends_with("second"));
  co_await peer.send(answer_two);
  CHECK((co_await peer.read_message()).ends_with("third"));
  co_await peer.send(answer_two);
  CHECK(co_await first.text() == "hi");
  CHECK(co_await second.text() == "hi");
  CHECK(co_await third.text() == "hi");
  CHECK(co_await dropped_call.failure() == boost::asio::error::operation_aborted);
}

TEST_CASE("calls above the limit wait in their order, a few; streams do not") {
  Fixture f({.connections_max = 1, .waiting_max = 3});
  f.run(queued);
}

Task<> too_many_streams(Fixture& f) {
  auto stream = request_of("GET");
  stream.lifetime = Lifetime::stream;
  Call call(f, std::move(stream));
  CHECK(co_await call.failure() == boost::asio::error::no_buffer_space);
}

TEST_CASE("streams above their limit are refused") {
  Fixture f({.streams_max = 0});
  f.run(too_many_streams);
}

Task<> idle(Fixture& f) {
  auto peer = co_await warm_up(f);
  CHECK(co_await peer.read_to_end() == "");
  CHECK(f.client.open_connections() == 0);
}

TEST_CASE("an idle connection is closed before its server would") {
  Fixture f({.idle_time_max = 20ms});
  f.run(idle);
}

}  // namespace
}  // namespace freshet::test
