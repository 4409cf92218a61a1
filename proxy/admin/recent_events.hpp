// The last things that happened which an operator may want to act on: demotions, pauses, refusals, heals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "strategies/time.hpp"

namespace freshet::admin {

struct RecentEvent {
  std::string_view kind;  // as in the log: "strategy_changed"
  bool warning = false;
  std::string subject;  // the upstream or the partner
  std::string uri;      // empty: none
  std::string detail;
  WallTime first_at{};
  WallTime at{};
  std::uint64_t count = 1;  // how often, from first_at to at
};

// Bounded: the oldest go first. The same again within a minute is counted, so that a restart that moves ten thousand
// subscriptions is one line and hides nothing else.
class RecentEvents {
 public:
  static constexpr std::size_t capacity = 100;
  static constexpr std::size_t looked_back = 8;  // so many lines are compared for "the same"
  static constexpr auto merge_within = std::chrono::minutes(1);

  // The times are set from `now`.
  void add(RecentEvent event, WallTime now);

  // Newest first.
  [[nodiscard]] const std::deque<RecentEvent>& all() const { return events_; }

 private:
  std::deque<RecentEvent> events_;
};

}  // namespace freshet::admin
