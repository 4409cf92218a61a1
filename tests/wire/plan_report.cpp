// `freshet plan` on configurations as an operator writes them.
#include "proxy/app/plan_report.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "config/load.hpp"

namespace freshet::test {
namespace {

using admin::Json;

config::Settings loaded(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  config::Sources sources = config::process_sources(0, nullptr, std::array<const char*, 1>{nullptr}.data());
  sources.arguments = std::move(arguments);
  const config::LoadResult result = config::load(sources);
  REQUIRE(result.errors == std::vector<std::string>{});
  return result.settings;
}

Json json_of(std::vector<std::string> arguments) {
  return app::plan_json(app::plans_of(loaded(std::move(arguments)))).at("partners");
}

const std::vector<std::string> one_upstream{"--upstream", "http://127.0.0.1:3000/mcp"};

std::vector<std::string> with(std::vector<std::string> flags) {
  flags.insert(flags.begin(), one_upstream.begin(), one_upstream.end());
  return flags;
}

TEST_CASE("freshet plan: the example file is priced, with every member that is documented") {
  const auto example = std::filesystem::path(__FILE__).parent_path() / "../../config/freshet.example.yaml";
  const Json partners = json_of({"--config", example.string()});
  REQUIRE(partners.size() == 1);
  const Json& partner = partners.at(0);
  CHECK(partner.at("budget").at("rate_per_s") == 10);
  CHECK(partner.at("resources").size() == 2);
  for (const char* price : {"as_configured", "half_interval", "double_interval"}) {
    for (const char* figure :
         {"/reads_per_session", "/reads_per_day", "/requests_per_s/day", "/requests_per_s/busy", "/staleness_s/mean",
          "/staleness_s/worst", "/budget/fits", "/budget/stretched_by", "/budget/longest_bound_s", "/busy/sessions"}) {
      INFO(price << figure);
      CHECK(partner.at(price).contains(Json::json_pointer(figure)));
    }
  }
}

TEST_CASE("freshet plan: flags alone are enough, and set the expected use") {
  const Json price =
      json_of(with({"--plan-sessions-per-day", "240", "--plan-session-length", "1h", "--plan-busy-hours", "0-24",
                    "--plan-resources-per-session", "6", "--upstream-sessions-absent-grace", "0", "--interval", "30s"}))
          .at(0)
          .at("as_configured");
  CHECK(price.at("reads_per_session") == 726);
  CHECK(price.at("requests_per_s").at("busy") == 2.017);
  CHECK(price.at("staleness_s").at("mean") == 15);
  CHECK(price.at("budget").at("fits") == true);
  CHECK(price.at("if_nothing_changes").is_null());
}

TEST_CASE("freshet plan: an adaptive policy shows both ends") {
  const Json price = json_of(with({"--freshness-policy", "adaptive"})).at(0).at("as_configured");
  CHECK(price.at("requests_per_s").at("busy") > price.at("if_nothing_changes").at("requests_per_s").at("busy"));
}

TEST_CASE("freshet plan: the table says in words what the budget makes of it") {
  const auto text = [](const std::vector<std::string>& flags) {
    const config::Settings settings = loaded(with(flags));
    return app::plan_text(settings, app::plans_of(settings));
  };
  CHECK(text({}).find("fits, ") != std::string::npos);
  CHECK(text({"--interval", "1s"}).find("stretched ") != std::string::npos);
}

TEST_CASE("freshet plan: rules that do not say their share divide what the others leave") {
  config::Settings settings = loaded(one_upstream);
  settings.upstreams[0].rules.resize(3);
  settings.upstreams[0].rules[0].plan_share = 0.4;
  const PartnerPlan plan = app::plans_of(settings).at(0);
  REQUIRE(plan.kinds.size() == 4);
  CHECK(plan.kinds[0].watches == Approx(2 * plan.kinds[1].watches));
  CHECK(plan.kinds[3].watches == Approx(plan.kinds[1].watches));
}

}  // namespace
}  // namespace freshet::test
