// When a session may be healed again: at once, unless the upstream refused the session that the last healing made.
#pragma once

#include <algorithm>
#include <chrono>

#include "proxy/net/alarm.hpp"

namespace freshet::session {

class HealBackoff {
 public:
  [[nodiscard]] bool holds(net::Clock::time_point now) const { return now < until_; }
  // For how long it holds now: twice as long as the last time.
  std::chrono::seconds refused_again(net::Clock::time_point now) {
    wait_ = std::clamp<std::chrono::seconds>(2 * wait_, shortest, longest);
    until_ = now + wait_;
    return wait_;
  }
  void worked() { *this = {}; }

 private:
  static constexpr std::chrono::seconds shortest{1};
  static constexpr std::chrono::seconds longest{60};

  std::chrono::seconds wait_{0};
  net::Clock::time_point until_{};
};

}  // namespace freshet::session
