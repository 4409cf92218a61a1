// One walk over all subscriptions: what they add up to per upstream, and one page of those that match. Taken in steps:
// a hundred thousand of them at once would hold up everybody else's requests.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "config/settings.hpp"
#include "metrics/label_values.hpp"
#include "proxy/admin/json_values.hpp"
#include "proxy/admin/status_query.hpp"
#include "proxy/admin/uri_mask.hpp"
#include "strategies/engine.hpp"

namespace freshet::admin {

// Of one upstream. Age, bound and `overdue` count subscriptions whose subscriber may be told something and is there.
struct SubscriptionSums {
  PerValue<Strategy, std::size_t> by_strategy{};
  std::array<std::size_t, state_names.size()> by_state{};
  std::size_t overdue = 0;  // older than their settings ask for
  std::size_t degraded = 0;
  Duration worst_age{};
  Duration worst_bound{};

  void add(const SubscriptionView& view);
};

class SubscriptionWalk {
 public:
  static constexpr std::size_t step_subscriptions = 1'000;  // about: a subscriber's are taken together

  // All must outlive the walk.
  SubscriptionWalk(const config::Settings& settings, const Engine& engine, const UriMask& mask, StatusQuery query);

  // Goes on a little. False: it is over. What changes between two steps is seen or not.
  bool step(Instant now);

  [[nodiscard]] const StatusQuery& query() const { return query_; }
  [[nodiscard]] const SubscriptionSums& of(UpstreamId upstream) const { return of_upstream_[index(upstream)]; }
  [[nodiscard]] std::size_t matched() const { return matched_; }
  [[nodiscard]] const Json& items() const { return items_; }

 private:
  void visit(const SubscriptionView& view);

  const config::Settings& settings_;
  const Engine& engine_;
  const UriMask& mask_;
  StatusQuery query_;
  std::optional<SubscriberId> last_;
  std::size_t visited_ = 0;  // in this step
  std::vector<SubscriptionSums> of_upstream_;
  std::size_t matched_ = 0;
  Json items_ = Json::array();
};

}  // namespace freshet::admin
