#include "proxy/session/event_relay.hpp"

#include <vector>

#include "proxy/net/alarm.hpp"
#include "proxy/net/task_group.hpp"

namespace freshet::session {

EventRelay::EventRelay(net::ServerExchange& client, net::ClientResponse& upstream, ReplyCollector* tap,
                       const std::chrono::nanoseconds& keepalive_interval)
    : client_(client),
      upstream_(upstream),
      tap_(tap),
      keepalive_interval_(keepalive_interval),
      events_({.data_bytes_max = 0}),  // only the boundaries matter: no data is kept
      last_write_(net::Clock::now()),
      turn_(client.transport().executor()) {}

void EventRelay::tell(std::size_t bytes_max, OnMessage on_message) {
  events_ = codec::SseDecoder({.data_bytes_max = bytes_max});
  on_message_ = std::move(on_message);
}

net::Task<bool> EventRelay::run(net::Executor executor) {
  net::TaskGroup beside(executor);
  beside.spawn(keep_alive(executor));
  beside.spawn(watch_client());
  const bool whole = co_await pump();
  beside.cancel();
  co_await beside.join();
  co_return whole;
}

net::Task<bool> EventRelay::pump() {
  const auto flushed = co_await client_.flush();
  if (!flushed) co_return false;
  for (;;) {
    const auto piece = co_await upstream_.read_some();
    if (!piece) co_return false;
    if (piece->empty()) co_return true;
    if (tap_ != nullptr) tap_->feed(*piece);
    std::vector<std::string> messages;
    events_.feed(*piece, [&](codec::SseEvent&& event) {
      if (on_message_ && event.has_data()) messages.push_back(std::move(event.data));
    });
    const auto written = co_await write(*piece);
    for (std::string& message : messages) on_message_(std::move(message), written.has_value());
    if (!written) co_return false;
  }
}

// One writer at a time: the relay, or the keep-alive's comment.
net::Task<net::Result<>> EventRelay::write(std::string_view bytes) {
  while (writing_) {
    turn_.expires_at(net::Clock::time_point::max());
    net::error_code ec;
    co_await turn_.async_wait(net::asio::redirect_error(net::use_task, ec));
  }
  writing_ = true;
  const net::Result<> written = co_await client_.write(bytes);
  writing_ = false;
  turn_.cancel();
  last_write_ = net::Clock::now();
  co_return written;
}

net::Task<> EventRelay::keep_alive(net::Executor executor) {
  net::Timer timer(executor);
  for (;;) {
    timer.expires_at(last_write_ + keepalive_interval_);
    net::error_code ec;
    co_await timer.async_wait(net::asio::redirect_error(net::use_task, ec));
    if (ec) co_return;
    if (net::Clock::now() < last_write_ + keepalive_interval_) continue;
    if (writing_ || !events_.at_boundary()) {
      last_write_ = net::Clock::now();
      continue;
    }
    const auto written = co_await write(codec::comment());
    if (!written) co_return upstream_.close();
  }
}

// A client that only half-closed may still read: a comment shows whether it does. Within an event what comes next does.
net::Task<> EventRelay::watch_client() {
  const bool gone = co_await client_.peer_ended();
  if (gone) co_return upstream_.close();
  if (!writing_ && events_.at_boundary()) co_await write(codec::comment());
  const bool broken = co_await client_.peer_ended();
  if (broken) upstream_.close();
}

}  // namespace freshet::session
