// Every mistake at once, each with its place: what an operator reads when a file is wrong.
#include <catch2/catch.hpp>

#include "tests/unit/config/sources.hpp"

namespace freshet::config {
namespace {

TEST_CASE("every mistake is reported at once, in the order of the file, then of flags and variables") {
  const std::string file = R"(listen:
  adress: 127.0.0.1:1
  connections_max: many
limits:
  sessions_max: 0
  sessions_max: 5
interval: 5s
upstreams:
  - name: a
    url: ftp://example.test/
    freshness:
      interval: 30
      policy: adaptve
      interval_min: 2h
    rules:
      - interval: 5s
      - match: "x*"
        jitter: 200%
  - url: "http://example.test/mcp?key=hunter2"
    headers_add:
      - {name: Authorization, value: "Bearer hunter2"}
  - path: /third
partners:
  - rate: 0/s
)";
  CHECK(errors_of({{"--lisen", "x", "--log-level=loud"}, {{"FRESHET_LIMITS_JSON_DEPTH_MAX", "1"}}, file}) ==
        R"(freshet.yaml:2:3: listen.adress: unknown setting; did you mean "listen.address"?
freshet.yaml:3:20: listen.connections_max: must be a whole number, not "many"
freshet.yaml:5:17: limits.sessions_max: must be at least 1, not 0
freshet.yaml:6:3: limits.sessions_max: set twice; first on line 5
freshet.yaml:7:1: interval: unknown setting; did you mean "upstreams[].freshness.interval"?
freshet.yaml:10:10: upstreams[0].url: must begin with http://, https:// or unix:
freshet.yaml:12:17: upstreams[0].freshness.interval: must be a duration such as 30s, 250ms, 5m or 1h30m, not "30"
freshet.yaml:13:15: upstreams[0].freshness.policy: must be one of fixed|adaptive|budget, not "adaptve"; did you mean "adaptive"?
freshet.yaml:14:21: upstreams[0].freshness.interval_min: interval_min (2h) must not exceed interval_max (1h)
freshet.yaml:16:9: upstreams[0].rules[0]: needs a match
freshet.yaml:18:17: upstreams[0].rules[1].jitter: must be at most 50%, not 200%
freshet.yaml:19:10: upstreams[1].url: must not have a query or a fragment; a client's own query is passed on
freshet.yaml:21:38: upstreams[1].headers_add[0].value: the value of Authorization is a credential and must not stand here; put it into an environment variable or a file and give value_from: env:NAME or value_from: file:/path
freshet.yaml:22:5: upstreams[2]: needs a url
freshet.yaml:24:5: partners[0]: needs a name
freshet.yaml:24:11: partners[0].rate: must be at least 0.0001/s, not 0/s
--lisen: unknown flag; did you mean --listen?
--log-level: must be one of trace|debug|info|warn|error|off, not "loud"
FRESHET_LIMITS_JSON_DEPTH_MAX: must be at least 8, not 1
)");
}

TEST_CASE("a file that is not YAML says where it stops being that") {
  CHECK(errors_of({{"check"}, {}, "upstreams:\n  - url: [a\nx: y\n"}).starts_with("freshet.yaml:3:"));
}

TEST_CASE("a second YAML document is not silently left out") {
  CHECK(errors_of({{"check"}, {}, one_upstream + "---\nlog: {level: debug}\n"}) ==
        "freshet.yaml:4:1: a second YAML document begins here; only one is read\n");
}

TEST_CASE("aliases that multiply end in a mistake, not in all the memory") {
  std::string file = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    const std::string before = std::string("*") + static_cast<char>(c - 1);
    file += std::string(1, c) + ": &" + c + " [" + before;
    for (int i = 0; i < 9; ++i) file += "," + before;
    file += "]\n";
  }
  CHECK(errors_of({{"check"}, {}, file}).find("the file has too many values") != std::string::npos);
}

TEST_CASE("the wrong shape is named: a list, a map, nothing") {
  const std::string file = "listen: 7300\nlog: {level: }\nprincipal_headers: {a: b}\npartners: acme\n" + one_upstream;
  CHECK(errors_of({{}, {}, file}) == R"(freshet.yaml:1:9: listen: must hold settings (key: value)
freshet.yaml:2:7: log.level: has no value; leave the key out for the default
freshet.yaml:3:20: principal_headers: must be a list
freshet.yaml:4:11: partners: must be a list
)");
}

TEST_CASE("a group whose settings are all commented out is no mistake") {
  CHECK(errors_of({{}, {}, "listen:\nlimits:\n  # sessions_max: 5\npartners:\n" + one_upstream}).empty());
}

