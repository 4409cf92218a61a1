// The vocabulary of every coroutine in proxy/: one loop, one thread, one executor type.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/result.hpp>

namespace freshet::net {

namespace asio = boost::asio;
using boost::system::error_code;

using Executor = asio::io_context::executor_type;

template <class T = void>
using Task = asio::awaitable<T, Executor>;

inline constexpr asio::use_awaitable_t<Executor> use_task{};

template <class T = void>
using Result = boost::system::result<T>;

// True once the task that asks was told to end. Nothing in net/ suspends any more from then on, so that a cancelled
// task runs to its end whatever it still tries:
//   if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return asio::error::operation_aborted;
[[nodiscard]] inline bool is_cancelled(const asio::cancellation_state& state) {
  return state.cancelled() != asio::cancellation_type::none;
}

}  // namespace freshet::net
