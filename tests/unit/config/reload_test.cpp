#include "config/reload.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/config/sources.hpp"

namespace freshet::config {
namespace {

const std::string two_upstreams = R"(upstreams:
  - {name: a, url: "http://a.example.test/a", partner: acme}
  - {name: b, url: "http://b.example.test/b", freshness: {interval: 9s}}
partners:
  - {name: acme, rate: 5/s}
)";

Settings settings_of(const std::string& file) {
  const LoadResult loaded = load_given({{}, {}, file});
  REQUIRE(joined(loaded.errors).empty());
  return loaded.settings;
}

Sources sources(const std::string& file, std::vector<std::string> arguments = {}, Environment environment = {}) {
  arguments.insert(arguments.end(), {"--config", "freshet.yaml"});
  return {std::move(arguments), std::move(environment), [file](const std::string& path) -> Parsed<std::string> {
            if (path != "freshet.yaml" || file.empty()) return Mistake{"No such file or directory"};
            return file;
          }};
}

Reloaded reloaded(const std::string& running, const std::string& next) {
  return reload(settings_of(running), sources(next));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  REQUIRE(text.find(what) != std::string::npos);
  return text.replace(text.find(what), what.size(), by);
}

TEST_CASE("what a reload changes is named, by upstream and partner") {
  std::string next = replaced(two_upstreams, "interval: 9s", "interval: 4s, jitter: 20%");
  next = replaced(next, "rate: 5/s", "rate: 7/s") + "log: {level: debug}\n";
  const Reloaded result = reloaded(two_upstreams, next);
  CHECK(joined(result.errors).empty());
  CHECK(result.changed == std::vector<std::string>{"log.level", "upstreams[b].freshness.interval",
                                                   "upstreams[b].freshness.jitter", "partners[acme].rate"});
  CHECK(result.settings.upstreams[1].freshness.interval == 4s);
}

TEST_CASE("a file that says the same otherwise changes nothing") {
  CHECK(reloaded(two_upstreams, "# a comment\n" + two_upstreams).changed.empty());
}

TEST_CASE("each mistake is named with its place, and nothing is taken on") {
  const std::string next = replaced(two_upstreams, "interval: 9s", "interval: soon, jiter: 20%");
  const std::string errors = joined(reloaded(two_upstreams, next).errors);
  CHECK(errors.find("freshet.yaml:3:") != std::string::npos);
  CHECK(errors.find("upstreams[1].freshness.interval") != std::string::npos);
  CHECK(errors.find("did you mean \"freshness.jitter\"?") != std::string::npos);
}

TEST_CASE("what needs a restart refuses the whole reload and says so") {
  std::string next = replaced(two_upstreams, "interval: 9s", "interval: 4s");
  next += "listen: {address: \"127.0.0.1:7777\"}\n";
  const Reloaded result = reloaded(two_upstreams, next);
  CHECK(result.errors == std::vector<std::string>{"listen.address: changing it needs a restart"});
}

TEST_CASE("an upstream more or less needs a restart") {
  const Reloaded result = reloaded(two_upstreams, replaced(two_upstreams, "name: b", "name: c"));
  CHECK(result.errors == std::vector<std::string>{"upstreams[b]: leaving it out needs a restart",
                                                  "upstreams[c]: adding it needs a restart"});
}

TEST_CASE("upstreams and partners keep their ids in whatever order the file has them") {
  const std::string next = R"(partners:
  - {name: b.example.test, rate: 3/s}
  - {name: acme, rate: 5/s}
upstreams:
  - {name: b, url: "http://b.example.test/b", freshness: {interval: 9s}}
  - {name: a, url: "http://a.example.test/a", partner: acme}
)";
  const Settings running = settings_of(two_upstreams);
  const Reloaded result = reload(running, sources(next));
  CHECK(joined(result.errors).empty());
  CHECK(result.changed == std::vector<std::string>{"partners[b.example.test].rate"});
  for (std::size_t i = 0; i < running.upstreams.size(); ++i) {
    CHECK(result.settings.upstreams[i].name == running.upstreams[i].name);
    CHECK(result.settings.upstreams[i].partner == running.upstreams[i].partner);
    CHECK(result.settings.partners[i].name == running.partners[i].name);
  }
}

