#include "proxy/codec/header_value.hpp"

#include <catch2/catch.hpp>

namespace freshet::codec {

TEST_CASE("a value that may stand in a field stands as it is", "[header_value]") {
  for (const auto* value : {"us-west1", "file:///projects/myapp/config.json", "a b", "", "=?base64?x"})
    CHECK(encode_header_value(value) == value);
}

TEST_CASE("any other value travels as Base64, one that looks encoded too (B79)", "[header_value]") {
  CHECK(encode_header_value("Hello, \xe4\xb8\x96\xe7\x95\x8c") == "=?base64?SGVsbG8sIOS4lueVjA==?=");
  CHECK(encode_header_value(" padded ") == "=?base64?IHBhZGRlZCA=?=");
  CHECK(encode_header_value("line1\nline2") == "=?base64?bGluZTEKbGluZTI=?=");
  CHECK(encode_header_value("=?base64?literal?=") == "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
}

TEST_CASE("what was encoded is decoded, strictly", "[header_value]") {
  const std::string uri =
      "file:///Za\xc5\x82\xc4\x85"
      "czniki/r.pdf";
  CHECK(encode_header_value(uri) == "=?base64?ZmlsZTovLy9aYcWCxIVjem5pa2kvci5wZGY=?=");
  CHECK(decode_header_value(encode_header_value(uri)) == uri);
  CHECK(decode_header_value("plain") == "plain");
  CHECK(decode_header_value("=?BASE64?YQ==?=") == "=?BASE64?YQ==?=");
  for (const auto* bad :
       {"=?base64?YQ?=", "=?base64?Y===?=", "=?base64?Y-_=?=", "=?base64?YR==?=", "=?base64?====?="}) {
    INFO(bad);
    CHECK_FALSE(decode_header_value(bad));
  }
}

}  // namespace freshet::codec
