// A loop of one's own for each test: runs one coroutine to its end, and everything that it started.
#pragma once

#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "proxy/net/task_group.hpp"

namespace freshet::test {

using net::Result;
using net::Task;

class Loop {
 public:
  // Once per loop. Ends the test program if the task has not ended after `limit`.
  void run(Task<> task, std::chrono::seconds limit = std::chrono::seconds(10));

  [[nodiscard]] net::Executor executor() { return context_.get_executor(); }
  [[nodiscard]] boost::asio::io_context& context() { return context_; }
  // Beside the task of run(); cancelled and joined when that ends. A failure in it fails the test.
  void spawn(Task<> task) { background_.spawn(watched(std::move(task))); }
  [[nodiscard]] net::TaskGroup& background() { return background_; }

 private:
  Task<> watched(Task<> task);
  Task<> watched_main(Task<> task);
  boost::asio::io_context context_{1};
  net::TaskGroup main_{context_.get_executor()};
  net::TaskGroup background_{context_.get_executor()};
  std::exception_ptr failure_;
};

}  // namespace freshet::test
