#include "proxy/net/task_group.hpp"

#include <exception>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/assert.hpp>

namespace freshet::net {

TaskGroup::TaskGroup(Executor executor) : executor_(executor), empty_(executor, Clock::time_point::max()) {}

TaskGroup::~TaskGroup() {
  BOOST_ASSERT(tasks_.empty());
}

Task<> TaskGroup::run(Entry& entry, Task<> task) {
  co_await asio::this_coro::throw_if_cancelled(false);
  entry.started = true;
  // A cancellation that came before the first step has no operation to reach, and its state is set up only now.
  if (entry.cancelled) entry.signal.emit(asio::cancellation_type::terminal);
  co_await std::move(task);
}

void TaskGroup::spawn(Task<> task) {
  const auto entry = tasks_.emplace(tasks_.end());
  const auto on_end = [this, entry](std::exception_ptr failure) noexcept {
    if (failure) std::rethrow_exception(failure);
    // The signal is still in use by the frame that calls this.
    asio::post(executor_, [this, entry] { ended(entry); });
  };
  asio::co_spawn(executor_, run(*entry, std::move(task)), asio::bind_cancellation_slot(entry->signal.slot(), on_end));
}

void TaskGroup::ended(std::list<Entry>::iterator entry) {
  tasks_.erase(entry);
  if (tasks_.empty()) empty_.cancel();
}

void TaskGroup::cancel() {
  for (auto& entry : tasks_) {
    entry.cancelled = true;
    if (entry.started) entry.signal.emit(asio::cancellation_type::terminal);
  }
}

Task<> TaskGroup::join() {
  while (!tasks_.empty()) {
    error_code ec;
    co_await empty_.async_wait(asio::redirect_error(use_task, ec));
    if (is_cancelled(co_await asio::this_coro::cancellation_state)) cancel();
  }
}

}  // namespace freshet::net