TEST_CASE("names and paths of upstreams and partners are unique") {
  const std::string file = R"(upstreams:
  - {name: a, url: "http://a.example.test/mcp"}
  - {name: a, url: "http://b.example.test/mcp"}
partners:
  - {name: a.example.test}
  - {name: a.example.test}
)";
  CHECK(errors_of({{}, {}, file}) ==
        R"(freshet.yaml:3:5: upstreams[1].path: "/mcp" is the path of upstreams[0] too; give each its own path
freshet.yaml:3:12: upstreams[1].name: "a" is the name of upstreams[0] too; give each a name
freshet.yaml:6:12: partners[1].name: "a.example.test" is the name of partners[0] too
)");
}

TEST_CASE("settings that contradict each other are found, wherever they were set") {
  CHECK(errors_of({{"--admin", "127.0.0.1:7300", "--freshness-interval-min=2h", "--freshness-policy=adaptive",
                    "--listen-tls-cert-file=/c", "--partner-pause-backoff-min=10m", "--limits-subscriptions-max=5"},
                   {},
                   one_upstream}) ==
        R"(--listen-tls-cert-file: needs listen.tls.key_file beside it
--admin: must differ from listen.address
--limits-subscriptions-max: subscriptions_per_session_max (1000) must not exceed subscriptions_max (5)
--freshness-interval-min: interval_min (2h) must not exceed interval_max (1h)
--freshness-interval-min: interval_min (2h) must not exceed interval (30s)
--partner-pause-backoff-min: backoff_min (10m) must not exceed backoff_max (5m)
)");
}

TEST_CASE("a plan of more than there is is found where it stands") {
  CHECK(errors_of({{}, {}, "plan: {resources_per_session: 200}\n" + one_upstream}) ==
        "freshet.yaml:1:31: plan.resources_per_session: resources_per_session (200) must not exceed "
        "distinct_resources (100)\n");
  const std::string rules =
      "    rules:\n      - {match: \"a:*\", plan_share: 70%}\n      - {match: \"b:*\", plan_share: 40%}\n";
  CHECK(errors_of({{}, {}, one_upstream + rules}) ==
        "freshet.yaml:4:7: upstreams[0].rules: the plan_share of all must not exceed 100% together\n");
}

TEST_CASE("an upstream that a fixed interval polls may be polled faster than the adaptive limit") {
  CHECK(errors_of({{"--interval", "250ms"}, {}, one_upstream}).empty());
}

TEST_CASE("what has no effect is a warning") {
  const LoadResult result =
      load_given({{}, {}, one_upstream + "    tls: {verify: false}\npartners:\n  - {name: file.example.test}\n"});
  CHECK(joined(result.errors).empty());
  CHECK(joined(result.warnings) ==
        R"(freshet.yaml:3:10: upstreams[0].tls: has no effect: the url is not https
freshet.yaml:5:12: partners[0].name: no upstream is of the partner "file.example.test"; did you mean "files.example.test"?
)");
}

TEST_CASE("a misspelt variable is a warning, and what Kubernetes sets by itself is none") {
  const LoadResult result = load_given({{},
                                        {{"FRESHET_INTERVALL", "1s"},
                                         {"FRESHET_PORT_7300_TCP", "tcp://10.0.0.1:7300"},
                                         {"FRESHET_SERVICE_HOST", "10.0.0.1"},
                                         {"FRESHET_ANYTHING_ELSE_AT_ALL", "x"}},
                                        one_upstream});
  CHECK(joined(result.errors).empty());
  CHECK(joined(result.warnings) == "FRESHET_INTERVALL: unknown variable; did you mean \"FRESHET_INTERVAL\"?\n");
}

TEST_CASE("a variable that a setting refers to is not unknown, however near to another one") {
  const std::string header = "    headers_add: [{name: X-Api-Key, value_from: env:FRESHET_UPSTREAM_KEEP_HOSTS}]\n";
  const Environment environment{{"FRESHET_ADMIN_SECRET", "s"}, {"FRESHET_UPSTREAM_KEEP_HOSTS", "s"}};
  CHECK_FALSE(load_given({{}, environment, one_upstream}).warnings.empty());
  const LoadResult result =
      load_given({{"--admin-token", "env:FRESHET_ADMIN_SECRET"}, environment, one_upstream + header});
  CHECK(joined(result.errors).empty());
  CHECK(joined(result.warnings).empty());
}

}  // namespace
}  // namespace freshet::config
