#include "proxy/codec/sse.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace freshet::codec {

using namespace std::string_literals;

namespace {

std::string shown(const SseEvent& event) {
  std::string out = "[";
  if (event.id) out += "id=" + *event.id + ' ';
  if (!event.event_type.empty()) out += "type=" + event.event_type + ' ';
  if (event.retry_ms) out += "retry=" + std::to_string(*event.retry_ms) + ' ';
  if (event.oversized) out += "oversized ";
  return out + "data=" + event.data + ']';
}

// What the stream says when it is fed in these pieces.
std::string read(const std::vector<std::string>& pieces, SseLimits limits = {}) {
  SseDecoder decoder(limits);
  std::string out;
  for (const auto& piece : pieces) decoder.feed(piece, [&out](const SseEvent& event) { out += shown(event); });
  return out;
}

// The same, checked to be so however the stream is cut in two, and byte by byte.
std::string read_anyhow(const std::string& stream, SseLimits limits = {}) {
  const auto whole = read({stream}, limits);
  std::vector<std::string> bytes;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    CHECK(read({stream.substr(0, i), stream.substr(i)}, limits) == whole);
    bytes.push_back(stream.substr(i, 1));
  }
  CHECK(read(bytes, limits) == whole);
  return whole;
}

}  // namespace

TEST_CASE("a CRLF that is cut in two is one line end (B52)", "[sse]") {
  CHECK(read_anyhow("data: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"x\"}\r\n\r\n") ==
        "[data={\"jsonrpc\":\"2.0\",\n\"method\":\"x\"}]");
}

TEST_CASE("CR CR dispatches without waiting for a possible LF (B52)", "[sse]") {
  CHECK(read({"data: a\r\r"}) == "[data=a]");
  CHECK(read({"data: a\r\r", "\ndata: b\r\n\r"}) == "[data=a][data=b]");
}

TEST_CASE("CR, LF and CRLF all end lines (B53)", "[sse]") {
  CHECK(read_anyhow("event: message\r\ndata: 1\r\n\r\ndata: 2\n\ndata: 3\r\rdata: 4\r\n\n") ==
        "[type=message data=1][data=2][data=3][data=4]");
}

TEST_CASE("nothing is interpreted before the blank line (B41)", "[sse]") {
  CHECK(read({"data: {\"id\":3,\"re", "sult\":{}}\n"}).empty());
  CHECK(read({"data: {\"id\":3,\"re", "sult\":{}}\n", "\n"}) == "[data={\"id\":3,\"result\":{}}]");
}

TEST_CASE("a character cut in two stays whole, and invalid bytes stay as sent (B54)", "[sse]") {
  CHECK(read_anyhow("data: {\"t\":\"caf\xc3\xa9\"}\n\n") == "[data={\"t\":\"caf\xc3\xa9\"}]");
  CHECK(read_anyhow("data: \xff\xc3\n\n") == "[data=\xff\xc3]");
}

TEST_CASE("a byte order mark is skipped at the start of the stream and nowhere else (B56)", "[sse]") {
  CHECK(read_anyhow("\xef\xbb\xbf"
                    "data: a\n\n\xef\xbb\xbf"
                    "data: b\n\n") == "[data=a]");
  CHECK(read_anyhow("\xef\xbb"
                    "data: a\n\ndata: b\n\n") == "[data=b]");
}

TEST_CASE("priming events move the cursor and are no messages (B57)", "[sse]") {
  const std::string stream =
      "id: 0\nretry: 3000\ndata:\n\n"
      "data: \n\n"
      "event: message\n\n"
      "id: 1\ndata: {}\n\n";
  CHECK(read_anyhow(stream) == "[id=0 retry=3000 data=][id=1 data={}]");
  SseDecoder decoder;
  decoder.feed("id: 0\ndata:\n\n", [](const SseEvent& event) { CHECK_FALSE(event.has_data()); });
}

TEST_CASE("foreign event types and data that is no JSON come through, and the frame after them (B42)", "[sse]") {
  CHECK(read_anyhow("event: ping\ndata: 2026-01-01\n\ndata: not json\n\ndata: {}\n\n") ==
        "[type=ping data=2026-01-01][data=not json][data={}]");
}

