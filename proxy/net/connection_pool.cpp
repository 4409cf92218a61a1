#include "proxy/net/connection_pool.hpp"

#include <algorithm>

#include <boost/assert.hpp>

namespace freshet::net {

ConnectionPool::ConnectionPool(Executor executor, const HttpClientLimits& limits)
    : executor_(executor), limits_(limits), reaper_(executor, [this] { reap(); }) {}

ConnectionPool::~ConnectionPool() {
  BOOST_ASSERT(calls_ == 0 && streams_ == 0 && waiting_.empty());
}

Task<Result<ConnectionPool::Slot>> ConnectionPool::acquire(Lifetime lifetime) {
  if (lifetime == Lifetime::stream) {
    if (streams_ >= limits_.streams_max) co_return asio::error::no_buffer_space;
    ++streams_;
    co_return Slot(*this, lifetime);
  }
  if (calls_ >= limits_.connections_max) {
    if (waiting_.size() >= limits_.waiting_max) co_return asio::error::no_buffer_space;
    OneShot<bool> turn(executor_);
    const auto place = waiting_.insert(waiting_.end(), &turn);
    const auto granted = co_await turn.wait();
    if (!granted) waiting_.erase(place);
    if (!granted) co_return asio::error::operation_aborted;
    co_return Slot(*this, lifetime);
  }
  ++calls_;
  co_return Slot(*this, lifetime);
}

void ConnectionPool::release(Lifetime lifetime) {
  if (lifetime == Lifetime::stream) {
    --streams_;
  } else if (waiting_.empty()) {
    --calls_;
  } else {
    // The place passes on: calls_ stays as it is.
    waiting_.front()->set(true);
    waiting_.pop_front();
  }
}

std::optional<Transport> ConnectionPool::take_idle() {
  const auto now = after(std::chrono::nanoseconds(0));
  while (!idle_.empty()) {
    auto last = std::move(idle_.back());
    idle_.pop_back();
    if (last.until > now && !last.transport.stale()) return std::move(last.transport);
  }
  return std::nullopt;
}

void ConnectionPool::give_back(Transport transport) {
  if (idle_.size() >= limits_.connections_max) return;
  transport.no_deadline();
  idle_.push_back({std::move(transport), after(limits_.idle_time_max)});
  reaper_.at(idle_.front().until);
}

void ConnectionPool::reap() {
  const auto now = after(std::chrono::nanoseconds(0));
  const auto kept = std::ranges::find_if(idle_, [now](const Idle& idle) { return idle.until > now; });
  idle_.erase(idle_.begin(), kept);
  if (!idle_.empty()) reaper_.at(idle_.front().until);
}

}  // namespace freshet::net
