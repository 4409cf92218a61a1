// Owns spawned coroutines. Nothing is detached: what is spawned ends before its group does, in two stages.
#pragma once

#include <cstddef>
#include <list>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include "proxy/net/task.hpp"

namespace freshet::net {

class TaskGroup {
 public:
  explicit TaskGroup(Executor executor);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  // Requires that the group is empty: the owner has awaited join().
  ~TaskGroup();

  // Starts the coroutine on the loop. An exception that leaves it is a broken invariant and ends the process.
  void spawn(Task<> task);

  // Asks every task to end: a terminal cancellation reaches the operation that each is suspended in.
  void cancel();

  // Completes when no task is left.
  Task<> join();

  [[nodiscard]] std::size_t size() const { return tasks_.size(); }

 private:
  struct Entry {
    asio::cancellation_signal signal;
  };
  Executor executor_;
  std::list<Entry> tasks_;
  asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor> empty_;
};

}  // namespace freshet::net
