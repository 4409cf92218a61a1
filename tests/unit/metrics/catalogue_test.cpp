#include "metrics/catalogue.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <catch2/catch.hpp>

namespace freshet {

namespace {

std::string golden() {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "metrics.golden");
  return {std::istreambuf_iterator<char>(in), {}};
}

// One metric a line: what others build dashboards and alerts on.
std::string interface() {
  std::string out;
  for (const auto& info : catalogue()) {
    out.append(info.name).append("\t").append(to_string(info.type)).append("\t");
    std::string_view separator;
    for (const auto& label : info.labels) {
      out.append(separator).append(label.name);
      separator = ",";
      std::string_view before = "=";
      for (const auto value : label.values) {
        out.append(before).append(value);
        before = "|";
      }
    }
    out.append("\t").append(info.help).append("\n");
  }
  return out;
}

}  // namespace

TEST_CASE("metric names, types, labels and help are those that were published") {
  CHECK(interface() == golden());
}

TEST_CASE("metric names follow Prometheus' practice") {
  for (const auto& info : catalogue()) {
    INFO(info.name);
    const bool process = info.name.starts_with("process_");
    CHECK((process || info.name.starts_with("freshet_")));
    CHECK(info.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK(info.name.ends_with("_total") == (info.type == MetricType::counter));
    if (info.type == MetricType::histogram) CHECK(info.name.ends_with("_seconds"));
    for (const std::string_view other :
         {"_ms", "_millis", "_minutes", "_count", "_sum", "_bucket", "_kb", "_percent"}) {
      CHECK_FALSE(info.name.ends_with(other));
    }
    CHECK(info.help.ends_with('.'));
  }
}

TEST_CASE("labels are few, and none names a resource or a session") {
  const std::set<std::string_view> allowed = {"partner", "upstream", "kind", "outcome", "origin", "strategy",
                                              "state",   "result",   "from", "to",      "reason", "version"};
  for (const auto& info : catalogue()) {
    for (const auto& label : info.labels) {
      INFO(info.name << ' ' << label.name);
      CHECK(allowed.contains(label.name));
    }
  }
}

TEST_CASE("only histograms have buckets, and they ascend") {
  for (const auto& info : catalogue()) {
    INFO(info.name);
    CHECK(info.buckets.empty() == (info.type != MetricType::histogram));
    CHECK(std::ranges::is_sorted(info.buckets, std::ranges::less_equal{}));
  }
}

TEST_CASE("the catalogue's table has a row for each metric, with the values of its labels") {
  const auto table = catalogue_markdown();
  CHECK(std::ranges::count(table, '\n') == static_cast<std::ptrdiff_t>(catalogue().size()) + 2);
  CHECK(table.find(
            "| `freshet_heals_total` | counter | `partner`, `upstream`, `result`: healed\\|failed\\|held_back | ") !=
        std::string::npos);
}

}  // namespace freshet
