// The session layer's parts that need no socket.
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "proxy/net/log.hpp"
#include "proxy/session/heal_backoff.hpp"
#include "proxy/session/oauth_rewrite.hpp"
#include "proxy/session/outbox.hpp"
#include "proxy/session/own_calls.hpp"
#include "proxy/session/principal.hpp"
#include "proxy/session/reply.hpp"
#include "proxy/session/rollout.hpp"

namespace freshet::session {

namespace {

std::string data_of(const std::optional<Outbox::Item>& item) {
  if (!item) return "(nothing)";
  const auto at = item->frame.find("data: ") + 6;
  return item->frame.substr(at, item->frame.find('\n', at) - at);
}
std::string id_of(const std::optional<Outbox::Item>& item) {
  return item->frame.substr(4, item->frame.find('\n') - 4);
}

codec::RequestHead head_with(codec::Fields fields, std::string target = "/mcp") {
  return {.method = "POST", .target = std::move(target), .minor_version = 1, .fields = std::move(fields)};
}
codec::Fields fields_of(std::initializer_list<std::pair<std::string, std::string>> lines) {
  codec::Fields fields;
  for (const auto& [name, value] : lines) fields.add(name, value);
  return fields;
}

Answer answer(int status, const std::string& body, std::string_view type = "application/json",
              std::size_t bytes_max = 4096) {
  codec::ResponseHead head{.status = status};
  head.fields.add("Content-Type", type);
  ReplyCollector collected(head, "7", bytes_max);
  collected.feed(body);
  collected.end();
  return answer_of(head, collected);
}
std::string error(int code, const std::string& message, const std::string& id = "7") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + std::to_string(code) + R"(,"message":")" +
         message + "\"}}";
}
std::string contents(const std::string& items) {
  return R"({"jsonrpc":"2.0","id":7,"result":{"contents":[)" + items + "]}}";
}

ReadOutcome read(const Answer& answer) {
  return read_outcome(answer, std::nullopt, {}, {});
}
template <class Outcome>
bool reads_as(const Answer& answer) {
  return std::holds_alternative<Outcome>(read(answer));
}
bool fails_as(const Answer& answer, Failure reason) {
  const ReadOutcome outcome = read(answer);
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->reason == reason;
}

struct Named {
  boost::asio::io_context io;
  config::Upstream settings;
  Named() {
    settings.url = {.tls = false, .host = "u.example.test", .port = 8080, .unix_path = {}, .path = "/mcp"};
    settings.path = "/one";
    settings.public_url = "https://p.example.test";
  }
  Upstream made() { return Upstream(io.get_executor(), UpstreamId{0}, settings, 4096, nullptr, environment); }
  config::Environment environment;
};

}  // namespace

TEST_CASE("an outbox keeps the order of messages and notices, and gives each its own id") {
  Outbox outbox("freshet1", {});
  REQUIRE(outbox.push("a", "ping"));
  outbox.push(NoticeId{1}, "b");
  REQUIRE(outbox.push("c", ""));
  const auto first = outbox.pop();
  CHECK(first->frame == "id: freshet1-1\nevent: ping\ndata: a\n\n");
  const auto second = outbox.pop();
  CHECK(second->notice == NoticeId{1});
  CHECK(data_of(outbox.pop()) == "c");
  CHECK(outbox.empty());
}

TEST_CASE("an outbox refuses a message above its limit, and takes notices all the same (B49)") {
  Outbox outbox("freshet1", {.queued_bytes_max = 4});
  CHECK(outbox.push("1234", ""));
  CHECK_FALSE(outbox.push("5", ""));
  outbox.push(NoticeId{1}, "n");
  CHECK(data_of(outbox.pop()) == "1234");
  CHECK(outbox.push("567", ""));
  CHECK_FALSE(outbox.push("8", ""));
}

TEST_CASE("a notice that was withdrawn does not go out, and those of a lost stream are named") {
  Outbox outbox("freshet1", {.queued_bytes_max = 4});
  outbox.push(NoticeId{1}, "aa");
  outbox.push(NoticeId{2}, "b");
  REQUIRE(outbox.push("c", ""));
  outbox.withdraw(NoticeId{1});
  CHECK(outbox.drop_notices() == std::vector{NoticeId{2}});
  CHECK(outbox.push("123", ""));
  CHECK(data_of(outbox.pop()) == "c");
}

