#include "proxy/net/alarm.hpp"

namespace freshet::net {

Clock::time_point after(std::chrono::nanoseconds limit) {
  return Clock::now() + limit;
}

struct Alarm::Block {
  Timer timer;
  std::function<void()> on_due;
  Clock::time_point due = Clock::time_point::max();
  Clock::time_point armed = Clock::time_point::max();
};

Alarm::Alarm(Executor executor, std::function<void()> on_due)
    : block_(std::make_shared<Block>(Timer(executor), std::move(on_due))) {}

Alarm::~Alarm() {
  block_->on_due = nullptr;
  block_->timer.cancel();
}

void Alarm::at(Clock::time_point due) {
  block_->due = due;
  arm(block_);
}

void Alarm::never() {
  block_->due = Clock::time_point::max();
}

void Alarm::stop() {
  never();
  block_->armed = Clock::time_point::max();
  block_->timer.cancel();
}

void Alarm::arm(const std::shared_ptr<Block>& block) {
  if (block->due >= block->armed) return;
  block->armed = block->due;
  block->timer.expires_at(block->due);
  block->timer.async_wait([block](error_code ec) {
    if (ec || !block->on_due) return;
    block->armed = Clock::time_point::max();
    if (Clock::now() < block->due) return arm(block);
    block->due = Clock::time_point::max();
    block->on_due();
  });
}

}  // namespace freshet::net
