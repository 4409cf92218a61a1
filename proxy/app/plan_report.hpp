// What `freshet plan` prints: each partner's price, for people to agree on and for scripts.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"
#include "proxy/admin/json_values.hpp"
#include "strategies/plan.hpp"

namespace freshet::app {

// By PartnerId; partners without an upstream are left out.
[[nodiscard]] std::vector<PartnerPlan> plans_of(const config::Settings& settings);

// Plain text, fit to be mailed to the partner. `plans`: of these settings.
[[nodiscard]] std::string plan_text(const config::Settings& settings, const std::vector<PartnerPlan>& plans);

// {"partners": [{name, budget, sessions_per_day, as_configured, half_interval, double_interval, resources}]}. A price's
// `if_nothing_changes` is the same price at the other end of adaptive intervals, null without any.
[[nodiscard]] admin::Json plan_json(const std::vector<PartnerPlan>& plans);

}  // namespace freshet::app
