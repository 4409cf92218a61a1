#include "proxy/codec/jsonrpc.hpp"

#include <catch2/catch.hpp>

namespace freshet::codec {

namespace {

Message message_in(std::string_view body) {
  auto envelope = read_envelope(body);
  REQUIRE(envelope.has_value());
  REQUIRE_FALSE(envelope->is_batch);
  return std::move(envelope->messages.front());
}

std::string subscribe_with(std::string_view id_member) {
  return R"({"jsonrpc":"2.0",)" + std::string(id_member) +
         R"("method":"resources/subscribe","params":{"uri":"board://team-7/status"}})";
}

EnvelopeFault fault_of(std::string_view body, const EnvelopeLimits& limits = {}) {
  const auto envelope = read_envelope(body, limits);
  REQUIRE_FALSE(envelope.has_value());
  return envelope.error();
}

}  // namespace

TEST_CASE("an id keeps its type and token (B61)", "[jsonrpc]") {
  for (const std::string id : {R"("0")", R"("init-1")", "0", "-1", R"("")"}) {
    const auto message = message_in(subscribe_with("\"id\":" + id + ","));
    CHECK(message.kind == MessageKind::request);
    CHECK(message.id_json == id);
  }
}

TEST_CASE("ids that are equal after unescaping compare equal", "[jsonrpc]") {
  CHECK(message_in(subscribe_with(R"("id":"\u0061\/",)")).id_json == R"("a/")");
}

TEST_CASE("an id that is no string, integer or null makes the message invalid and is not kept (B71)", "[jsonrpc]") {
  for (const auto* id : {"1.5", "1e3", "true", "{}", "[1]"}) {
    const auto message = message_in(subscribe_with("\"id\":" + std::string(id) + ","));
    CHECK(message.kind == MessageKind::invalid);
    CHECK(message.id_json.empty());
  }
  const auto huge = message_in(subscribe_with("\"id\":\"" + std::string(5'000, 'x') + "\","));
  CHECK(huge.kind == MessageKind::invalid);
  CHECK(huge.id_json.empty());
}

TEST_CASE("a request with a null id is a request and says so (B63)", "[jsonrpc]") {
  const auto message = message_in(subscribe_with("\"id\":null,"));
  CHECK(message.kind == MessageKind::request);
  CHECK(message.id_is_null);
  CHECK(message.id_json.empty());
}

TEST_CASE("a method without an id is a notification (B65)", "[jsonrpc]") {
  CHECK(message_in(R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})").kind ==
        MessageKind::notification);
  const auto message = message_in(subscribe_with(""));
  CHECK(message.kind == MessageKind::notification);
  CHECK(message.uri == "board://team-7/status");
}

TEST_CASE("what is no JSON-RPC 2.0 message is invalid (B42)", "[jsonrpc]") {
  for (const auto* body :
       {"1", "null", "\"x\"", "{}", R"({"type":"heartbeat"})", R"({"id":1,"method":"ping"})",
        R"({"jsonrpc":2.0,"id":1,"method":"ping"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"method":7})", R"({"jsonrpc":"2.0","id":1,"method":"x","result":{}})",
        R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})"}) {
    INFO(body);
    CHECK(message_in(body).kind == MessageKind::invalid);
  }
}

TEST_CASE("members of a batch are told apart, each with its place (B66)", "[jsonrpc]") {
  const std::string_view body =
      R"([{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"board://team-7/status"}}, )"
      R"({"jsonrpc":"2.0","method":"notifications/initialized"},1,{"jsonrpc":"2.0","id":3,"result":{}}])";
  const auto envelope = read_envelope(body);
  REQUIRE(envelope.has_value());
  CHECK(envelope->is_batch);
  REQUIRE(envelope->messages.size() == 4);
  const auto& messages = envelope->messages;
  CHECK(messages[0].uri == "board://team-7/status");
  CHECK(messages[1].span.in(body) == R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(messages[2].kind == MessageKind::invalid);
  CHECK(messages[2].span.in(body) == "1");
  CHECK(messages[3].result.in(body) == "{}");
}

TEST_CASE("bodies that are no envelope are refused each for its own reason", "[jsonrpc]") {
  CHECK(fault_of("[]") == EnvelopeFault::empty_batch);
  CHECK(fault_of("") == EnvelopeFault::malformed);
  CHECK(fault_of("{\"jsonrpc\":\"2.0\"") == EnvelopeFault::malformed);
  CHECK(fault_of("{} {}") == EnvelopeFault::malformed);
  CHECK(fault_of("{\"a\":\"\xff\"}") == EnvelopeFault::malformed);
  CHECK(fault_of("[1,2,3]", {.batch_members_max = 2}) == EnvelopeFault::batch_too_long);
  CHECK(fault_of("[1,2,3", {.batch_members_max = 2}) == EnvelopeFault::malformed);
}

TEST_CASE("an id of 200,000 brackets is refused as too deep (B71)", "[jsonrpc]") {
  const auto body = R"({"jsonrpc":"2.0","method":"resources/subscribe","params":{"uri":"a://b"},"id":)";
  CHECK(fault_of(body + std::string(200'000, '[')) == EnvelopeFault::too_deep);
}

TEST_CASE("names compare exactly and duplicates are noticed (B68)", "[jsonrpc]") {
  const auto message = message_in(
      R"({"jsonrpc":"2.0","id":5,"method":"ping","Method":"resources/subscribe","params":{"uri":"a://1","uri":"a://2"}})");
  CHECK(message.method == "ping");
  CHECK(message.duplicate_members);
  CHECK(message_in(R"({"jsonrpc":"2.0","id":5,"method":"ping","m\u0065thod":"x"})").duplicate_members);
  CHECK(message_in(R"({"jsonrpc":"2.0","id":5,"method":"x","params":{"_meta":{"a":1,"a":2}}})").duplicate_members);
  CHECK_FALSE(message_in(R"({"jsonrpc":"2.0","id":5,"method":"ping","Method":"x"})").duplicate_members);
}

TEST_CASE("URIs are taken byte for byte (B73, B74)", "[jsonrpc]") {
  for (const auto* uri : {"skill://d/setup%20guide.md", "skill://d/setup guide.md", "skill://d/%c3%a9", "FOO:///bar",
                          "https://h", "https://h/", "a",
                          "file:///Za\xc5\x82\xc4\x85"
                          "czniki/r.pdf"}) {
    const auto message = message_in(request("1", "resources/read", "{\"uri\":" + quote(uri) + "}"));
    CHECK(message.uri == uri);
    CHECK(message.has_uri);
  }
}

TEST_CASE("the parameters that Freshet acts on are read, others are noticed", "[jsonrpc]") {
  const auto plain = message_in(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"_meta":
    {"io.modelcontextprotocol/protocolVersion":"2026-07-28","x":[]},"uri":"a://b"}})");
  CHECK(plain.meta_protocol_version == "2026-07-28");
  CHECK_FALSE(plain.params_extra);
  const auto extra = message_in(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"uri":7,"requestState":"s"}})");
  CHECK(extra.params_extra);
  CHECK_FALSE(extra.has_uri);
  CHECK(message_in(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})")
            .protocol_version == "2025-11-25");
  CHECK(message_in(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}})")
            .request_id_json == "\"7\"");
}

TEST_CASE("a byte order mark before the body is tolerated (B56)", "[jsonrpc]") {
  const std::string_view body = "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}";
  CHECK(message_in(body).result.in(body) == "{\"a\":1}");
  CHECK(read_reply(body, "1").kind == Reply::Kind::result);
}

TEST_CASE("a reply is told apart by its id, type included", "[jsonrpc]") {
  const std::string_view body = R"({"jsonrpc":"2.0","id":"fr-1","result":{"contents":[]}})";
  const auto reply = read_reply(body, R"("fr-1")");
  CHECK(reply.kind == Reply::Kind::result);
  CHECK(reply.result.in(body) == R"({"contents":[]})");
  CHECK(reply.id.in(body) == R"("fr-1")");
  CHECK_FALSE(reply.opaque);
  CHECK(read_reply(body, R"("fr-2")").kind == Reply::Kind::not_ours);
  CHECK(read_reply(R"({"jsonrpc":"2.0","id":1,"result":{}})", R"("1")").kind == Reply::Kind::not_ours);
  CHECK(read_reply(R"({"jsonrpc":"2.0","result":{}})", R"("1")").kind == Reply::Kind::not_ours);
  CHECK(read_reply(R"({"jsonrpc":"2.0","id":1,"method":"ping"})", "1").kind == Reply::Kind::not_ours);
}

TEST_CASE("an error's code, message and place are known whatever its id (B24, B72, B77)", "[jsonrpc]") {
  const std::string_view body = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x","data":{}}})";
  const auto reply = read_reply(body, "\"3\"");
  CHECK(reply.kind == Reply::Kind::error);
  CHECK(reply.code == -32603);
  CHECK(reply.message == "x");
  CHECK(reply.error.in(body) == R"({"code":-32603,"message":"x","data":{}})");
  CHECK(read_reply(R"({"jsonrpc":"2.0","error":{"code":0,"message":"Unknown resource: x"}})", "3").kind ==
        Reply::Kind::error);
  const auto other = read_reply(R"({"jsonrpc":"2.0","id":"server-error","error":{"code":-32000,"message":"y"}})", "3");
  CHECK(other.kind == Reply::Kind::not_ours);
  CHECK(other.code == -32000);
}

TEST_CASE("numbers and surrogates that value types cannot hold do not break a reply (B67, B69)", "[jsonrpc]") {
  const auto numbers = read_reply(
      R"({"jsonrpc":"2.0","id":3,"result":{"structuredContent":{"id":1915883588174806058,"d":1e400,"z":-0.0}}})", "3");
  CHECK(numbers.kind == Reply::Kind::result);
  CHECK(numbers.opaque);
  const auto surrogates = read_reply(
      R"({"jsonrpc":"2.0","id":3,"result":{"contents":[{"text":"bad \ud83d end \ud83c\udf78 \u0000"}],"\ud800k":1}})",
      "3");
  CHECK(surrogates.kind == Reply::Kind::result);
  CHECK(surrogates.opaque);
}

TEST_CASE("what is no reply at all is malformed", "[jsonrpc]") {
  for (const auto* body : {"", "null", "[]", "<html>", "{}", R"({"jsonrpc":"2.0","id":3})",
                           R"({"jsonrpc":"2.0","id":3,"result":{)", R"({"id":3,"result":1,"error":{}})"}) {
    INFO(body);
    CHECK(read_reply(body, "3").kind == Reply::Kind::malformed);
  }
}

TEST_CASE("what is written is one line and reads back", "[jsonrpc]") {
  CHECK(error_response("", -32600, "a\r\n\"b\"") ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a\r\n\"b\""}})");
  CHECK(error_response("7", 0, "m", "{}") == R"({"jsonrpc":"2.0","id":7,"error":{"code":0,"message":"m","data":{}}})");
  CHECK(result_response("\"a\"", "{}") == R"({"jsonrpc":"2.0","id":"a","result":{}})");
  CHECK(request("1", "ping") == R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  CHECK(notification("n", R"({"a":1})") == R"({"jsonrpc":"2.0","method":"n","params":{"a":1}})");
}

}  // namespace freshet::codec
