// One walk over all subscriptions: what they add up to per upstream, and one page of those that match.
#pragma once

#include <vector>

#include "proxy/admin/json_values.hpp"
#include "proxy/admin/status.hpp"

namespace freshet::admin {

// Of one upstream. Age, bound and `overdue` count subscriptions whose subscriber may be told something and is there.
struct SubscriptionSums {
  PerValue<Strategy, std::size_t> by_strategy{};
  std::array<std::size_t, state_names.size()> by_state{};
  std::size_t overdue = 0;  // older than their bound
  std::size_t degraded = 0;
  Duration worst_age{};
  Duration worst_bound{};

  void add(const SubscriptionView& view);
};

struct SubscriptionWalk {
  std::vector<SubscriptionSums> of_upstream;
  std::size_t matched = 0;
  Json items = Json::array();
};

[[nodiscard]] SubscriptionWalk walk_subscriptions(const StatusInput& input, const StatusQuery& query);

}  // namespace freshet::admin
