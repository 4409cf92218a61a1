#include "proxy/codec/mcp.hpp"

#include <catch2/catch.hpp>

#include "proxy/codec/jsonrpc.hpp"

namespace freshet::codec {

namespace {

std::string initialize_result(std::string_view capabilities) {
  return result_response("1", R"({"protocolVersion":"2025-11-25","capabilities":)" + std::string(capabilities) +
                                  R"(,"serverInfo":{"name":"u","version":"9","icons":[]}})");
}

}  // namespace

TEST_CASE("an initialize result tells version, server and declaration", "[mcp]") {
  const auto read = read_initialize_result(initialize_result(R"({"resources":{"subscribe":true,"listChanged":true}})"));
  CHECK(read.ok);
  CHECK(read.protocol_version == "2025-11-25");
  CHECK(read.server_name == "u");
  CHECK(read.server_version == "9");
  CHECK(read.declaration.resources);
  CHECK(read.declaration.subscribe);
  CHECK(read.declaration.list_changed);
}

TEST_CASE("what was not declared is not assumed", "[mcp]") {
  const auto bare = read_initialize_result(initialize_result(R"({"resources":{"subscribe":"true"}})"));
  CHECK(bare.declaration.resources);
  CHECK_FALSE(bare.declaration.subscribe);
  CHECK_FALSE(read_initialize_result(initialize_result(R"({"tools":{}})")).declaration.resources);
  CHECK_FALSE(read_initialize_result(error_response("1", -32602, "no")).ok);
  CHECK_FALSE(read_initialize_result("not json").ok);
}

TEST_CASE("a discover result tells its versions and the server in _meta", "[mcp]") {
  const auto read = read_initialize_result(
      R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"resources":{}},)"
      R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}}}})");
  CHECK(read.ok);
  CHECK(read.supported_versions == std::vector<std::string>{"2026-07-28"});
  CHECK(read.server_name == "s");
  CHECK(read.declaration.resources);
}

TEST_CASE("only capabilities.resources.subscribe becomes true (B70)", "[mcp]") {
  const std::string head =
      R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{)";
  const std::string tail =
      R"("x-vendor":1},"extensions":{"io.modelcontextprotocol/ui":{}}},"instructions":"read me","_meta":{"k/v":[]}},"x":{}})";
  CHECK(show_subscribe(head + tail) == head + R"("subscribe":true,)" + tail);
  CHECK(show_list_changed(head + tail) == head + R"("listChanged":true,)" + tail);
}

TEST_CASE("a subscribe that is there is replaced where it stands, an empty object gets one", "[mcp]") {
  const auto shown = [](std::string_view resources) {
    return show_subscribe(initialize_result(R"({"resources":)" + std::string(resources) + "}"));
  };
  const auto expected = [](std::string_view resources) {
    return initialize_result(R"({"resources":)" + std::string(resources) + "}");
  };
  CHECK(shown("{}") == expected(R"({"subscribe":true})"));
  CHECK(shown("{ \n}") == expected("{\"subscribe\":true \n}"));
  CHECK(shown(R"({ "a" : 1 })") == expected(R"({"subscribe":true, "a" : 1 })"));
  CHECK(shown(R"({"listChanged":true,"subscribe" : false })") ==
        expected(R"({"listChanged":true,"subscribe" : true })"));
  CHECK(shown(R"({"subscribe":{"x":[]},"y":2})") == expected(R"({"subscribe":true,"y":2})"));
}

TEST_CASE("a message is left as it is where nothing can be shown without guessing", "[mcp]") {
  for (const auto& message : {initialize_result(R"({"tools":{}})"), initialize_result(R"({"resources":true})"),
                              initialize_result(R"({"resources":{"subscribe":true}})"),
                              initialize_result(R"({"resources":{"subscribe":false,"sub\u0073cribe":false}})"),
                              initialize_result(R"({"resources":{},"resources":{}})"), error_response("1", -1, "x"),
                              std::string("not json"), std::string()})
    CHECK(show_subscribe(message) == message);
}

TEST_CASE("a byte order mark does not shift the place", "[mcp]") {
  const auto plain = initialize_result(R"({"resources":{}})");
  CHECK(show_subscribe("\xef\xbb\xbf" + plain) == "\xef\xbb\xbf" + show_subscribe(plain));
}

