// Owns spawned coroutines. Nothing is detached: what is spawned ends before its group does, in two stages.
#pragma once

#include <cstddef>
#include <list>

#include <boost/asio/cancellation_signal.hpp>

#include "proxy/net/alarm.hpp"
#include "proxy/net/task.hpp"

namespace freshet::net {

class TaskGroup {
 public:
  explicit TaskGroup(Executor executor);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  // Requires that the group is empty: the owner has awaited join().
  ~TaskGroup();

  // Starts the coroutine; from the loop, up to its first suspension inside this call. An exception that leaves it is a
  // broken invariant and ends the process; cancellation throws none.
  void spawn(Task<> task);

  // Asks every task to end: a terminal cancellation reaches the operation that each is suspended in, which fails with
  // operation_aborted, and so does whatever would suspend later.
  void cancel();

  // Completes when no task is left. A cancellation of the caller reaches the tasks.
  Task<> join();

  [[nodiscard]] std::size_t size() const { return tasks_.size(); }

 private:
  struct Entry {
    asio::cancellation_signal signal;
    bool started = false;
    bool cancelled = false;
  };
  static Task<> run(Entry& entry, Task<> task);
  void ended(std::list<Entry>::iterator entry);

  Executor executor_;
  std::list<Entry> tasks_;
  Timer empty_;
};

}  // namespace freshet::net
