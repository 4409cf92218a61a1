// Subscribing where the upstream cannot notify, as clients and the upstream see it.
#include "tests/wire/support/sidecar.hpp"

namespace freshet::test {

TEST_CASE("the baseline is read before the subscribe is answered, and one change is told once (B17)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    auto stream = co_await s.stream();
    s.server.hold({"resources/read"});
    auto asking = co_await s.posts(subscribe_to("r://a"));
    const Asked baseline = co_await s.server.next("resources/read");
    s.server.hold({});
    s.server.texts["r://a"] = "2";
    co_await baseline.send(json_http(result(baseline.id, contents("r://a", "1"))));
    const auto answer = co_await asking.response();
    CHECK(answer.body == result("4"));
    const std::string told = co_await stream.event();
    CHECK(told.find(R"("uri":"r://a")") != std::string::npos);
    s.server.texts["r://end"] = "1";
    co_await s.subscribe("r://end");
    s.server.texts["r://end"] = "2";
    const auto rest = co_await stream.events_until("r://end");
    CHECK(rest.size() == 1);
  });
}

TEST_CASE("an upstream without sessions is given none, and its client's session works (B05)") {
  Sidecar sidecar([](Sidecar& s) { s.server.stateless = true; });
  sidecar.run([](Sidecar& s) -> Task<> {
    const auto opened = co_await s.open();
    CHECK(s.session.size() >= 32);
    CHECK(opened.body.find(R"("resources":{"subscribe":true})") != std::string::npos);
    auto stream = co_await s.stream();
    co_await s.subscribe("r://a");
    const Asked baseline = co_await s.server.next("resources/read");
    CHECK(baseline.field("Mcp-Session-Id").empty());
    s.server.texts["r://a"] = "2";
    const std::string told = co_await stream.event();
    CHECK(told.find("r://a") != std::string::npos);
  });
}

TEST_CASE("without a session a subscribe is the upstream's to judge, and nothing is watched (B05, B109)") {
  Sidecar sidecar;
  sidecar.run([](Sidecar& s) -> Task<> {
    co_await s.open();
    s.session.clear();
    s.server.hold({"resources/subscribe"});
    auto asking = co_await s.posts(subscribe_to("r://a"));
    const Asked passed = co_await s.server.next("resources/subscribe");
    CHECK(passed.body == subscribe_to("r://a"));
    co_await passed.send(http("400 Bad Request", "no session"));
    const auto answer = co_await asking.response();
    CHECK(answer.status == 400);
    CHECK(answer.body == "no session");
    CHECK(s.server.count("resources/read") == 0);
  });
}

}  // namespace freshet::test
