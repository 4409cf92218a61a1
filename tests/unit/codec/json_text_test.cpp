#include "proxy/codec/json_text.hpp"

#include <catch2/catch.hpp>

#include "proxy/codec/json_string.hpp"

namespace freshet::codec {

namespace {

JsonFault fault_of(std::string_view text, std::size_t depth_max = json_depth_max_default) {
  JsonReader reader(text, depth_max);
  reader.skip();
  reader.finish();
  return reader.fault();
}

bool unrepresentable(std::string_view text) {
  JsonReader reader(text);
  reader.skip();
  REQUIRE(reader.finish());
  return reader.saw_unrepresentable();
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("what RFC 8259 allows is accepted", "[json_text]") {
  for (const auto* text :
       {"{}", "[]", " [ ] ", "{\"\":{}}", "[1,-0,0.5,1e9,1E-2,2.5e+3]", "[true,false,null]", "\"\\u0000\\/\\b\x7f\"",
        "{\"a\":[{\"b\":[[],{}]}],\"a\":1}", "\"caf\xc3\xa9 \xf0\x9f\x8d\xb8 \xed\x9f\xbf\"", "\xef\xbb\xbf{}", "0",
        "\"bad \\ud83d end\""}) {
    INFO(text);
    CHECK(fault_of(text) == JsonFault::none);
  }
}

TEST_CASE("what RFC 8259 does not allow is malformed", "[json_text]") {
  for (const auto* text : {"",
                           " ",
                           "{",
                           "}",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{'a':1}",
                           "[1}",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "0x1",
                           "NaN",
                           "tru",
                           "truee",
                           "nul",
                           "\"",
                           "\"\\",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\u12",
                           "\"a\nb\"",
                           "{} {}",
                           "[]]",
                           "\"\xff\"",
                           "\"\xc3\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "//",
                           "\xef\xbb{}",
                           "{\"a\":1 \"b\":2}",
                           "[\"a\":1]"}) {
    INFO(text);
    CHECK(fault_of(text) == JsonFault::malformed);
  }
}

TEST_CASE("depth is limited exactly, and 200,000 brackets are refused at once (B71)", "[json_text]") {
  CHECK(fault_of("[[[]]]", 3) == JsonFault::none);
  CHECK(fault_of("[[{\"a\":[]}]]", 3) == JsonFault::too_deep);
  CHECK(fault_of(repeated("[", 200'000)) == JsonFault::too_deep);
  const auto deep = repeated("[", json_depth_ceiling) + repeated("]", json_depth_ceiling);
  CHECK(fault_of(deep, json_depth_ceiling) == JsonFault::none);
  CHECK(fault_of('[' + deep + ']', 1'000'000) == JsonFault::too_deep);
}

TEST_CASE("values without an exact common representation are noticed (B67, B69)", "[json_text]") {
  CHECK_FALSE(unrepresentable("[1915883588174806058,18446744073709551615,-9223372036854775808,-0.0,0.10,1e300]"));
  CHECK_FALSE(unrepresentable("\"\\ud83c\\udf78\""));
  CHECK(unrepresentable("1e400"));
  CHECK(unrepresentable("18446744073709551616"));
  CHECK(unrepresentable("0.1234567890123456789"));
  CHECK(unrepresentable("\"bad \\ud83d end\""));
  CHECK(unrepresentable("\"\\udf78\\ud83c\""));
  CHECK(unrepresentable("{\"\\ud800k\":1}"));
}

TEST_CASE("members and elements are visited in order and nest", "[json_text]") {
  const std::string_view text = R"( {"a" : [1, {"x":2}] ,"b":{"c":"d"}} )";
  JsonReader reader(text);
  std::string seen;
  REQUIRE(reader.peek() == JsonKind::object);
  reader.members([&](std::string_view name) {
    seen += name;
    if (reader.peek() == JsonKind::array) {
      reader.elements([&] { seen += '<' + std::string(reader.skip().in(text)) + '>'; });
    } else {
      reader.members([&](std::string_view inner) { seen += std::string(inner) + std::string(reader.skip().in(text)); });
    }
  });
  CHECK(reader.finish());
  CHECK(seen == R"("a"<1><{"x":2}>"b""c""d")");
}

TEST_CASE("a value is found by its path unless a member on the way occurs twice", "[json_text]") {
  const std::string_view text = R"({"a":{"\u0062":[1]},"c":1})";
  const auto found = find_value(text, {"a", "b"});
  REQUIRE(found);
  CHECK(found->in(text) == "[1]");
  CHECK_FALSE(find_value(text, {"a", "x"}));
  CHECK_FALSE(find_value(text, {"c", "x"}));
  CHECK_FALSE(find_value(R"({"a":1,"\u0061":2})", {"a"}));
  CHECK_FALSE(find_value(R"({"a":1} x)", {"a"}));
}

TEST_CASE("duplicate names are found after unescaping, and compare exactly (B68)", "[json_text]") {
  const auto duplicates = [](std::initializer_list<std::string_view> tokens) {
    MemberNames names;
    for (const auto token : tokens) names.add(token);
    return names.has_duplicates();
  };
  CHECK(duplicates({R"("method")", R"("id")", R"("m\u0065thod")"}));
  CHECK_FALSE(duplicates({R"("method")", R"("Method")", R"("methods")"}));
}

TEST_CASE("text survives quoting and unquoting", "[json_string]") {
  for (const std::string_view text : {std::string_view("a\"b\\c/d"), std::string_view("\0\x01\x1f\n\r\t\b\f", 8),
                                      std::string_view("caf\xc3\xa9 \xf0\x9f\x8d\xb8\x7f")})
    CHECK(unquote(quote(text)) == text);
  CHECK(unquote(R"("\u0041\u00e9\u20ac\ud83c\udf78\/")") == "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x8d\xb8/");
}

TEST_CASE("what is quoted holds no control and no invalid UTF-8 (B59)", "[json_string]") {
  CHECK(quote(std::string_view("x\r\n\0\x1b", 5)) == R"("x\r\n\u0000\u001b")");
  CHECK(quote("a\xff\xc3") == "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST_CASE("a lone surrogate keeps its identity through unquote and quote (B69)", "[json_string]") {
  CHECK(quote(unquote(R"("bad \ud83d end")")) == R"("bad \ud83d end")");
  CHECK(unquote(R"("\ud83d")") != unquote(R"("\ufffd")"));
}

}  // namespace freshet::codec
