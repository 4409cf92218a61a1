#include "proxy/net/read_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace freshet::net {

ReadBuffer::ReadBuffer(ReadBuffer&& other) noexcept {
  *this = std::move(other);
}

ReadBuffer& ReadBuffer::operator=(ReadBuffer&& other) noexcept {
  data_ = std::move(other.data_);
  capacity_ = std::exchange(other.capacity_, 0);
  begin_ = std::exchange(other.begin_, 0);
  end_ = std::exchange(other.end_, 0);
  return *this;
}

asio::mutable_buffer ReadBuffer::prepare(std::size_t room) {
  const auto unused = view();
  if (unused.empty()) begin_ = end_ = 0;
  // Half is enough, so that bytes that come one by one do not move the memory one by one.
  if (capacity_ - end_ < (room + 1) / 2) {
    const auto capacity = unused.size() + room;
    auto data = capacity > capacity_ ? std::make_unique_for_overwrite<char[]>(capacity) : nullptr;
    if (!unused.empty()) std::memmove(data ? data.get() : data_.get(), unused.data(), unused.size());
    if (data) data_ = std::move(data);
    capacity_ = std::max(capacity, capacity_);
    begin_ = 0;
    end_ = unused.size();
  }
  return {data_.get() + end_, capacity_ - end_};
}

void ReadBuffer::release() {
  if (begin_ == end_) *this = ReadBuffer();
}

Task<Result<>> fill(Transport& transport, ReadBuffer& buffer, std::size_t room) {
  buffer.release();
  for (;;) {
    const auto ready = co_await transport.readable();
    if (!ready) co_return ready.error();
    const auto got = transport.try_read(buffer.prepare(room));
    if (got) buffer.commit(*got);
    if (got) co_return Result<>();
    if (got.error() != asio::error::would_block) co_return got.error();
    buffer.release();
  }
}

}  // namespace freshet::net