TEST_CASE("what followed a cursor is replayed in front and as it was, after each of two losses (B44)") {
  Outbox outbox("freshet1", {});
  for (const char* data : {"a", "b", "c"}) REQUIRE(outbox.push(data, ""));
  const std::string cursor = id_of(outbox.pop());
  const auto b = outbox.pop();
  REQUIRE(outbox.push("d", ""));
  for (int loss = 0; loss < 2; ++loss) {
    REQUIRE(outbox.replay_after(cursor));
    CHECK(outbox.pop()->frame == b->frame);
  }
  CHECK(data_of(outbox.pop()) == "c");
  CHECK(data_of(outbox.pop()) == "d");
  CHECK(outbox.empty());
}

TEST_CASE("a replay that was cut short goes on where it was cut (B44)") {
  Outbox outbox("freshet1", {});
  for (const char* data : {"a", "b", "c"}) REQUIRE(outbox.push(data, ""));
  const std::string first = id_of(outbox.pop());
  const std::string second = id_of(outbox.pop());
  REQUIRE(outbox.pop());
  REQUIRE(outbox.replay_after(first));
  CHECK(data_of(outbox.pop()) == "b");
  REQUIRE(outbox.replay_after(second));
  CHECK(data_of(outbox.pop()) == "c");
  CHECK(outbox.empty());
}

TEST_CASE("a cursor that is foreign, not given out or too old replays nothing (B44)") {
  Outbox outbox("freshet1", {.replay_events_max = 2});
  for (const char* data : {"a", "b", "c", "d"}) REQUIRE(outbox.push(data, ""));
  while (outbox.pop()) {
  }
  for (const char* cursor : {"freshet2-3", "freshet1-5", "freshet1-", "freshet1-3x", "freshet1", "freshet1--1", "u-1",
                             "", "freshet1-99999999999999999999", "freshet1-1"}) {
    CAPTURE(cursor);
    CHECK_FALSE(outbox.replay_after(cursor));
    CHECK(outbox.empty());
  }
  CHECK(outbox.replay_after("freshet1-2"));
}

TEST_CASE("what is kept for replay is bounded in bytes") {
  Outbox outbox("freshet1", {.replay_bytes_max = 3});
  for (const char* data : {"aa", "bb"}) REQUIRE(outbox.push(data, ""));
  while (outbox.pop()) {
  }
  CHECK_FALSE(outbox.replay_after("freshet1-0"));
  CHECK(outbox.replay_after("freshet1-1"));
}

TEST_CASE("equal credentials are one principal, and whatever differs makes another") {
  const PrincipalKeyer keyer({"x-tenant"});
  const auto of = [&](codec::Fields fields, std::string target = "/mcp") {
    return keyer.of(head_with(std::move(fields), std::move(target)));
  };
  const Principal one = of(fields_of({{"Authorization", "Bearer a"}, {"Accept", "x"}}));
  CHECK(one == of(fields_of({{"Accept", "y"}, {"AUTHORIZATION", "Bearer a"}})));
  CHECK(one == of(fields_of({{"Authorization", "Bearer a"}}), "/other"));
  CHECK(one != of(fields_of({{"Authorization", "Bearer b"}})));
  CHECK(one != of(fields_of({{"Authorization", "bearer a"}})));
  CHECK(one != of(fields_of({{"X-Api-Key", "Bearer a"}})));
  CHECK(one != of(fields_of({{"Authorization", "Bearer a"}}), "/mcp?key=1"));
  CHECK(one != of(fields_of({{"Authorization", "Bearer a"}, {"X-Tenant", "t"}})));
  CHECK(one != PrincipalKeyer({}).of(head_with(fields_of({{"Authorization", "Bearer a"}}))));
}

