// How things stand, as JSON. Member names are an interface: tests/wire/admin_status.golden.
#pragma once

#include <nlohmann/json.hpp>

#include "config/settings.hpp"
#include "proxy/admin/status_query.hpp"
#include "proxy/admin/uri_mask.hpp"
#include "strategies/engine.hpp"

namespace freshet::admin {

using Json = nlohmann::ordered_json;

struct StatusInput {
  const config::Settings& settings;
  const Engine& engine;
  const UriMask& mask;
  std::string_view version;
  bool draining;
  Now started;
  Now now;
};

// Everything, with one page of the subscriptions.
[[nodiscard]] Json status_json(const StatusInput& input, const StatusQuery& query);

[[nodiscard]] Json partners_json(const StatusInput& input);
[[nodiscard]] Json upstreams_json(const StatusInput& input);
[[nodiscard]] Json subscriptions_json(const StatusInput& input, const StatusQuery& query);

// As text; bytes that are no UTF-8 (a URI may hold any) are replaced.
[[nodiscard]] std::string to_text(const Json& json);

}  // namespace freshet::admin
