// The modern era in bytes: when a listen is acknowledged, who counts as gone, and that what was asked for ends.
#include "tests/wire/support/sidecar.hpp"

namespace freshet::test {

namespace {

std::string modern(std::string_view method, std::string_view params_json, std::string_view id = "7") {
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
  return request(method, std::string(params_json.substr(0, params_json.size() - 1)) + "," + meta + "}", id);
}

std::string modern_fields(std::string_view method, std::string_view name = {}) {
  return "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + std::string(method) + "\r\n" +
         (name.empty() ? "" : "Mcp-Name: " + std::string(name) + "\r\n");
}

Task<PlayedClient> listen(Sidecar& s) {
  co_return co_await s.posts(modern("subscriptions/listen", R"({"notifications":{"resourceSubscriptions":["r://a"]}})"),
                             modern_fields("subscriptions/listen"));
}

Task<> discovered(Sidecar& s, std::string resources_json) {
  const Asked asked = co_await s.server.next("server/discover");
  co_await asked.send(json_http(result(asked.id, R"({"resultType":"complete","supportedVersions":["2026-07-28"],)"
                                                 R"("capabilities":{"resources":)" +
                                                     resources_json + "}}")));
}

std::string tagged(std::string_view method, std::string_view params_json) {
  return event(R"({"jsonrpc":"2.0","method":")" + std::string(method) + R"(","params":{)" + std::string(params_json) +
               R"(,"_meta":{"io.modelcontextprotocol/subscriptionId":7}}})");
}

Task<> acknowledged(PlayedClient& client) {
  const Response head = co_await client.head();
  CHECK(head.status == 200);
  const std::string first = co_await client.event();
  CHECK(first.find("notifications/subscriptions/acknowledged") != std::string::npos);
  CHECK(first.find("r://a") != std::string::npos);
}

}  // namespace

TEST_CASE("a listen is acknowledged in time though the upstream's own flaps: polled first, notified once it is there") {
  Sidecar sidecar([](Sidecar& s) {
    s.server.hold({"server/discover", "subscriptions/listen"});
    s.upstream().reads.baseline_wait = 300ms;
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    const auto since = net::Clock::now();
    auto client = co_await listen(s);
    co_await discovered(s, R"({"subscribe":true})");
    for (int flap = 0; flap < 2; ++flap) (co_await s.server.next("subscriptions/listen")).peer->close();
    co_await acknowledged(client);
    CHECK(net::Clock::now() - since < 3s);
    co_await s.server.changes().until([&] { return s.server.reads_of("r://a") > 1; }, "polls");
    s.server.texts["r://a"] = "2";
    CHECK((co_await client.event()).find("\"dev.freshet/strategy\":\"poll\"") != std::string::npos);
    const Asked up = co_await s.server.next("subscriptions/listen");
    co_await up.send(event_stream_head + tagged("notifications/subscriptions/acknowledged",
                                                R"("notifications":{"resourceSubscriptions":["r://a"]})"));
    co_await s.until_metric(
        R"(freshet_strategy_changes_total{from="poll",partner="u",reason="restored",to="subscribe",upstream="u"} 1)");
    const std::string update = tagged("notifications/resources/updated", R"("uri":"r://a")");
    co_await up.send(update);
    CHECK(co_await client.event() == update);
  });
}

TEST_CASE("a client that ends its sending after the listen goes on being told, until it leaves") {
  Sidecar sidecar([](Sidecar& s) {
    s.server.hold({"server/discover"});
    s.settings.streams.keepalive_interval = 100ms;  // what it does not take shows that it left
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    auto client = co_await listen(s);
    client.peer().half_close();
    co_await s.turn();
    co_await discovered(s, "{}");
    co_await acknowledged(client);
    s.server.texts["r://a"] = "2";
    CHECK((co_await client.event()).find("notifications/resources/updated") != std::string::npos);
    client.peer().close();
    co_await s.until_metric(R"(freshet_sessions{partner="u",upstream="u"} 0)");
  });
}

TEST_CASE("a listen whose client left before it was acknowledged leaves nothing behind") {
  Sidecar sidecar([](Sidecar& s) { s.server.hold({"server/discover"}); });
  sidecar.run([](Sidecar& s) -> Task<> {
    auto client = co_await listen(s);
    client.peer().close();
    co_await s.turn();
    co_await discovered(s, "{}");
    co_await s.server.next("resources/read");
    co_await s.until_metric(R"(freshet_sessions{partner="u",upstream="u"} 0)");
    co_await s.until_metric("freshet_reads_in_flight 0");
  });
}

TEST_CASE("a read that was to travel after its client had left ends all the same") {
  Sidecar sidecar([](Sidecar& s) {
    s.server.hold({"server/discover", "resources/read"});
    s.upstream().reads.baseline_wait = 50ms;
    s.upstream().freshness.interval = 1h;
    s.upstream().freshness.interval_max = 1h;
  });
  sidecar.run([](Sidecar& s) -> Task<> {
    auto client = co_await listen(s);
    co_await discovered(s, "{}");
    const Asked baseline = co_await s.server.next("resources/read");
    co_await acknowledged(client);
    auto joins =
        co_await s.posts(modern("resources/read", R"({"uri":"r://a"})", "8"), modern_fields("resources/read", "r://a"));
    co_await s.until_metric("freshet_reads_in_flight 1");
    CHECK(s.server.reads_of("r://a") == 1);  // it waits for the baseline
    joins.peer().close();
    co_await s.turn();
    s.server.hold({});
    co_await baseline.send(http("500 Internal Server Error", ""));
    co_await s.until_metric("freshet_reads_in_flight 0");
  });
}

}  // namespace freshet::test
