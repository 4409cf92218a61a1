// The fuzz bodies over a small corpus, so that they are run and stay true between fuzzing.
#include <catch2/catch.hpp>

#include "tests/fuzz/http_body.hpp"
#include "tests/fuzz/json_body.hpp"
#include "tests/fuzz/mcp_body.hpp"
#include "tests/fuzz/sse_body.hpp"

namespace freshet::fuzz {

using namespace std::string_view_literals;

namespace {

// Every prefix of every seed, thus every place where an input can break off.
template <class Body>
void check_prefixes(std::initializer_list<std::string_view> seeds, Body body) {
  for (const auto seed : seeds)
    for (std::size_t n = 0; n <= seed.size(); ++n) {
      INFO(seed.substr(0, n));
      CHECK(body(seed.substr(0, n)) == "");
    }
}

}  // namespace

TEST_CASE("event streams read alike however they are cut", "[fuzz]") {
  check_prefixes({"\x02id: 1\r\nretry: 3000\rdata: a\ndata\n\n:c\r\rdata:b\r\n\r\n"sv,
                  "\x01\xef\xbb\xbf"
                  "data: a\n\n\xef\xbb\xbf"
                  "data: b\n\n"sv,
                  "\x03\xef\xbb"
                  "id: a\0b\nid\nevent: x\nretry: 99999999999999999999\n\n"sv},
                 fuzz_sse);
}

TEST_CASE("the JSON reader agrees with another parser", "[fuzz]") {
  check_prefixes({R"({"jsonrpc":"2.0","id":"a\u0041\ud83c\udf78","method":"x","params":{"uri":"a:b","_meta":{}}})",
                  R"([{"jsonrpc":"2.0","id":-1,"result":{"a":[1.5e3,true,null,-0.0]}},{"id":1e400}])",
                  R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"\ud83d"}})",
                  "\"caf\xc3\xa9\\n\xf0\x9f\x8d\xb8\"", "\xef\xbb\xbf[0]"},
                 fuzz_json);
}

TEST_CASE("showing a capability changes nothing else", "[fuzz]") {
  check_prefixes({R"({"jsonrpc":"2.0","id":1,"result":{"capabilities":{"resources":{ "x":1}},"y":[1.0,"z"]}})",
                  R"({"result":{"capabilities":{"resources":{"subscribe":{"a":[]}}}}})",
                  R"({"notifications":{"resourceSubscriptions":["a:b"],"toolsListChanged":true}})"},
                 fuzz_mcp);
}

TEST_CASE("header readers keep their promises on any bytes", "[fuzz]") {
  check_prefixes(
      {"http://[fe80::1%25eth0]:9001/a?b=1"sv, "https://u.example.test:443/x/../y"sv, "unix:/run/mcp.sock:/mcp?x"sv,
       "//v/w"sv, "../c?d#e"sv, "Sunday, 06-Nov-94 08:49:37 GMT"sv, "Sun Nov  6 08:49:37 1994"sv,
       "text/*;q=0, \"a,b\";q=1, */*"sv, "[::1]:8080"sv, "=?base64?SGVsbG8sIOS4lueVjA==?="sv, " a\xc3\xa9\r\n"sv},
      fuzz_http);
}

}  // namespace freshet::fuzz