TEST_CASE("retry takes digits only and saturates (B46)", "[sse]") {
  CHECK(read_anyhow("retry: 0\n\nretry: 60000\n\n") == "[retry=0 data=][retry=60000 data=]");
  CHECK(read_anyhow("retry: 12x\n\nretry: -1\n\nretry:\n\nretry: +1\n\n").empty());
  CHECK(read_anyhow("retry: 99999999999999999999\n\n") == "[retry=18446744073709551615 data=]");
  CHECK(read_anyhow("retry: 18446744073709551616\n\n") == "[retry=18446744073709551615 data=]");
}

TEST_CASE("an id with NUL is ignored, an empty one is an id", "[sse]") {
  CHECK(read_anyhow("id: a\0b\ndata: x\n\n"s) == "[data=x]");
  CHECK(read_anyhow("id\ndata: x\n\n") == "[id= data=x]");
}

TEST_CASE("only one space after the colon is left out, and names compare exactly", "[sse]") {
  CHECK(read_anyhow("data:  a\ndata:b\n\n") == "[data= a\nb]");
  CHECK(read_anyhow("Data: a\ndatas: b\n data: c\n\n").empty());
}

TEST_CASE("comments are counted and are no events", "[sse]") {
  SseDecoder decoder;
  decoder.feed(": hi\n\n:\n\ndata: x\n: inside\n\n", [](const SseEvent& event) { CHECK(event.data == "x"); });
  CHECK(decoder.comments() == 3);
  decoder.feed(": half", [](const SseEvent&) { FAIL(); });
  CHECK_FALSE(decoder.pending());
  CHECK_FALSE(decoder.at_boundary());
}

TEST_CASE("an event without its blank line is not dispatched and counts as pending (B60)", "[sse]") {
  SseDecoder decoder;
  const auto none = [](const SseEvent&) { FAIL("dispatched too early"); };
  CHECK_FALSE(decoder.pending());
  decoder.feed("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", none);
  CHECK(decoder.pending());
}

TEST_CASE("a comment may be inserted between events and never inside one (B45)", "[sse]") {
  const std::string stream = "id: u-41\nretry: 2000\ndata:\n\nid: u-42\r\ndata: {}\r\n\r\n: c\n\n";
  const auto plain = read({stream});
  SseDecoder decoder;
  std::size_t places = 0;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (decoder.at_boundary()) {
      ++places;
      CHECK(read({stream.substr(0, i), std::string(comment()), stream.substr(i)}) == plain);
    }
    decoder.feed(stream.substr(i, 1), [](const SseEvent&) {});
  }
  CHECK(places >= 3);
  CHECK(decoder.at_boundary());
}

TEST_CASE("an event above the limit is marked, its data dropped, and the next one is read", "[sse]") {
  const SseLimits limits{.data_bytes_max = 8, .field_bytes_max = 4};
  CHECK(read_anyhow("id: 7\ndata: 12345678\n\n", limits) == "[id=7 data=12345678]");
  CHECK(read_anyhow("id: 7\ndata: 123456789\ndata: x\n\ndata: y\n\n", limits) == "[id=7 oversized data=][data=y]");
  CHECK(read_anyhow("data: 1234\ndata: 5678\n\n", limits) == "[oversized data=]");
  CHECK(read_anyhow("data\ndata\ndata\ndata\ndata\ndata\ndata\ndata\ndata\ndata\n\n", limits) == "[oversized data=]");
  CHECK(read_anyhow("id: 12345\ndata: x\n\n", limits) == "[oversized data=]");
  CHECK(read_anyhow(": 123456789 123456789\ndata: x\n\n", limits) == "[data=x]");
}

TEST_CASE("an event of 8 MiB in small pieces takes time linear in its size (B58)", "[sse]") {
  const std::string text(8 * 1024 * 1024, 'A');
  const std::string stream = "data: " + text + "\n\n";
  SseDecoder decoder;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < stream.size(); i += 1460)
    decoder.feed(std::string_view(stream).substr(i, 1460),
                 [&bytes](const SseEvent& event) { bytes = event.data.size(); });
  CHECK(bytes == text.size());
}

TEST_CASE("what is written is read back, and line ends in data cannot add fields (B59)", "[sse]") {
  CHECK(format_event("fr-1-2", "message", "{}") == "id: fr-1-2\nevent: message\ndata: {}\n\n");
  CHECK(format_event("", "", "") == "data: \n\n");
  CHECK(read({format_event("a-1", "", "x\r\nid: evil\rretry: 1\n\nevent: y")}) ==
        "[id=a-1 data=x\nid: evil\nretry: 1\n\nevent: y]");
}

}  // namespace freshet::codec
