#include "config/load.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "config/types.hpp"
#include "tests/unit/config/sources.hpp"

namespace freshet::config {
namespace {

TEST_CASE("one upstream by a flag is enough: loopback, at the upstream's path, admin beside it") {
  const LoadResult result = load_given({{"--upstream", "http://127.0.0.1:3000/mcp"}, {}, ""});
  CHECK(joined(result.errors).empty());
  CHECK(result.command.kind == Command::Kind::run);
  CHECK(result.settings.listen.address == Address(TcpAddress{"127.0.0.1", 7300}));
  CHECK(result.settings.admin.address == Address(TcpAddress{"127.0.0.1", 7301}));
  REQUIRE(result.settings.upstreams.size() == 1);
  const Upstream& upstream = result.settings.upstreams[0];
  CHECK(upstream.path == "/mcp");
  CHECK(upstream.name == "127.0.0.1:3000");
  CHECK(upstream.freshness.interval == 30s);
  REQUIRE(result.settings.partners.size() == 1);
  CHECK(result.settings.partners[0].name == "127.0.0.1");
  CHECK(result.settings.partners[0].rate == 10);
  CHECK(index(upstream.partner) == 0);
}

TEST_CASE("a flag counts before a variable, that before the file, that before the default") {
  const std::string file = one_upstream + "    freshness: {interval: 4s, jitter: 20%, weight: 4}\n";
  const LoadResult result =
      load_given({{"--interval", "2s"}, {{"FRESHET_INTERVAL", "3s"}, {"FRESHET_FRESHNESS_JITTER", "30%"}}, file});
  CHECK(joined(result.errors).empty());
  const Freshness& freshness = result.settings.upstreams.at(0).freshness;
  CHECK(freshness.interval == 2s);
  CHECK(freshness.jitter == Approx(0.3));
  CHECK(freshness.weight == 4);
  CHECK(freshness.watchdog_grace == 5s);
}

TEST_CASE("an empty variable counts as not set") {
  const LoadResult result = load_given({{}, {{"FRESHET_INTERVAL", ""}, {"FRESHET_CONFIG", ""}}, one_upstream});
  CHECK(joined(result.errors).empty());
  CHECK(result.settings.upstreams.at(0).freshness.interval == 30s);
}

TEST_CASE("every flag has a variable, and both are written from the setting's path") {
  const LoadResult result = load_given({{"--upstream=http://a.example.test", "--limits-sessions-max", "7"},
                                        {{"FRESHET_LIMITS_JSON_DEPTH_MAX", "9"}, {"FRESHET_PARTNER_RPS", "600/m"}},
                                        ""});
  CHECK(joined(result.errors).empty());
  CHECK(result.settings.limits.sessions_max == 7);
  CHECK(result.settings.limits.json_depth_max == 9);
  CHECK(result.settings.partners.at(0).rate == 10);
  CHECK(result.settings.upstreams.at(0).path == "/");
}

TEST_CASE("a flag sets every upstream, and a rule keeps what it says itself") {
  const std::string file = R"(upstreams:
  - {name: a, url: "http://a.example.test/a", rules: [{match: "log://*", interval: 1s}, {match: "b*", weight: 2}]}
  - {name: b, url: "http://a.example.test/b", freshness: {interval: 9s}}
)";
  const LoadResult result = load_given({{"--interval", "7s"}, {}, file});
  CHECK(joined(result.errors).empty());
  const std::vector<Upstream>& upstreams = result.settings.upstreams;
  REQUIRE(upstreams.size() == 2);
  CHECK(upstreams[1].freshness.interval == 7s);
  CHECK(freshness_for(upstreams[0], "log://x").interval == 1s);
  CHECK(freshness_for(upstreams[0], "bee").interval == 7s);
  CHECK(freshness_for(upstreams[0], "bee").weight == 2);
  CHECK(freshness_for(upstreams[0], "other").interval == 7s);
}

TEST_CASE("an upstream is planned as all are, but for what it says itself") {
  const std::string file =
      "plan: {sessions_per_day: 50, busy_hours: 8-12}\nupstreams:\n"
      "  - {name: a, url: http://a.example.test/a, plan: {busy_hours: 22-6}}\n"
      "  - {name: b, url: http://a.example.test/b}\n";
  const Settings settings = load_given({{"--plan-sessions-per-day", "70"}, {}, file}).settings;
  REQUIRE(settings.upstreams.size() == 2);
  CHECK(settings.upstreams[0].plan.sessions_per_day == 70);
  CHECK(settings.upstreams[0].plan.busy_hours == Hours{22, 6});
  CHECK(settings.upstreams[1].plan.busy_hours == Hours{8, 12});
}

TEST_CASE("upstreams share the partner that they name, and one that is not in the file has the defaults") {
  const std::string file = R"(partners:
  - {name: acme, rate: 3}
upstreams:
  - {name: a, url: "http://a.example.test/a", partner: acme}
  - {name: b, url: "http://b.example.test/b", partner: acme}
  - {name: c, url: "http://c.example.test/c"}
)";
  const LoadResult result = load_given({{}, {}, file});
  CHECK(joined(result.errors).empty());
  CHECK(joined(result.warnings).empty());
  const Settings& settings = result.settings;
  REQUIRE(settings.partners.size() == 2);
  CHECK(settings.partners[index(settings.upstreams.at(1).partner)].rate == 3);
  CHECK(settings.partners[index(settings.upstreams.at(2).partner)].name == "c.example.test");
}

