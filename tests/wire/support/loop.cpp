#include "tests/wire/support/loop.hpp"

#include <cstdio>
#include <cstdlib>

namespace freshet::test {

Task<> Loop::watched(Task<> task) {
  try {
    co_await std::move(task);
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
    main_.cancel();
  }
}

Task<> Loop::watched_main(Task<> task) {
  co_await watched(std::move(task));
  background_.cancel();
  co_await background_.join();
}

void Loop::run(Task<> task, std::chrono::seconds limit) {
  main_.spawn(watched_main(std::move(task)));
  const auto until = std::chrono::steady_clock::now() + limit;
  while (main_.size() > 0 && context_.run_one_until(until) > 0) {
  }
  if (main_.size() > 0) {
    // The frames that hang are not to be destroyed in an order that nobody chose.
    std::fputs("a task did not end in time\n", stderr);
    std::abort();
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace freshet::test