TEST_CASE("no credentials are the anonymous principal, and nothing that carries any is") {
  const PrincipalKeyer keyer({});
  CHECK(keyer.of(head_with({})) == Principal{});
  CHECK(keyer.of(head_with(fields_of({{"X-Tenant", "t"}}))) == Principal{});
  CHECK(keyer.of(head_with(fields_of({{"Cookie", ""}}))) != Principal{});
  CHECK(keyer.of(head_with({}, "/mcp?")) != Principal{});
}

TEST_CASE("credentials cannot be shifted from one header into another") {
  const PrincipalKeyer keyer({});
  const auto of = [&](std::initializer_list<std::pair<std::string, std::string>> lines) {
    return keyer.of(head_with(fields_of(lines)));
  };
  CHECK(of({{"X-Api-Key", "a"}, {"Cookie", "b"}}) != of({{"X-Api-Key", "acookie:1:b"}}));
  CHECK(of({{"Cookie", "a"}, {"Cookie", "b"}}) != of({{"Cookie", "ab"}}));
  CHECK(of({{"Cookie", "a"}, {"Cookie", "b"}}) != of({{"Cookie", "b"}, {"Cookie", "a"}}));
}

TEST_CASE("the order of different credential headers does not matter") {
  const PrincipalKeyer keyer({});
  CHECK(keyer.of(head_with(fields_of({{"X-Api-Key", "a"}, {"Cookie", "b"}}))) ==
        keyer.of(head_with(fields_of({{"Cookie", "b"}, {"X-Api-Key", "a"}}))));
}

TEST_CASE("a refusal of the session is told from an error of the request (B24, B25)") {
  for (const Answer& refused : {answer(404, ""), answer(404, error(-32001, "Session not found", "null")),
                                answer(400, error(-32000, "Bad Request: No valid session ID provided", "null")),
                                answer(400, error(-32000, "Bad Request: Server not initialized", "null")),
                                answer(500, error(-32603, "Unknown session", "null")),
                                answer(200, error(-32600, "missing or invalid session"))}) {
    CAPTURE(refused.status, refused.message);
    CHECK(session_refused(refused));
    CHECK(fails_as(refused, Failure::session_lost));
  }
  for (const Answer& other :
       {answer(404, error(-32601, "Method not found")), answer(401, error(-32000, "no session")),
        answer(400, error(-32000, "bad")), answer(200, error(-32602, "the session parameter is missing")),
        answer(200, error(-32002, "not found: chat://session/1")), answer(200, error(-32603, "database session lost")),
        answer(200, contents(R"({"uri":"a","text":"session not found"})")), answer(503, error(-32000, "session"))}) {
    CAPTURE(other.status, other.message);
    CHECK_FALSE(session_refused(other));
  }
}

TEST_CASE("a read's answer is content, absence, refusal or failure (B37, B72, B77)") {
  CHECK(reads_as<Content>(answer(200, contents(R"({"uri":"a","text":"1"})"))));
  CHECK(reads_as<NotFound>(answer(200, error(-32002, "x"))));
  CHECK(reads_as<NotFound>(answer(200, error(-32602, "x"))));
  CHECK(reads_as<Unauthorized>(answer(401, "")));
  CHECK(reads_as<Forbidden>(answer(403, "")));
  CHECK(reads_as<Throttled>(answer(429, "")));
  CHECK(reads_as<Throttled>(answer(503, "")));
  CHECK(reads_as<Rejected>(answer(200, error(-32001, "x"))));
  CHECK(fails_as(answer(200, error(-32603, "x")), Failure::internal));
  CHECK(fails_as(answer(200, error(-32603, "x", "null")), Failure::internal));
  CHECK(fails_as(answer(200, error(-32603, "x", "\"server-error\"")), Failure::malformed));
  CHECK(fails_as(answer(500, ""), Failure::status));
  CHECK(fails_as(answer(200, ""), Failure::malformed));
  CHECK(fails_as(answer(200, "see docs", "text/plain"), Failure::malformed));
  CHECK(fails_as(answer(200, ": hello\n\n", "text/event-stream"), Failure::malformed));
}

TEST_CASE("an answer above the limit is neither compared nor kept, as JSON and as an event") {
  const std::string large = contents(R"({"uri":"a","text":")" + std::string(100, 'x') + "\"}");
  CHECK(fails_as(answer(200, large, "application/json", 64), Failure::too_large));
  CHECK(fails_as(answer(200, "data: " + large + "\n\n", "text/event-stream", 64), Failure::too_large));
}

