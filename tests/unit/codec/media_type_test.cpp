#include "proxy/codec/media_type.hpp"

#include <catch2/catch.hpp>

namespace freshet::codec {

TEST_CASE("a media type is known whatever its case and parameters (B81)", "[media_type]") {
  CHECK(is_json("Application/JSON; Charset=\"UTF-8\""));
  CHECK(is_json("application/json"));
  CHECK(is_event_stream("text/event-stream;charset=UTF-8"));
  CHECK(is_event_stream(" Text/Event-Stream ; a=b"));
  CHECK_FALSE(is_json("application/json-seq"));
  CHECK_FALSE(is_json("text/event-stream"));
  CHECK_FALSE(is_json(""));
}

TEST_CASE("Accept is honoured in any order, with ranges and refusals (B82)", "[media_type]") {
  const auto json = "application/json";
  const auto stream = "text/event-stream";
  CHECK(accepts("", stream));
  CHECK(accepts("*/*", stream));
  CHECK_FALSE(accepts("application/json", stream));
  CHECK(accepts("text/event-stream, application/json", json));
  CHECK_FALSE(accepts("application/json;q=0.9, text/event-stream;q=0", stream));
  CHECK(accepts("application/json;q=0.9, text/event-stream;q=0", json));
  CHECK_FALSE(accepts("text/event-stream; Q=0.000, */*", stream));
  CHECK(accepts("*/*;q=0, TEXT/*", stream));
  CHECK_FALSE(accepts("text/*;q=0, */*", stream));
  CHECK(accepts("text/event-stream;q=0.001", stream));
  CHECK(accepts("application/json;a=\"x, text/html\", text/event-stream", stream));
  CHECK_FALSE(accepts("text/event", stream));
}

}  // namespace freshet::codec
