// What became of the configuration's last reload, for /status and the list of recent events.
#pragma once

#include <string>
#include <vector>

#include "proxy/admin/json_values.hpp"
#include "proxy/admin/recent_events.hpp"

namespace freshet::admin {

// Names of settings and sentences about them: never a value.
struct ReloadReport {
  WallTime at{};
  std::vector<std::string> changed;
  std::vector<std::string> errors;  // none: it was applied; otherwise what ran before runs on
  [[nodiscard]] bool applied() const { return errors.empty(); }
};

[[nodiscard]] Json reload_json(const ReloadReport& report);
[[nodiscard]] RecentEvent reload_event(const ReloadReport& report);

}  // namespace freshet::admin