TEST_CASE("empty contents are absence, not a content of their own (B77)") {
  const ReadOutcome outcome = read(answer(200, contents("")));
  const auto* content = std::get_if<Content>(&outcome);
  REQUIRE(content != nullptr);
  CHECK(content->digest == absent_digest);
}

TEST_CASE("an event stream is read up to the answer, and its other messages are passed over") {
  const std::string note = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n";
  const std::string other = "data: {\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}}\n\n";
  const std::string found = "data: " + contents(R"({"uri":"a","text":"1"})") + "\n\n";
  CHECK(reads_as<Content>(answer(200, note + other + found + "data: x\n\n", "Text/Event-Stream; charset=utf-8")));
}

TEST_CASE("an answer of the same bytes has the digest that is known, and its id is no part of them") {
  const std::string body = contents(R"({"uri":"a","text":"1"})");
  const Digest known{{7, 7}};
  const Answer same = answer(200, body);
  const RawDigest raw = std::get<Content>(read(same)).raw;
  CHECK(std::get<Content>(read_outcome(same, std::pair(raw, known), {}, {})).digest == known);
  codec::ResponseHead head{.status = 200};
  head.fields.add("Content-Type", "application/json");
  ReplyCollector again(head, "\"other\"", 4096);
  again.feed(std::string(body).replace(body.find(":7,"), 3, ":\"other\","));
  again.end();
  CHECK(std::get<Content>(read(answer_of(head, again))).raw == raw);
}

TEST_CASE("a native subscribe is accepted, not there, refused or failed (B03)") {
  const auto outcome = [](const Answer& answer) { return native_outcome(answer, {}); };
  CHECK(std::holds_alternative<Accepted>(outcome(answer(200, R"({"jsonrpc":"2.0","id":7,"result":{}})"))));
  for (const Answer& missing : {answer(200, error(-32601, "x")), answer(404, error(-32601, "x")),
                                answer(200, error(-32600, "x")), answer(405, ""), answer(501, "")}) {
    CHECK(std::holds_alternative<NotSupported>(outcome(missing)));
  }
  CHECK(std::holds_alternative<Rejected>(outcome(answer(200, error(-32002, "x")))));
  CHECK(std::holds_alternative<Rejected>(outcome(answer(200, error(-32602, "x")))));
  CHECK(std::holds_alternative<Unauthorized>(outcome(answer(401, ""))));
  CHECK(std::holds_alternative<Forbidden>(outcome(answer(403, ""))));
  CHECK(std::holds_alternative<Throttled>(outcome(answer(429, ""))));
  CHECK(std::holds_alternative<Failed>(outcome(answer(200, error(-32603, "x")))));
  CHECK(std::holds_alternative<Failed>(outcome(answer(500, ""))));
  CHECK(std::holds_alternative<Failed>(outcome(answer(200, ""))));
}

