// Time limits of sockets and pools, on the monotonic clock.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <boost/asio/basic_waitable_timer.hpp>

#include "proxy/net/task.hpp"

namespace freshet::net {

using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

// The moment that lies `limit` from now.
[[nodiscard]] Clock::time_point after(std::chrono::nanoseconds limit);

// Calls back once the moment that was last set has passed. Moving it to later costs a store: the timer behind it runs
// on and is armed again when it fires.
class Alarm {
 public:
  // `on_due` may destroy nothing that owns the alarm. It is never called after the alarm's end.
  Alarm(Executor executor, std::function<void()> on_due);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  void at(Clock::time_point due);
  void never();
  // As never(), and the timer behind it ends at once: for what is over, lest a loop waits for it.
  void stop();

 private:
  struct Block;
  static void arm(const std::shared_ptr<Block>& block);
  // Shared with the pending wait alone, whose handler may run after the alarm is gone.
  std::shared_ptr<Block> block_;
};

}  // namespace freshet::net
