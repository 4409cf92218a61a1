#include "proxy/admin/reload_report.hpp"

namespace freshet::admin {

namespace {

constexpr std::size_t items_shown = 3;

std::string summary(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < items_shown; ++i) {
    text.append(i == 0 ? "" : separator).append(items[i]);
  }
  if (items.size() > items_shown) text += " and " + std::to_string(items.size() - items_shown) + " more";
  return text;
}

}  // namespace

Json reload_json(const ReloadReport& report) {
  return {{"at", wall_text(report.at)},
          {"result", report.applied() ? "applied" : "refused"},
          {"changed", report.changed},
          {"errors", report.errors}};
}

RecentEvent reload_event(const ReloadReport& report) {
  if (!report.applied()) {
    return {.kind = "reload_refused",
            .warning = true,
            .subject = "configuration",
            .uri = {},
            .detail = "what ran before runs on: " + summary(report.errors, "; ")};
  }
  return {.kind = "reloaded",
          .subject = "configuration",
          .uri = {},
          .detail = report.changed.empty() ? "nothing changed" : "changed: " + summary(report.changed, ", ")};
}

}  // namespace freshet::admin
