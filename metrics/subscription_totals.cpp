#include "metrics/subscription_totals.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace freshet {

namespace {

constexpr auto live_states = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{state::live(state::Any(std::in_place_index<I>))...};
};

std::size_t state_index(std::string_view name) {
  const auto found = std::ranges::find(state_names, name);
  assert(found != state_names.end());
  return static_cast<std::size_t>(found - state_names.begin());
}

}  // namespace

void SubscriptionTotals::add(const SubscriptionView& view) {
  static const auto live = live_states(std::make_index_sequence<state_names.size()>{});
  auto& totals = of_upstream.at(index(view.upstream));
  const auto state = state_index(view.state);
  ++totals.count[view.strategy][state];
  if (!live[state] || view.absent) return;
  totals.worst_age = std::max(totals.worst_age, view.age.value_or(Duration::zero()));
  totals.worst_bound = std::max(totals.worst_bound, view.bound);
  totals.overdue += view.overdue() ? 1 : 0;
}

}  // namespace freshet