TEST_CASE("a burst below the polls' part of it takes that along, unless both were set") {
  CHECK(load_given({{"--partner-burst=1"}, {}, one_upstream}).settings.partners.at(0).poll_burst == 1);
  CHECK(errors_of({{"--partner-burst=1", "--partner-poll-burst=2"}, {}, one_upstream}) ==
        "--partner-poll-burst: poll_burst (2) must not exceed burst (1)\n");
}

TEST_CASE("what says which upstream it is overrides the only one in the file, and is refused where there are several") {
  const LoadResult one = load_given({{"--upstream", "http://new.example.test/x"}, {}, one_upstream});
  CHECK(joined(one.errors).empty());
  CHECK(one.settings.upstreams.at(0).url.host == "new.example.test");
  CHECK(errors_of({{"--upstream", "http://new.example.test/x"},
                   {},
                   one_upstream + "  - {url: \"http://b.example.test/b\"}\n"}) ==
        "--upstream: says which upstream it is, but the file has several; set it there\n");
}

TEST_CASE("a command that talks to a running sidecar needs no upstream, and one that serves does") {
  CHECK(errors_of({{"health"}, {}, ""}).empty());
  CHECK(errors_of({{"check"}, {}, ""}) ==
        "upstreams: no upstream: give --upstream URL, FRESHET_UPSTREAM, or upstreams in --config FILE\n");
}

TEST_CASE("a file that cannot be read is the mistake of whoever named it") {
  CHECK(errors_of({{"status", "--config", "gone.yaml"}, {}, ""}) ==
        "--config: cannot read gone.yaml: No such file or directory\n");
  CHECK(errors_of({{"status"}, {{"FRESHET_CONFIG", "gone.yaml"}}, ""}) ==
        "FRESHET_CONFIG: cannot read gone.yaml: No such file or directory\n");
}

TEST_CASE("what a start would miss is listed without a secret in it") {
  const LoadResult result = load_given({{"--upstream=http://a.example.test", "--admin-token=env:ABSENT",
                                         "--upstream-headers-add=Authorization=Bearer env:PRESENT"},
                                        {},
                                        ""});
  CHECK(joined(result.errors).empty());
  Sources sources{{}, {{"PRESENT", "hunter2"}}, {}};
  CHECK(joined(unresolved(result.settings, sources)) == "env:ABSENT: the variable is not set\n");
}

}  // namespace
}  // namespace freshet::config
