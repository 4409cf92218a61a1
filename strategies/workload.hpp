// How much an upstream is expected to be used: what a plan is priced by. A day is like every other.
#pragma once

#include <cstddef>

#include "strategies/time.hpp"

namespace freshet {

inline constexpr unsigned hours_per_day = 24;

// [from, to) on the clock, both 0..24; "22-6" goes over midnight, and from = to is the whole day.
struct Hours {
  unsigned from = 9;
  unsigned to = 17;
  bool operator==(const Hours&) const = default;

  [[nodiscard]] constexpr unsigned length() const {
    const unsigned hours = (to + hours_per_day - from) % hours_per_day;
    return hours == 0 ? hours_per_day : hours;
  }
  [[nodiscard]] constexpr bool contains(unsigned hour) const {
    return (hour + hours_per_day - from % hours_per_day) % hours_per_day < length();
  }
};

struct Workload {
  std::size_t sessions_per_day = 200;
  Duration session_length = std::chrono::minutes(30);  // from the first subscribe until the client is gone
  std::size_t resources_per_session = 5;               // subscribed to, the whole session long
  // What a principal can subscribe to: its sessions choose theirs among these, each as likely as the next.
  std::size_t distinct_resources = 100;
  std::size_t principals = 0;  // among which the sessions are spread evenly; 0: each session has its own
  std::size_t client_requests_per_session = 20;
  Hours busy_hours;
  double busy_share = 0.8;  // of the day's sessions, 0..1: they begin in the busy hours
};

}  // namespace freshet
