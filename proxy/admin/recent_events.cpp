#include "proxy/admin/recent_events.hpp"

#include <algorithm>

namespace freshet::admin {

namespace {

bool same(const RecentEvent& a, const RecentEvent& b) {
  return a.kind == b.kind && a.subject == b.subject && a.detail == b.detail;
}

}  // namespace

void RecentEvents::add(RecentEvent event, WallTime now) {
  const auto last = events_.begin() + static_cast<std::ptrdiff_t>(std::min(looked_back, events_.size()));
  const auto known = std::find_if(
      events_.begin(), last, [&](const RecentEvent& e) { return same(e, event) && now - e.first_at < merge_within; });
  event.first_at = event.at = now;
  if (known != last) {
    event.first_at = known->first_at;
    event.count += known->count;
    events_.erase(known);
  }
  events_.push_front(std::move(event));
  if (events_.size() > capacity) events_.pop_back();
}

}  // namespace freshet::admin
