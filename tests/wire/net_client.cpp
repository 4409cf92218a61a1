// The client side: what servers answer, however they answer it, and when they vanish.
#include <boost/asio/error.hpp>
#include <catch2/catch.hpp>

#include "tests/wire/support/client_fixture.hpp"

namespace freshet::test {
namespace {

using namespace std::chrono_literals;
using net::ClientRequest;
using net::ClientResponse;
using net::error_code;
using net::HttpClient;
using net::HttpError;
using net::Lifetime;
using Fixture = ClientFixture;

Task<> cut_everywhere(Fixture& f) {
  const std::string answer =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;ext=1\r\nhi\r\n1\r\n!\r\n0\r\nX-Sum: "
      "1\r\nContent-Length: "
      "9\r\n\r\n";
  auto call = std::make_unique<Call>(f, request_of("POST", "abc"));
  auto peer = co_await f.server.accept();
  for (std::size_t cut = 1; cut < answer.size(); ++cut) {
    CHECK((co_await peer.read_message()).starts_with("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:"));
    co_await peer.send(answer.substr(0, cut));
    co_await peer.send(answer.substr(cut));
    const auto text = co_await call->text();
    INFO("cut at " << cut);
    REQUIRE(text == "hi!");
    call = std::make_unique<Call>(f, request_of("POST", "abc"));
  }
  peer.close();
  co_await call->failure();
}

TEST_CASE("a response is understood wherever it is cut, and its connection serves again") {
  Fixture().run(cut_everywhere);
}

Task<> interim(Fixture& f) {
  Call call(f, request_of("GET"));
  auto peer = co_await f.server.accept();
  const auto head = co_await peer.read_message();
  CHECK(head.find("Content-Length") == head.npos);
  co_await peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer_two);
  CHECK(co_await call.text() == "hi");
}

TEST_CASE("interim responses are not taken for the answer") {
  Fixture().run(interim);
}

Task<> no_content(Fixture& f) {
  Call first(f, request_of("POST"));
  auto peer = co_await f.server.accept();
  CHECK((co_await peer.read_message()).find("Content-Length: 0\r\n") != std::string::npos);
  co_await peer.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
  CHECK(co_await first.text() == "");
  Call second(f, request_of("HEAD"));
  co_await peer.read_message();
  co_await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n");
  CHECK(co_await second.text() == "");
  CHECK(f.client.open_connections() == 1);
}

TEST_CASE("answers without a body leave the connection free") {
  Fixture().run(no_content);
}

Task<> until_end(Fixture& f) {
  Call call(f, request_of("GET"));
  {
    auto peer = co_await f.server.accept();
    co_await peer.read_message();
    co_await peer.send("HTTP/1.0 200 OK\r\n\r\nall of it");
  }
  CHECK(co_await call.text() == "all of it");
  CHECK(f.client.open_connections() == 0);
}

TEST_CASE("a body may end with its connection") {
  Fixture().run(until_end);
}

Task<> cut_off(Fixture& f) {
  for (const std::string answer : {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "HTTP/1.1 200",
                                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
    Call call(f, request_of("GET"));
    auto peer = co_await f.server.accept();
    co_await peer.read_message();
    co_await peer.send(answer);
    peer.close();
    CHECK(co_await call.failure() == HttpError::partial_message);
  }
}

TEST_CASE("an answer that its connection cuts off is an error") {
  Fixture().run(cut_off);
}

Task<> malformed(Fixture& f) {
  for (const std::string answer :
       {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "SSH-2.0-x\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n"}) {
    Call call(f, request_of("GET"));
    auto peer = co_await f.server.accept();
    co_await peer.read_message();
    co_await peer.send(answer);
    CHECK(co_await call.failure() == HttpError::bad_message);
  }
}

TEST_CASE("an answer that is none is an error") {
  Fixture().run(malformed);
}

Task<> early_answer(Fixture& f) {
  const std::string large(8'000'000, 'x');
  Call call(f, request_of("POST", large));
  auto peer = co_await f.server.accept();
  co_await peer.read_until("\r\n\r\n");
  co_await peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
  co_await turn(f);
  peer.close();
  CHECK(co_await call.text() == "big");
  CHECK(f.client.open_connections() == 0);
}

TEST_CASE("a final answer before the whole request was written is seen") {
  Fixture().run(early_answer);
}

struct Pieces {
  std::vector<std::string> left;
  net::OneShot<bool>* gate = nullptr;
};

Task<Result<std::string_view>> next_of(Pieces& pieces) {
  if (pieces.left.empty()) co_return std::string_view();
  if (pieces.left.size() == 1 && pieces.gate) co_await pieces.gate->wait();
  const auto piece = std::move(pieces.left.front());
  pieces.left.erase(pieces.left.begin());
  static std::string kept;
  kept = piece;
  co_return std::string_view(kept);
}

Task<> streamed(Fixture& f) {
  Pieces pieces{{"one", "two"}};
  auto request = request_of("POST");
  request.next_piece = [&] { return next_of(pieces); };
  Call call(f, std::move(request));
  auto peer = co_await f.server.accept();
  CHECK((co_await peer.read_until("0\r\n\r\n")).ends_with("chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
  co_await peer.send(answer_two);
  CHECK(co_await call.text() == "hi");

  pieces.left = {"one", "two"};
  auto sized = request_of("POST");
  sized.head.fields.add("Content-Length", "6");
  sized.next_piece = [&] { return next_of(pieces); };
  Call second(f, std::move(sized));
  CHECK((co_await peer.read_message()).ends_with("Content-Length: 6\r\n\r\nonetwo"));
  co_await peer.send(answer_two);
  CHECK(co_await second.text() == "hi");
}

TEST_CASE("a streamed body is sent as it comes, chunked or with the length that its head has") {
  Fixture().run(streamed);
}

Task<> streamed_refused(Fixture& f) {
  net::OneShot<bool> gate(f.loop.executor());
  Pieces pieces{{"one", "two"}, &gate};
  auto request = request_of("POST");
  request.next_piece = [&] { return next_of(pieces); };
  Call call(f, std::move(request));
  auto peer = co_await f.server.accept();
  co_await peer.read_until("one\r\n");
  co_await peer.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
  co_await turn(f);
  gate.set(true);
  CHECK(co_await call.text() == "no");
  CHECK(co_await peer.read_to_end() == "");
}

TEST_CASE("a streamed body stops at a final answer, and its connection is not used again") {
  Fixture().run(streamed_refused);
}

Task<> silent(Fixture& f) {
  Call head(f, request_of("GET"));
  auto peer = co_await f.server.accept();
  co_await peer.read_message();
  CHECK(co_await head.failure() == boost::asio::error::timed_out);
  CHECK(co_await peer.read_to_end() == "");

  auto patient = request_of("GET");
  patient.head_time_max = 5s;
  Call body(f, std::move(patient));
  auto other = co_await f.server.accept();
  co_await other.read_message();
  co_await other.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
  CHECK(co_await body.failure() == boost::asio::error::timed_out);
}

TEST_CASE("a server that falls silent is given up: before its head, inside its body") {
  Fixture f({.head_time_max = 20ms, .body_stall_max = 20ms});
  f.run(silent);
}

Task<> nobody(Fixture& f) {
  f.server.close();
  Call call(f, request_of("GET"));
  CHECK(co_await call.failure() == boost::asio::error::connection_refused);
}

TEST_CASE("a server that is not there is reported as it is") {
  Fixture().run(nobody);
}

Task<> read_until_closed(ClientResponse& response, net::OneShot<error_code>& ended) {
  for (;;) {
    const auto piece = co_await response.read_some();
    if (!piece) ended.set(piece.error());
    if (!piece) co_return;
  }
}

Task<> open_stream(HttpClient& client, net::OneShot<ClientResponse>& opened) {
  auto request = request_of("GET");
  request.lifetime = Lifetime::stream;
  auto response = co_await client.send(std::move(request));
  REQUIRE(response.has_value());
  opened.set(std::move(*response));
}

Task<> closed_from_outside(Fixture& f) {
  net::OneShot<ClientResponse> opened(f.loop.executor());
  f.loop.spawn(open_stream(f.client, opened));
  auto peer = co_await f.server.accept();
  co_await peer.read_message();
  co_await peer.send("HTTP/1.1 200 OK\r\n\r\n");
  auto response = co_await opened.wait();
  net::OneShot<error_code> ended(f.loop.executor());
  f.loop.spawn(read_until_closed(*response, ended));
  co_await turn(f);
  response->close();
  CHECK(co_await ended.wait() == error_code(boost::asio::error::operation_aborted));
}

TEST_CASE("closing a response ends the read that is suspended in it") {
  Fixture().run(closed_from_outside);
}

Task<> too_large(Fixture& f) {
  net::OneShot<ClientResponse> opened(f.loop.executor());
  f.loop.spawn(open_stream(f.client, opened));
  auto peer = co_await f.server.accept();
  co_await peer.read_message();
  co_await peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  auto response = co_await opened.wait();
  const auto body = co_await response->read_all(4);
  CHECK(body.error() == HttpError::body_limit);
}

TEST_CASE("a body above the reader's limit is refused as soon as it is seen") {
  Fixture().run(too_large);
}

}  // namespace
}  // namespace freshet::test
