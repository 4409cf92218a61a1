#include "strategies/digest.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "strategies/tree_hash.hpp"

namespace freshet {

namespace {

std::string digest(const std::string& result, const VolatileParts& parts = {}) {
  const auto digested = content_digest(result, parts);
  REQUIRE(digested.has_value());
  return to_hex(digested->digest);
}

// A result with one item of these members.
std::string item(const std::string& members) {
  return R"({"contents":[{"uri":"r://a",)" + members + "}]}";
}

// A result whose item has one member `n` of this value, in a spelling of the value.
std::string value(const std::string& json) {
  return item(R"("n":)" + json);
}

std::string json_item(const std::string& text, const std::string& mime = "application/json") {
  return item(R"("text":")" + text + R"(","mimeType":")" + mime + '"');
}

std::string repeated(const std::string& piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

}  // namespace

TEST_CASE("the order of members and of items is not content", "[B20]") {
  const auto first = R"({"contents":[{"uri":"r://a","text":"1"},{"uri":"r://b","text":"2"}]})";
  CHECK(digest(first) == digest(R"({"contents":[{"text":"2","uri":"r://b"},{"text":"1","uri":"r://a"}]})"));
  CHECK(digest(first) != digest(R"({"contents":[{"uri":"r://a","text":"2"},{"uri":"r://b","text":"1"}]})"));
}

TEST_CASE("the order of items of one uri and of duplicate members is content", "[B20]") {
  const auto items = [](const std::string& a, const std::string& b) {
    return R"({"contents":[{"uri":"u","text":")" + a + R"("},{"uri":"u","text":")" + b + R"("}]})";
  };
  CHECK(digest(items("1", "2")) != digest(items("2", "1")));
  CHECK(digest(items("1", "1")) != digest(R"({"contents":[{"uri":"u","text":"1"}]})"));
  CHECK(digest(item(R"("k":1,"k":2)")) != digest(item(R"("k":2,"k":1)")));
  CHECK(digest(item(R"("k":1,"k":2)")) != digest(item(R"("k":2)")));
}

TEST_CASE("every item of a read counts", "[B76]") {
  CHECK(digest(R"({"contents":[{"uri":"d://p/1","text":"a"},{"uri":"d://p/2","text":"b"}]})") !=
        digest(R"({"contents":[{"uri":"d://p/1","text":"a"},{"uri":"d://p/2","text":"B"}]})"));
}

TEST_CASE("numbers are compared by their exact value", "[B67]") {
  CHECK(digest(value("1915883588174806058")) != digest(value("1915883588174806059")));
  CHECK(digest(value("123456789012345678901234567890")) != digest(value("123456789012345678901234567891")));
  CHECK(digest(value("0.1000000000000000000001")) != digest(value("0.1")));
  CHECK(digest(value("0.10")) == digest(value("0.1")));
  CHECK(digest(value("1e-400")) != digest(value("0")));
  CHECK(digest(value("-1")) != digest(value("1")));
  for (const auto* one : {"1.0", "1e0", "10e-1", "0.01E+2", "1.000e00"})
    CHECK(digest(value(one)) == digest(value("1")));
  for (const auto* zero : {"-0", "0.0", "-0.0", "0e9"}) CHECK(digest(value(zero)) == digest(value("0")));
}

TEST_CASE("a decimal has one form, and an endless exponent stands for itself") {
  CHECK(canonical_decimal("-120.50e3") == "-1205e2");
  CHECK(canonical_decimal("9223372036854775808") == "9223372036854775808e0");
  CHECK(canonical_decimal("1e-99999999999999999998") != canonical_decimal("1e-99999999999999999999"));
}

TEST_CASE("values of different types and members of different names differ") {
  CHECK(digest(value("1")) != digest(value(R"("1")")));
  CHECK(digest(value("true")) != digest(value("1")));
  CHECK(digest(value("null")) != digest(value("false")));
  CHECK(digest(value("[]")) != digest(value("{}")));
  CHECK(digest(value("[[1],2]")) != digest(value("[[1,2]]")));
  CHECK(digest(item(R"("text":"AA==")")) != digest(item(R"("blob":"AA==")")));
}

TEST_CASE("strings are compared after unescaping and not further") {
  CHECK(digest(item(R"("text":"\u0041\/\ud83c\udf78")")) == digest(item(R"("text":"A/🍸")")));
  CHECK(digest(item(R"("text":"e\u0301")")) != digest(item(R"("text":"é")")));
  CHECK(digest(item(R"("text":"a\u0000b")")) != digest(item(R"("text":"ab")")));
}

TEST_CASE("a blob in another alphabet, unpadded or wrapped is another blob", "[B75]") {
  const auto blob = [](const std::string& text) {
    return digest(item(R"("mimeType":"image/png","blob":")" + text + '"'));
  };
  CHECK(blob("+/+/AA==") != blob("-_-_AA=="));
  CHECK(blob("+/+/AA==") != blob("+/+/AA"));
  CHECK(blob("+/+/AA==") != blob(R"(+/+/\r\nAA==)"));
}

TEST_CASE("white space, _meta and everything beside contents is left out") {
  const auto plain = digest(item(R"("annotations":{"priority":1},"text":"x")"));
  CHECK(plain == digest(R"( { "contents" : [ {"uri":"r://a", "annotations":{"priority":1}, "text":"x"} ] } )"));
  CHECK(plain == digest(item(R"("_meta":{"n":[7]},"annotations":{"priority":1,"_meta":1},"text":"x","_meta":0)")));
  CHECK(plain ==
        digest(R"({"_meta":{"contents":[1]},"ttlMs":5,"cacheScope":"public","resultType":"complete","contents":)"
               R"([{"uri":"r://a","annotations":{"priority":1},"text":"x"}],"nested":{"contents":[2]}})"));
  CHECK(plain != digest(item(R"("annotations":{"priority":2},"text":"x")")));
}

TEST_CASE("lone surrogates are digested by bytes and are not the replacement character", "[B69]") {
  const auto result = [](const std::string& c) {
    return R"({"contents":[{"uri":"p://1","text":"bad )" + c + R"( end \ud83c\udf78 \u0000"}],"\ud800k":1})";
  };
  CHECK(digest(result(R"(\ud83d)")) == digest(result(R"(\ud83d)")));
  CHECK(digest(result(R"(\ud83d)")) != digest(result(R"(\ufffd)")));
  CHECK(digest(result(R"(\ud83d)")) != digest(result(R"(\ud83e)")));
  CHECK(digest(item(R"("text":"\udc00")")) != digest(item(R"("text":"\ufffd")")));
}

TEST_CASE("numbers beyond a double are digested by bytes", "[B67]") {
  CHECK(digest(value("1e400")) == digest(value("1e400")));
  CHECK(digest(value("1e400")) != digest(value("1e401")));
  CHECK(digest(value("-" + repeated("9", 400))) != digest(value("-" + repeated("9", 401))));
}

TEST_CASE("what is digested by bytes still tells its fields") {
  const auto digested = content_digest(R"({"contents":[{"uri":"a","mimeType":"text/x","text":"\ud800"}]})", {});
  REQUIRE(digested.has_value());
  CHECK(digested->mime_type == "text/x");
  CHECK_FALSE(digested->empty);
}

TEST_CASE("a text that is not JSON is malformed, whatever else is in it") {
  for (const auto* text : {"", "{", "nul", R"({"contents":[]}x)", R"({"contents":[],})", R"({"contents":["\ud800"})",
                           R"({"contents":[1e400,01]})", R"({"contents":["\ud8"]})", "{\"contents\":[\"\xff\"]}"}) {
    INFO(text);
    REQUIRE(content_digest(text, {}).has_error());
    CHECK(content_digest(text, {}).error() == DigestError::malformed);
  }
  using namespace std::string_literals;
  CHECK(content_digest("{\"contents\":[]}\0{"s, {}).has_error());
}

TEST_CASE("a result without an array of contents is not contents") {
  for (const auto* text : {"{}", "[]", "7", R"({"contents":{}})", R"({"contents":null})", R"({"a":{"contents":[]}})",
                           R"([["contents",[]]])", R"({"contents":7,"a":[]})", R"({"a":"\ud800"})"}) {
    INFO(text);
    REQUIRE(content_digest(text, {}).has_error());
    CHECK(content_digest(text, {}).error() == DigestError::not_contents);
  }
}

TEST_CASE("empty contents are a version of their own") {
  const auto empty = content_digest(R"({"contents":[]})", {});
  REQUIRE(empty.has_value());
  CHECK(empty->empty);
  CHECK(to_hex(empty->digest) != digest(R"({"contents":[{}]})"));
  CHECK(digest(R"({"contents":[{}]})") != digest(R"({"contents":[null]})"));
}

TEST_CASE("fields come from the first item as sent") {
  const auto digested = content_digest(
      R"({"contents":[{"annotations":{"lastModified":"2026-01-02T03:04:05Z"},"uri":"z","mimeType":"text/plain"},)"
      R"({"uri":"a","mimeType":"text/html","annotations":{"lastModified":"no"}}]})",
      {});
  REQUIRE(digested.has_value());
  CHECK(digested->mime_type == "text/plain");
  CHECK(digested->last_modified == "2026-01-02T03:04:05Z");
}

TEST_CASE("what lies too deep is digested by bytes") {
  const auto deep = [](const std::string& core) { return value(repeated("[", 70) + core + repeated("]", 70)); };
  CHECK(digest(deep("1")) != digest(deep("2")));
  CHECK(digest(deep("1")) != digest(deep("1.0")));
  const auto shallow = [](const std::string& core) { return value(repeated("[", 60) + core + repeated("]", 60)); };
  CHECK(digest(shallow("1")) == digest(shallow("1.0")));
}

TEST_CASE("volatile pointers leave members out, and nothing beside them") {
  const VolatileParts parts{.pointers = {"/annotations/lastModified", "/x~1y/*/at", "/list/0"}, .lines = {}};
  const auto of = [&parts](const std::string& members) { return digest(item(members), parts); };
  CHECK(of(R"("annotations":{"lastModified":"1","p":1})") == of(R"("annotations":{"p":1,"lastModified":{"a":[2]}})"));
  CHECK(of(R"("annotations":{"lastModified":"1","p":1})") != of(R"("annotations":{"lastModified":"1","p":2})"));
  CHECK(of(R"("x/y":[{"at":1,"v":1},{"at":2}])") == of(R"("x/y":[{"at":3,"v":1},{"at":4}])"));
  CHECK(of(R"("x/y":[{"at":1,"v":1}])") != of(R"("x/y":[{"at":1,"v":2}])"));
  CHECK(of(R"("list":[1,2])") == of(R"("list":[9,2])"));
  CHECK(of(R"("list":[1,2])") != of(R"("list":[1,3])"));
  CHECK(of(R"("lastModified":"1")") != of(R"("lastModified":"2")"));
}

TEST_CASE("pointers below text reach into JSON, wherever the MIME type stands") {
  const VolatileParts parts{.pointers = {"/text/at"}, .lines = {}};
  const auto of = [&parts](const std::string& result) { return digest(result, parts); };
  CHECK(of(json_item(R"({\"at\":1,\"v\":1})")) == of(json_item(R"({\"v\":1.0, \"at\":2})")));
  CHECK(of(json_item(R"({\"at\":1,\"v\":1})")) != of(json_item(R"({\"at\":1,\"v\":2})")));
  CHECK(of(json_item(R"({\"_meta\":1})")) != of(json_item(R"({\"_meta\":2})")));
  CHECK(of(json_item(R"({\"at\":1})", "application/hal+json; charset=utf-8")) ==
        of(json_item(R"({\"at\":2})", "application/hal+json; charset=utf-8")));
  CHECK(of(json_item(R"({\"at\":1})", "text/plain")) != of(json_item(R"({\"at\":2})", "text/plain")));
}

TEST_CASE("a JSON text that cannot be parsed is compared as text") {
  const VolatileParts parts{.pointers = {"/text/at"}, .lines = {}};
  CHECK(digest(json_item(R"({\"at\":1)"), parts) != digest(json_item(R"({\"at\":2)"), parts));
  CHECK(digest(json_item(R"({\"at\":1)"), parts) == digest(json_item(R"({\"at\":1)")));
}

TEST_CASE("volatile lines leave lines of text out") {
  const VolatileParts parts{.pointers = {}, .lines = {"generated at *", "#*"}};
  const auto text = [&parts](const std::string& t) { return digest(item(R"("text":")" + t + '"'), parts); };
  CHECK(text(R"(generated at 1\na\n#x\r\nb)") == text(R"(a\ngenerated at 2\nb)"));
  CHECK(text(R"(a\nb)") != text(R"(a\nc)"));
  CHECK(text(R"(a\nb)") != text("ab"));
  CHECK(text("") != text(R"(\n)"));
  CHECK(digest(item(R"("blob":"#1")"), parts) != digest(item(R"("blob":"#2")"), parts));
}

TEST_CASE("a raw digest leaves the id out and nothing else") {
  const std::string a = R"({"id":"f-1","result":1})";
  const std::string b = R"({"id":"f-22","result":1})";
  const std::string c = R"({"id":"f-1","result":2})";
  CHECK(raw_digest(a, 6, 11) == raw_digest(b, 6, 12));
  CHECK(raw_digest(a, 6, 11) != raw_digest(c, 6, 11));
  CHECK(raw_digest("ab", 1, 1) != raw_digest("ab", 2, 2));
}

TEST_CASE("a digest stays what it was, for it is kept across restarts") {
  CHECK(to_hex(Hash128{.high = 1, .low = 0xab}) == "000000000000000100000000000000ab");
  CHECK(digest(item(R"("mimeType":"text/plain","text":"hello","n":[1,null,true,{"k":-2.5}])")) ==
        "3e2d3c6b8b8b80adb2063e0de02b1d5b");
}

}  // namespace freshet
