// How single values are shown in JSON.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "strategies/time.hpp"

namespace freshet::admin {

using Json = nlohmann::ordered_json;

// Milliseconds are as fine as anyone looks; more digits would only hide the figure.
[[nodiscard]] inline double rounded(double value) {
  return std::round(value * 1000.0) / 1000.0;
}
[[nodiscard]] inline double shown_seconds(Duration d) {
  return rounded(seconds(d));
}
[[nodiscard]] inline Json shown_seconds(const std::optional<Duration>& d) {
  return d ? Json(shown_seconds(*d)) : Json(nullptr);
}

// RFC 3339, in UTC.
[[nodiscard]] std::string wall_text(WallTime at);
[[nodiscard]] inline Json wall_text(const std::optional<WallTime>& at) {
  return at ? Json(wall_text(*at)) : Json(nullptr);
}

// As one line of text; bytes that are no UTF-8 (a URI may hold any) are replaced.
[[nodiscard]] std::string to_text(const Json& json);

}  // namespace freshet::admin
