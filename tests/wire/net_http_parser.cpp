// HTTP messages from bytes: the grammar's edges, without a socket.
#include <catch2/catch.hpp>

#include "proxy/net/http_parser.hpp"

namespace freshet::net {
namespace {

Parsed<codec::RequestHead> parse_request(std::string_view bytes, std::size_t bytes_max = 1024) {
  HeadParser<codec::RequestHead> parser(bytes_max);
  const auto used = parser.put(bytes);
  if (!used) return used.error();
  REQUIRE(parser.done());
  return parser.head();
}

boost::system::error_code request_error(std::string_view bytes) {
  auto head = parse_request(bytes);
  if (!head) return head.error();
  if (const auto checked = check_target_and_host(*head); !checked) return checked.error();
  const auto framing = request_framing(*head);
  return framing ? boost::system::error_code() : framing.error();
}

Parsed<std::string> decode(Framing framing, std::string_view bytes, std::size_t piece_max) {
  BodyDecoder decoder(framing);
  std::string body;
  while (!bytes.empty() && !decoder.done()) {
    const auto step = decoder.put(bytes.substr(0, piece_max));
    if (!step) return step.error();
    body += step->piece;
    bytes.remove_prefix(step->used);
  }
  if (const auto ended = decoder.end(); !ended) return ended.error();
  return body;
}

TEST_CASE("fields keep their order, case and repetitions, and lose the blanks round their values") {
  const auto head = parse_request("\r\nPOST /mcp?x HTTP/1.0\r\nhOST:a\r\nX: \t1 \r\nx:\r\n\r\n");
  REQUIRE(head.has_value());
  CHECK(codec::serialize(*head) == "POST /mcp?x HTTP/1.0\r\nhOST: a\r\nX: 1\r\nx: \r\n\r\n");
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
  }
}

TEST_CASE("what is well formed but unknown has its own refusal") {
  for (const std::string coding : {"xchunked", "gzip, chunked", "chunked, chunked", "identity"})
    CHECK(request_error("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + coding + "\r\n\r\n") ==
          HttpError::unsupported_coding);
  CHECK(request_error("PRI * HTTP/2.0\r\n\r\n") == HttpError::bad_version);
  CHECK(request_error("GET / HTTP/1.2\r\nHost: a\r\n\r\n") == HttpError::bad_version);
}

TEST_CASE("equal Content-Lengths become one") {
  auto head = parse_request("POST / HTTP/1.1\r\nContent-Length: 5, 5\r\nContent-Length: 05\r\n\r\n");
  REQUIRE(request_framing(*head)->length == 5);
  CHECK(head->fields.count("Content-Length") == 1);
  CHECK(head->fields.find("Content-Length") == "5");
}

TEST_CASE("an absolute target names the host") {
  auto head = parse_request("GET http://b:81?q HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(check_target_and_host(*head).has_value());
  CHECK(head->target == "/?q");
  CHECK(head->fields.find("Host") == "b:81");
}

TEST_CASE("the limit bounds the whole head, not a line") {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n";
  CHECK(parse_request(head, head.size()).has_value());
  CHECK(parse_request(head, head.size() - 1).error() == HttpError::head_limit);
  HeadParser<codec::RequestHead> parser(64);
  CHECK(parser.put(std::string(64, 'a')).error() == HttpError::head_limit);
}

TEST_CASE("chunks are taken apart wherever they are cut, and trailers are dropped") {
  const std::string_view bytes =
      "3;ext=1\r\nabc\r\n0A ; q=\"x\"\r\n0123456789\r\n0;z\r\nX: 1\r\nContent-Length: 9\r\n\r\n";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece)
    CHECK(decode({BodyKind::chunked}, bytes, piece).value() == "abc0123456789");
}

TEST_CASE("a malformed chunk is refused") {
  for (const std::string_view bytes :
       {"0x1a\r\n", "\r\n", "g\r\n", "-1\r\n", "+1\r\n", "1 1\r\n", "1\na\r\n", "1\r\nab\r\n", "1\r\na\n0\r\n\r\n",
        "10000000000000000\r\n", "1;\n\r\na\r\n", "0\r\nX: 1\n\r\n", "0\r\n\rX"}) {
    INFO(bytes);
    CHECK(decode({BodyKind::chunked}, bytes, 1).error() == HttpError::bad_message);
  }
}

TEST_CASE("extensions and trailers are bounded") {
  CHECK(decode({BodyKind::chunked}, "1;" + std::string(70'000, 'x'), 4096).error() == HttpError::bad_message);
  CHECK(decode({BodyKind::chunked}, "0\r\n" + std::string(70'000, 'x'), 4096).error() == HttpError::bad_message);
}

TEST_CASE("a body that its connection cuts off is partial, unless that is its end") {
  CHECK(decode({BodyKind::length, 5}, "abcd", 9).error() == HttpError::partial_message);
  CHECK(decode({BodyKind::chunked}, "1\r\na\r\n", 9).error() == HttpError::partial_message);
  CHECK(decode({BodyKind::until_end}, "abcd", 9).value() == "abcd");
}

TEST_CASE("a response's body is delimited by what its head says") {
  const auto framing = [](int status, std::string_view name, std::string_view value, bool to_head) {
    codec::ResponseHead head;
    head.status = status;
    if (!name.empty()) head.fields.add(name, value);
    return response_framing(head, to_head)->kind;
  };
  CHECK(framing(200, "Content-Length", "5", false) == BodyKind::length);
  CHECK(framing(200, "Content-Length", "5", true) == BodyKind::none);
  CHECK(framing(304, "Content-Length", "5", false) == BodyKind::none);
  CHECK(framing(204, "", "", false) == BodyKind::none);
  CHECK(framing(200, "Transfer-Encoding", "Chunked", false) == BodyKind::chunked);
  CHECK(framing(200, "", "", false) == BodyKind::until_end);
}

TEST_CASE("a status line without a reason is understood") {
  HeadParser<codec::ResponseHead> parser(1024);
  REQUIRE(parser.put("HTTP/1.1 202\r\n\r\n").has_value());
  CHECK(parser.head().status == 202);
}

}  // namespace
}  // namespace freshet::net
