// Time as values: strategies/ never reads a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace freshet {

using Duration = std::chrono::nanoseconds;

// Monotonic, to measure and to schedule.
struct MonotonicClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicClock>;
  static constexpr bool is_steady = true;
};
using Instant = MonotonicClock::time_point;
inline constexpr Instant never = Instant::max();

// Wall time, only to be shown.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

struct Now {
  Instant instant;
  WallTime wall;
};

[[nodiscard]] constexpr double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}
[[nodiscard]] constexpr Duration from_seconds(double s) {
  // Saturates: a schedule computed from a tiny rate must not wrap.
  constexpr double max_s = 3.0e8;
  const double bounded = s > max_s ? max_s : (s < -max_s ? -max_s : s);
  return Duration(static_cast<std::int64_t>(bounded * 1e9));
}

}  // namespace freshet
