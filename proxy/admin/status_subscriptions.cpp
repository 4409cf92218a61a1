#include "proxy/admin/status_subscriptions.hpp"

#include <algorithm>

namespace freshet::admin {

namespace {

const auto live_states = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{state::live(state::Any(std::in_place_index<I>))...};
}(std::make_index_sequence<state_names.size()>{});

// Of the page: what /status documents, in this order.
Json shown(const StatusInput& input, const SubscriptionView& view, std::string uri) {
  return {{"uri", std::move(uri)},
          {"upstream", input.settings.upstreams[index(view.upstream)].name},
          {"subscriber", index(view.subscriber)},
          {"state", view.state},
          {"strategy", to_string(view.strategy)},
          {"presence", to_string(view.presence)},
          {"attached", view.attached},
          {"absent", view.absent},
          {"degraded", view.degraded},
          {"age_s", shown_seconds(view.age)},
          {"bound_s", shown_seconds(view.bound)},
          {"confirmed_at", wall_text(view.confirmed_at)},
          {"changed_at", wall_text(view.changed_at)},
          {"next_read_in_s", shown_seconds(view.next_read_in)},
          {"changes_per_hour", rounded(view.changes_per_s * 3600.0)},
          {"version", view.version}};
}

}  // namespace

void SubscriptionSums::add(const SubscriptionView& view) {
  const auto found = std::ranges::find(state_names, view.state);
  const auto state = static_cast<std::size_t>(found - state_names.begin());
  ++by_strategy[view.strategy];
  ++by_state[state];
  degraded += view.degraded ? 1 : 0;
  if (!live_states[state] || view.absent) return;
  const Duration age = view.age.value_or(Duration::zero());
  worst_age = std::max(worst_age, age);
  worst_bound = std::max(worst_bound, view.bound);
  overdue += age > view.bound ? 1 : 0;
}

SubscriptionWalk walk_subscriptions(const StatusInput& input, const StatusQuery& query) {
  SubscriptionWalk walk{.of_upstream = std::vector<SubscriptionSums>(input.settings.upstreams.size())};
  input.engine.for_each_subscription(input.now.instant, [&](const SubscriptionView& view) {
    walk.of_upstream[index(view.upstream)].add(view);
    if (!query.upstream.empty() && input.settings.upstreams[index(view.upstream)].name != query.upstream) return;
    // What is masked cannot be searched for either: the answer would give it away.
    if (!query.search.empty() && input.mask.shown(view.uri).find(query.search) == std::string::npos) return;
    const std::size_t place = walk.matched++;
    if (place < query.offset || walk.items.size() >= query.limit) return;
    walk.items.push_back(shown(input, view, input.mask.shown(view.uri)));
  });
  return walk;
}

}  // namespace freshet::admin
