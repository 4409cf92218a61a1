// How things stand, as JSON. Member names are an interface: tests/unit/admin/status.golden.
#pragma once

#include "config/settings.hpp"
#include "proxy/admin/activity.hpp"
#include "proxy/admin/json_values.hpp"
#include "proxy/admin/reload_report.hpp"
#include "proxy/admin/status_query.hpp"
#include "proxy/admin/status_subscriptions.hpp"
#include "proxy/admin/uri_mask.hpp"
#include "strategies/engine.hpp"

namespace freshet::admin {

struct StatusInput {
  const config::Settings& settings;
  const Engine& engine;
  const Metrics& metrics;
  const Activity& activity;
  const UriMask& mask;
  const std::optional<ReloadReport>& reload;  // the last one; none: not since the start
  std::string_view version;
  bool draining;
  Now started;
  Now now;
};

// Everything, with the page of subscriptions of a walk that is over.
[[nodiscard]] Json status_json(const StatusInput& input, const SubscriptionWalk& walk);

// Requests per second of each partner over the last hour.
[[nodiscard]] Json history_json(const StatusInput& input);

}  // namespace freshet::admin
