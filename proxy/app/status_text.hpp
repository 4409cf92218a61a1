// What /status says, for people at a terminal. Pure.
#pragma once

#include <string>

#include "proxy/admin/json_values.hpp"
#include "proxy/app/terminal.hpp"

namespace freshet::app {

// `status` as /status gives it; members that are missing (an older sidecar) show as "-". Whatever would steer a
// terminal is shown as '?': names and URIs are others' words.
[[nodiscard]] std::string status_text(const admin::Json& status);

// The same, cut to a screen.
[[nodiscard]] std::string top_text(const admin::Json& status, TextSize size);

}  // namespace freshet::app