TEST_CASE("an update carries the URI byte for byte and Freshet's _meta", "[mcp]") {
  const UpdateMeta meta{"poll", "17", "2026-07-28T09:00:00.000Z", 33'000, ""};
  const auto text = updated_notification("x://a\r\nb%20\"", meta);
  CHECK(text == R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://a\r\nb%20\"",)"
                R"("_meta":{"dev.freshet/strategy":"poll","dev.freshet/version":"17",)"
                R"("dev.freshet/observedAt":"2026-07-28T09:00:00.000Z","dev.freshet/stalenessBoundMs":33000}}})");
  const auto envelope = read_envelope(text);
  REQUIRE(envelope.has_value());
  CHECK(envelope->messages.front().uri == "x://a\r\nb%20\"");
}

TEST_CASE("modern notifications are tagged with the subscription id", "[mcp]") {
  CHECK(updated_notification("a:b", {"poll", "1", "t", 1, "\"L\""})
            .find(R"("_meta":{"io.modelcontextprotocol/subscriptionId":"L",)") != std::string::npos);
  CHECK(list_changed_notification() == R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})");
  CHECK(list_changed_notification("1") == R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed",)"
                                          R"("params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}})");
}

TEST_CASE("a listen filter is read and acknowledged", "[mcp]") {
  const auto filter = read_listen_filter(
      R"({"_meta":{},"notifications":{"toolsListChanged":true,"x":1,"resourceSubscriptions":["a:b","c\u003ad"]}})");
  REQUIRE(filter);
  CHECK(filter->tools_list_changed);
  CHECK_FALSE(filter->resources_list_changed);
  CHECK(filter->resource_uris == std::vector<std::string>{"a:b", "c:d"});
  CHECK(acknowledged_notification("1", *filter) ==
        R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":)"
        R"({"io.modelcontextprotocol/subscriptionId":1},"notifications":)"
        R"({"toolsListChanged":true,"resourceSubscriptions":["a:b","c:d"]}}})");
  CHECK(acknowledged_notification("1", {}).ends_with(R"("notifications":{}}})"));
}

TEST_CASE("a listen filter that can be read in two ways, or in none, is refused", "[mcp]") {
  for (const auto* params :
       {"", "{}", R"({"notifications":[]})", R"({"notifications":{"resourceSubscriptions":"a:b"}})",
        R"({"notifications":{"resourceSubscriptions":[1]}})", R"({"notifications":{"toolsListChanged":1}})",
        R"({"notifications":{"resourceSubscriptions":["a"],"resourceSubscriptions":["b"]}})"}) {
    INFO(params);
    CHECK_FALSE(read_listen_filter(params));
  }
}

TEST_CASE("cache hints are read, and anything but one public scope is private", "[mcp]") {
  const auto hint = read_cache_hint(R"({"resultType":"complete","contents":[],"ttlMs":5000,"cacheScope":"public"})");
  CHECK(hint.ttl_ms == 5'000u);
  CHECK(hint.is_public);
  CHECK(hint.result_type == "complete");
  for (const auto* result : {"{}", "[]", R"({"ttlMs":-1,"cacheScope":"Public"})", R"({"ttlMs":1.5})",
                             R"({"ttlMs":"5"})", R"({"cacheScope":"private","cacheScope":"public"})"}) {
    INFO(result);
    CHECK_FALSE(read_cache_hint(result).ttl_ms);
    CHECK_FALSE(read_cache_hint(result).is_public);
  }
}

TEST_CASE("an empty cursor is a cursor, null and missing end the list (B78)", "[mcp]") {
  const auto page =
      read_uri_list(R"({"resources":[{"uri":"a:b","name":"x"},{"name":"no uri"},{"uri":"c:d"}],"nextCursor":""})");
  CHECK(page.ok);
  REQUIRE(page.resources.size() == 2);
  CHECK(page.resources[0].uri == "a:b");
  CHECK(page.resources[1].uri == "c:d");
  CHECK(page.next_cursor == "");
  CHECK_FALSE(read_uri_list(R"({"resources":[],"nextCursor":null})").next_cursor);
  CHECK_FALSE(read_uri_list(R"({"resources":[]})").next_cursor);
  CHECK_FALSE(read_uri_list(R"({"contents":[]})").ok);
}

TEST_CASE("wall time is shown in UTC with milliseconds", "[mcp]") {
  CHECK(iso8601(0) == "1970-01-01T00:00:00.000Z");
  CHECK(iso8601(1'785'229'200'007) == "2026-07-28T09:00:00.007Z");
  CHECK(iso8601(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(iso8601(INT64_MAX) == "9999-12-31T23:59:59.999Z");
}

}  // namespace freshet::codec