TEST_CASE("discovery names the public address where it named the upstream's own, and nothing else changes") {
  Named named;
  const Upstream upstream = named.made();
  CHECK(is_resource_metadata("/.well-known/oauth-protected-resource/mcp"));
  CHECK_FALSE(is_resource_metadata("/.well-known/oauth-authorization-server"));
  const std::string before = R"({ "x":1.0, "resource" : "http://u.example.test:8080/mcp" , "y":["resource"]})";
  const std::string after = R"({ "x":1.0, "resource" : "https://p.example.test/one" , "y":["resource"]})";
  CHECK(rewrite_resource(before, upstream) == after);
  for (const char* same : {R"({"resource":"https://elsewhere.example.test/mcp"})", R"({"resource":7})", "[]",
                           "not json", R"({"resource":"http://u.example.test:8080.evil.example/mcp"})"}) {
    CHECK(rewrite_resource(same, upstream) == same);
  }
}

TEST_CASE("a challenge names the public address of the metadata, and its other parts stay (B93)") {
  Named named;
  const Upstream upstream = named.made();
  codec::Fields fields = fields_of(
      {{"WWW-Authenticate", R"(Bearer realm="r", resource_metadata="http://u.example.test:8080/.well-known/x", a="b")"},
       {"WWW-Authenticate", "DPoP algs=\"ES256\""},
       {"Location", "http://u.example.test:8080/"}});
  rewrite_challenge(fields, upstream);
  codec::Fields wanted = fields_of(
      {{"WWW-Authenticate", R"(Bearer realm="r", resource_metadata="https://p.example.test/.well-known/x", a="b")"},
       {"WWW-Authenticate", "DPoP algs=\"ES256\""},
       {"Location", "http://u.example.test:8080/"}});
  REQUIRE(std::distance(fields.begin(), fields.end()) == 3);
  for (auto got = fields.begin(), want = wanted.begin(); want != wanted.end(); ++got, ++want) {
    CHECK((*got).value == (*want).value);
  }
}

TEST_CASE("a rollout acts for a stable share of the sessions, and a larger one keeps those of the smaller") {
  config::Upstream tenth;
  tenth.rollout = 0.1;
  config::Upstream half;
  half.rollout = 0.5;
  int acting = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string id = "session-" + std::to_string(i);
    const bool acts = acts_for(tenth, id);
    CHECK(acts == acts_for(tenth, id));
    if (acts) CHECK(acts_for(half, id));
    acting += acts ? 1 : 0;
  }
  CHECK(acting > 800);
  CHECK(acting < 1'200);
  config::Upstream none;
  none.rollout = 0;
  CHECK_FALSE(acts_for(none, "s"));
  config::Upstream shadow;
  shadow.mode = config::Mode::shadow;
  CHECK_FALSE(acts_for(shadow, "s"));
}

TEST_CASE("own requests carry who asks, and nothing that described that one request") {
  const Carried carried = carried_of(head_with(fields_of({{"Host", "h"},
                                                          {"Authorization", "Bearer a"},
                                                          {"Cookie", "a=1"},
                                                          {"Cookie", "b=2"},
                                                          {"X-Tenant", "t"},
                                                          {"Connection", "X-Hop"},
                                                          {"X-Hop", "1"},
                                                          {"Content-Type", "application/json"},
                                                          {"Content-Length", "2"},
                                                          {"Accept", "*/*"},
                                                          {"Accept-Encoding", "gzip"},
                                                          {"Last-Event-ID", "u-1"},
                                                          {"Mcp-Session-Id", "s1"},
                                                          {"MCP-Protocol-Version", "2025-11-25"},
                                                          {"Origin", "http://localhost"}}),
                                               "/mcp?key=1&x=%20"));
  std::string names;
  for (const codec::Field& field : carried.fields)
    names += std::string(field.name) + "=" + std::string(field.value) + ";";
  CHECK(names == "Authorization=Bearer a;Cookie=a=1;Cookie=b=2;X-Tenant=t;");
  CHECK(carried.query == "?key=1&x=%20");
}

TEST_CASE("a line that repeats is written once a minute, with how often it was wanted") {
  log::Repeated line;
  const std::chrono::steady_clock::time_point start{std::chrono::hours(1)};
  CHECK(line.occurred(start) == 1);
  for (int i = 1; i <= 59; ++i) CHECK(line.occurred(start + std::chrono::seconds(i)) == 0);
  CHECK(line.occurred(start + std::chrono::seconds(60)) == 60);
}

TEST_CASE("a healing is put off for twice as long each time that it did not help, for a minute at most") {
  HealBackoff backoff;
  net::Clock::time_point now{std::chrono::hours(1)};
  CHECK_FALSE(backoff.holds(now));
  for (const int seconds : {1, 2, 4, 8, 16, 32, 60, 60}) {
    CHECK(backoff.refused_again(now) == std::chrono::seconds(seconds));
    now += std::chrono::seconds(seconds);
    CHECK(backoff.holds(now - std::chrono::nanoseconds(1)));
    CHECK_FALSE(backoff.holds(now));
  }
  backoff.worked();
  CHECK(backoff.refused_again(now) == std::chrono::seconds(1));
}

}  // namespace freshet::session
