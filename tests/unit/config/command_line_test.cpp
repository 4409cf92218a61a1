#include "config/command_line.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/config/sources.hpp"

namespace freshet::config {
namespace {

using Kind = Command::Kind;

Command command_of(std::vector<std::string> arguments) {
  return load_given({std::move(arguments), {}, ""}).command;
}

TEST_CASE("each command is recognised, with its own options before or after the flags") {
  CHECK(command_of({}).kind == Kind::run);
  CHECK(command_of({"check", "--config", "x"}).kind == Kind::check);
  CHECK(command_of({"--log-level", "debug", "top"}).kind == Kind::top);
  CHECK(command_of({"health"}).kind == Kind::health);
  const Command demo = command_of({"demo", "--interval", "2s", "--for", "20s"});
  CHECK(demo.kind == Kind::demo);
  CHECK(demo.options.at("for") == "20s");
  CHECK(command_of({"status", "--json", "--admin=127.0.0.1:1"}).has("json"));
  CHECK_FALSE(command_of({"plan", "--config", "x"}).has("json"));
}

TEST_CASE("help and version win over everything, and load nothing") {
  CHECK(command_of({"check", "--help"}).kind == Kind::help);
  CHECK(command_of({"check", "--help"}).topic == Kind::check);
  CHECK(command_of({"--version"}).kind == Kind::version);
  CHECK(errors_of({{"-h"}, {{"FRESHET_INTERVAL", "bad"}}, ""}).empty());
}

TEST_CASE("unknown flags and commands come with the nearest known, and a value never does") {
  CHECK(errors_of({{"chek", "--admin-tokn", "hunter2", "--admin-tokne=hunter2", "--for=1s"}, {}, one_upstream}) ==
        R"(unknown command "chek"; did you mean "check"?
--admin-tokn: unknown flag; did you mean --admin-token?
--admin-tokne: unknown flag; did you mean --admin-token?
--for: unknown flag
)");
}

TEST_CASE("a flag without its value says so, and a yes-or-no flag needs none") {
  CHECK(errors_of({{"--interval", "--admin-mask-uris"}, {}, one_upstream}) == "--interval: needs a value (duration)\n");
  const LoadResult masked = load_given({{"--admin-mask-uris"}, {}, one_upstream});
  CHECK(joined(masked.errors).empty());
  CHECK(masked.settings.admin.mask_uris);
}

TEST_CASE("a list grows with each flag, and takes commas and YAML") {
  const LoadResult result = load_given({{"--listen-allowed-hosts", "a.test, b.test", "--listen-allowed-hosts", "c.test",
                                         "--freshness-volatile-lines", "[\"at 1, 2\", \"b\"]"},
                                        {},
                                        one_upstream});
  CHECK(joined(result.errors).empty());
  CHECK(result.settings.listen.allowed_hosts == std::vector<std::string>{"a.test", "b.test", "c.test"});
  CHECK(result.settings.upstreams.at(0).freshness.volatile_lines == std::vector<std::string>{"at 1, 2", "b"});
}

TEST_CASE("of a flag that is given twice the last one counts") {
  CHECK(
      load_given({{"--interval=5s", "--interval=6s"}, {}, one_upstream}).settings.upstreams.at(0).freshness.interval ==
      6s);
}

}  // namespace
}  // namespace freshet::config