const std::string with_rules = one_upstream + R"(    freshness: {interval: 30s}
    rules:
      - {match: "log://*", interval: 5s}
      - {match: "doc://*", weight: 2}
)";

TEST_CASE("of a rule only what it says itself is its change") {
  const Reloaded result = reloaded(with_rules, replaced(with_rules, "interval: 30s", "interval: 20s"));
  CHECK(result.changed == std::vector<std::string>{"upstreams[files.example.test].freshness.interval"});
  CHECK(reloaded(with_rules, replaced(with_rules, "interval: 5s", "interval: 6s")).changed ==
        std::vector<std::string>{"upstreams[files.example.test].rules[0].interval"});
}

TEST_CASE("rules come and go without a restart") {
  const Reloaded result = reloaded(with_rules, with_rules + "      - {match: \"x*\", interval: 1m}\n");
  CHECK(joined(result.errors).empty());
  CHECK(result.changed == std::vector<std::string>{"upstreams[files.example.test].rules"});
  CHECK(result.settings.upstreams[0].rules.size() == 3);
}

TEST_CASE("a change of what counts as content needs a restart, in whatever way it comes") {
  const std::string own_parts = replaced(with_rules, "weight: 2", "volatile_lines: [\"at *\"]");
  const std::string everywhere = replaced(with_rules, "interval: 30s", "volatile_pointers: [/text/at]");
  const std::string renamed = replaced(own_parts, "doc://*", "docs://*");
  CHECK(reloaded(with_rules, own_parts).errors.size() == 1);
  CHECK(reloaded(with_rules, everywhere).errors ==
        std::vector<std::string>{
            "upstreams[files.example.test].freshness.volatile_pointers: changing it needs a restart"});
  CHECK(reloaded(own_parts, renamed).errors.size() == 1);
  CHECK(joined(reloaded(own_parts, own_parts).errors).empty());
}

TEST_CASE("flags and variables count as at the start") {
  const Settings running = load(sources(two_upstreams, {"--interval", "2s"}, {{"FRESHET_LOG_LEVEL", "warn"}})).settings;
  const std::string next = replaced(two_upstreams, "interval: 9s", "interval: 4s") + "log: {level: debug}\n";
  const Reloaded result = reload(running, sources(next, {"--interval", "2s"}, {{"FRESHET_LOG_LEVEL", "warn"}}));
  CHECK(joined(result.errors).empty());
  CHECK(result.changed.empty());
}

TEST_CASE("a secret that cannot be had refuses a reload, as it would a start") {
  const std::string next = two_upstreams + "admin: {token: \"env:NO_SUCH_VARIABLE\"}\n";
  CHECK(reloaded(two_upstreams, next).errors ==
        std::vector<std::string>{"env:NO_SUCH_VARIABLE: the variable is not set"});
}

TEST_CASE("neither values nor secrets are named among what changed") {
  const std::string next =
      replaced(two_upstreams, "interval: 9s}", "interval: 9s}, headers_add: [{name: X-Key, value_from: \"env:HUSH\"}]");
  const Reloaded result = reload(settings_of(two_upstreams), sources(next, {}, {{"HUSH", "tok-4711"}}));
  CHECK(result.changed == std::vector<std::string>{"upstreams[b].headers_add"});
}

TEST_CASE("without a file there is nothing to read again; a file that is gone is a mistake") {
  const Settings running = load_given({{"--upstream", "http://a.example.test"}, {}, ""}).settings;
  const Sources flags_only{{"--upstream", "http://a.example.test"}, {}, {}};
  CHECK(joined(reload(running, flags_only).errors).find("there is no file to read again") == 0);
  const std::string gone = joined(reload(settings_of(two_upstreams), sources("")).errors);
  CHECK(gone.find("cannot read freshet.yaml: No such file or directory") != std::string::npos);
}

}  // namespace
}  // namespace freshet::config
