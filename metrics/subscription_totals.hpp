// What the subscriptions add up to at one moment, per upstream.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "metrics/label_values.hpp"
#include "strategies/engine.hpp"
#include "strategies/strategy.hpp"
#include "strategies/time.hpp"

namespace freshet {

struct SubscriptionTotals {
  struct OfUpstream {
    PerValue<Strategy, std::array<std::size_t, state_names.size()>> count{};  // by strategy and state
    Duration worst_age{};
    Duration worst_bound{};
    std::size_t overdue = 0;
  };

  explicit SubscriptionTotals(std::size_t upstreams) : of_upstream(upstreams) {}

  // Requires a view of one of the upstreams. Age, bound and `overdue` count while the subscriber may be told something
  // and has not been away so long that its polls stopped.
  void add(const SubscriptionView& view);

  std::vector<OfUpstream> of_upstream;
};

}  // namespace freshet
