// Every metric, declared once: its name, type, labels, help and buckets. What is exposed, the table in the README and
// the golden file of the tests come from here. A label's values are either listed or configured names (partner,
// upstream, version): never a URI, a session or anything else that a client or an upstream chooses, so the number of
// series depends on the configuration alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace freshet {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

[[nodiscard]] constexpr std::string_view to_string(MetricType t) {
  switch (t) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      return "histogram";
  }
  return "";
}

struct Label {
  std::string_view name;
  std::span<const std::string_view> values;  // empty: a configured name
};

struct MetricInfo {
  std::string_view name;
  MetricType type;
  std::span<const Label> labels;
  std::string_view help;
  std::span<const double> buckets = {};  // upper bounds, ascending; histograms only
};

// In the order of their names.
[[nodiscard]] std::span<const MetricInfo> catalogue();

// Requires that the catalogue has it.
[[nodiscard]] const MetricInfo& metric_info(std::string_view name);

// A Markdown table of the catalogue.
[[nodiscard]] std::string catalogue_markdown();

}  // namespace freshet
