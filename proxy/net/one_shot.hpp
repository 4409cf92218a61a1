// A value that one coroutine waits for and another part of the same loop supplies, once.
#pragma once

#include <optional>
#include <utility>

#include "proxy/net/alarm.hpp"
#include "proxy/net/task.hpp"

namespace freshet::net {

template <class T>
class OneShot {
 public:
  explicit OneShot(Executor executor) : signal_(executor, Clock::time_point::max()) {}

  // The first value counts; later ones are ignored. Never resumes the waiter inside this call.
  void set(T value) {
    if (value_) return;
    value_ = std::move(value);
    signal_.cancel();
  }

  [[nodiscard]] bool ready() const { return value_.has_value(); }

  // At most one waiter. Empty if the wait was cancelled or lasted longer than `limit`.
  Task<std::optional<T>> wait(std::chrono::nanoseconds limit = std::chrono::hours(24 * 365)) {
    if (!value_ && !is_cancelled(co_await asio::this_coro::cancellation_state)) {
      signal_.expires_after(limit);
      error_code ec;
      co_await signal_.async_wait(asio::redirect_error(use_task, ec));
    }
    co_return std::exchange(value_, std::nullopt);
  }

 private:
  Timer signal_;
  std::optional<T> value_;
};

}  // namespace freshet::net
