// The vocabulary of every coroutine in proxy/: one loop, one thread, one executor type.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
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

}  // namespace freshet::net
