#include "proxy/admin/status_subscriptions.hpp"

#include <algorithm>

namespace freshet::admin {

namespace {

const auto live_states = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{state::live(state::Any(std::in_place_index<I>))...};
}(std::make_index_sequence<state_names.size()>{});

// Of the page: what /status documents, in this order.
Json shown(const std::string& upstream, const SubscriptionView& view, std::string uri) {
  return {{"uri", std::move(uri)},
          {"upstream", upstream},
          {"subscriber", index(view.subscriber)},
          {"state", view.state},
          {"strategy", to_string(view.strategy)},
          {"presence", to_string(view.presence)},
          {"attached", view.attached},
          {"absent", view.absent},
          {"degraded", view.degraded},
          {"age_s", shown_seconds(view.age)},
          {"bound_s", shown_seconds(view.bound)},
          {"overdue_after_s", shown_seconds(view.overdue_after)},
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
  worst_age = std::max(worst_age, view.age.value_or(Duration::zero()));
  worst_bound = std::max(worst_bound, view.bound);
  overdue += view.overdue() ? 1 : 0;
}

SubscriptionWalk::SubscriptionWalk(const config::Settings& settings, const Engine& engine, const UriMask& mask,
                                   StatusQuery query)
    : settings_(settings),
      engine_(engine),
      mask_(mask),
      query_(std::move(query)),
      of_upstream_(settings.upstreams.size()) {}

bool SubscriptionWalk::step(Instant now) {
  visited_ = 0;
  // A subscriber without subscriptions is a visit too.
  for (std::size_t subscribers = 0; visited_ + subscribers < step_subscriptions; ++subscribers) {
    last_ = engine_.visit_subscriptions_after(last_, now, [this](const SubscriptionView& view) { visit(view); });
    if (!last_) return false;
  }
  return true;
}

void SubscriptionWalk::visit(const SubscriptionView& view) {
  ++visited_;
  of_upstream_[index(view.upstream)].add(view);
  const std::string& upstream = settings_.upstreams[index(view.upstream)].name;
  if (!query_.upstream.empty() && upstream != query_.upstream) return;
  // What is masked cannot be searched for either: the answer would give it away.
  if (!query_.search.empty() && mask_.shown(view.uri).find(query_.search) == std::string::npos) return;
  const std::size_t place = matched_++;
  if (place < query_.offset || items_.size() >= query_.limit) return;
  items_.push_back(shown(upstream, view, mask_.shown(view.uri)));
}

}  // namespace freshet::admin
