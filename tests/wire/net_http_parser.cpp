// HTTP messages from bytes: the grammar's edges, without a socket.
#include <algorithm>

#include <catch2/catch.hpp>

#include "proxy/net/http_parser.hpp"

namespace freshet::net {
namespace {

// `piece_max`: what is read at a time. Pieces are put together until the parser takes them, as its callers do.
template <class Head>
Parsed<HttpParser<Head>> parse_head(std::string_view bytes, std::size_t bytes_max, std::size_t piece_max) {
  HttpParser<Head> parser(bytes_max);
  std::size_t used = 0;
  for (std::size_t read = 0; !parser.head_done() && read < bytes.size();) {
    read = std::min(read + piece_max, bytes.size());
    const auto taken = parser.put_head(bytes.substr(used, read - used));
    if (!taken) return taken.error();
    used += *taken;
  }
  return parser.head_done() ? Parsed<HttpParser<Head>>(std::move(parser)) : HttpError::partial_message;
}

Parsed<RequestParser> parse_request(std::string_view bytes, std::size_t bytes_max = 1024,
                                    std::size_t piece_max = 9999) {
  return parse_head<codec::RequestHead>(bytes, bytes_max, piece_max);
}

boost::system::error_code request_error(std::string_view bytes, std::size_t piece_max = 9999) {
  auto parser = parse_request(bytes, 1024, piece_max);
  if (!parser) return parser.error();
  const auto checked = check_target_and_host(parser->head());
  return checked ? boost::system::error_code() : checked.error();
}

// The body of a response whose framing field is `framing`.
Parsed<std::string> decode(const std::string& framing, std::string_view bytes, std::size_t piece_max) {
  auto parser = *parse_head<codec::ResponseHead>("HTTP/1.1 200 OK\r\n" + framing + "\r\n\r\n", 1024, 9999);
  std::string body;
  std::size_t used = 0;
  for (std::size_t read = 0; !parser.done() && read < bytes.size();) {
    read = std::min(read + piece_max, bytes.size());
    while (!parser.done()) {
      const auto step = parser.put_body(bytes.substr(used, read - used));
      if (!step) return step.error();
      used += step->used;
      body += step->piece;
      if (step->piece.empty()) break;
    }
  }
  if (const auto ended = parser.end(); !ended) return ended.error();
  return body;
}

const std::string chunked = "Transfer-Encoding: chunked";

TEST_CASE("fields keep their order, case and repetitions, and lose the blanks round their values") {
  const auto parser = parse_request("\r\nPOST /mcp?x HTTP/1.0\r\nhOST:a\r\nX: \t1 \r\nx:\r\n\r\n");
  REQUIRE(parser.has_value());
  CHECK(codec::serialize(parser->head()) == "POST /mcp?x HTTP/1.0\r\nhOST: a\r\nX: 1\r\nx: \r\n\r\n");
}

TEST_CASE("a malformed or ambiguous request is refused") {
  const std::string start = "POST /mcp HTTP/1.1\r\n";
  const std::string fine = start + "Host: a\r\n";
  for (const std::string& bytes : {
           std::string("POST /mcp\r\n\r\n"),
           std::string("POST  HTTP/1.1\r\nHost: a\r\n\r\n"),
           std::string("POST /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
           std::string("P(ST / HTTP/1.1\r\nHost: a\r\n\r\n"),
           std::string("POST mcp HTTP/1.1\r\nHost: a\r\n\r\n"),
           start + "\r\n",
           fine + "Host: b\r\n\r\n",
           fine + "X : 1\r\n\r\n",
           fine + " folded\r\n\r\n",
           fine + "X: a\rb\r\n\r\n",
           fine + "X: 1\n\r\n",
           fine + "Content-Length: +5\r\n\r\n",
           fine + "Content-Length: 5x\r\n\r\n",
           fine + "Content-Length:\r\n\r\n",
           fine + "Content-Length: 99999999999999999999\r\n\r\n",
           fine + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
           fine + "Content-Length: 5, 6\r\n\r\n",
           fine + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
           std::string("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
       }) {
    INFO(bytes);
    CHECK(request_error(bytes) == HttpError::bad_message);
    CHECK(request_error(bytes, 1) == HttpError::bad_message);
  }
}

TEST_CASE("a malformed line is refused before the head ends, however it is cut") {
  for (const std::string_view bytes :
       {"SSH-2.0-x\r\n", "GET / HTTP/1.1\n", "GET / HTT\r\n", "GET / HTTP/1.1\r\nHost: a\n",
        "GET / HTTP/1.1\r\nHost: a\r\n ", "GET / HTTP/1.1\r\nHost a\r\nX"})
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      INFO(bytes << " in pieces of " << piece);
      CHECK(request_error(bytes, piece) == HttpError::bad_message);
    }
}

TEST_CASE("what is well formed but unknown has its own refusal") {
  for (const std::string coding : {"xchunked", "gzip, chunked", "chunked, chunked", "identity"})
    CHECK(request_error("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + coding + "\r\n\r\n") ==
          HttpError::unsupported_coding);
  CHECK(request_error("PRI * HTTP/2.0\r\n\r\n") == HttpError::bad_version);
  CHECK(request_error("GET / HTTP/1.2\r\nHost: a\r\n\r\n") == HttpError::bad_version);
  CHECK(request_error("GET / HTTP/1.2\r\n", 1) == HttpError::bad_version);
}

TEST_CASE("equal Content-Lengths become one") {
  const auto parser = parse_request("POST / HTTP/1.1\r\nContent-Length: 5, 5\r\nContent-Length: 05\r\n\r\n");
  REQUIRE(parser->kind() == BodyKind::length);
  CHECK(parser->remaining() == 5);
  CHECK(parser->head().fields.count("Content-Length") == 1);
  CHECK(parser->head().fields.find("Content-Length") == "5");
}

TEST_CASE("an absolute target names the host") {
  auto parser = parse_request("GET http://b:81?q HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(check_target_and_host(parser->head()).has_value());
  CHECK(parser->head().target == "/?q");
  CHECK(parser->head().fields.find("Host") == "b:81");
}

TEST_CASE("the limit bounds the whole head, not a line") {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n";
  for (std::size_t piece = 1; piece <= head.size(); ++piece) {
    CHECK(parse_request(head, head.size(), piece).has_value());
    CHECK(parse_request(head, head.size() - 1, piece).error() == HttpError::head_limit);
  }
  RequestParser parser(64);
  CHECK(parser.put_head(std::string(64, 'a')).error() == HttpError::head_limit);
}

TEST_CASE("chunks are taken apart wherever they are cut, and trailers are dropped") {
  const std::string_view bytes =
      "3;ext=1\r\nabc\r\n0A ; q=\"x\"\r\n0123456789\r\n0;z\r\nX: 1\r\nContent-Length: 9\r\n\r\n";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece)
    CHECK(decode(chunked, bytes, piece).value() == "abc0123456789");
}

TEST_CASE("a stream at rest between two chunks leaves nothing in the buffer, and a last chunk may be cut anywhere") {
  ResponseParser parser(1024);
  REQUIRE(parser.put_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").has_value());
  CHECK(parser.put_body("1\r\na\r\n")->used == 4);
  CHECK(parser.put_body("\r\n")->used == 2);
  for (const std::size_t piece : {1, 2, 3, 4}) CHECK(decode(chunked, "0\r\n\r\n", piece).value().empty());
}

TEST_CASE("a malformed chunk is refused") {
  for (const std::string_view bytes :
       {"0x1a\r\n", "\r\n", "g\r\n", "-1\r\n", "+1\r\n", "1 1\r\n", "1\na\r\n", "1\r\nab\r\n", "1\r\na\n0\r\n\r\n",
        "10000000000000000\r\n", "1;\n\r\na\r\n", "1;a=\"\r\n", "0;=\r\n", "0\r\nX: 1\n\r\n", "0\r\n\rX"}) {
    INFO(bytes);
    CHECK(decode(chunked, bytes, 1).error() == HttpError::bad_message);
  }
}

TEST_CASE("extensions and trailers are bounded") {
  CHECK(decode(chunked, "1;" + std::string(70'000, 'x'), 4096).error() == HttpError::bad_message);
  CHECK(decode(chunked, "0\r\n" + std::string(70'000, 'x'), 4096).error() == HttpError::bad_message);
}

TEST_CASE("a body that its connection cuts off is partial, unless that is its end") {
  CHECK(decode("Content-Length: 5", "abcd", 9).error() == HttpError::partial_message);
  CHECK(decode(chunked, "1\r\na\r\n", 9).error() == HttpError::partial_message);
  CHECK(decode("X: 1", "abcd", 9).value() == "abcd");
}

TEST_CASE("a response's body is delimited by what its head says") {
  const auto framing = [](int status, std::string_view name, std::string_view value, bool to_head) {
    std::string head = "HTTP/1.1 " + std::to_string(status) + " X\r\n";
    if (!name.empty()) head.append(name).append(": ").append(value).append("\r\n");
    ResponseParser parser(1024, to_head);
    REQUIRE(parser.put_head(head + "\r\n").has_value());
    return parser.kind();
  };
  CHECK(framing(200, "Content-Length", "5", false) == BodyKind::length);
  CHECK(framing(200, "Content-Length", "5", true) == BodyKind::none);
  CHECK(framing(304, "Content-Length", "5", false) == BodyKind::none);
  CHECK(framing(204, "", "", false) == BodyKind::none);
  CHECK(framing(200, "Transfer-Encoding", "Chunked", false) == BodyKind::chunked);
  CHECK(framing(200, "", "", false) == BodyKind::until_end);
}

TEST_CASE("a status line without a reason is understood") {
  ResponseParser parser(1024);
  REQUIRE(parser.put_head("HTTP/1.1 202\r\n\r\n").has_value());
  CHECK(parser.head().status == 202);
}

}  // namespace
}  // namespace freshet::net
