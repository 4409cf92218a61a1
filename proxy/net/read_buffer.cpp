#include "proxy/net/read_buffer.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace freshet::net {

namespace {

// One for all connections of the loop: nothing suspends between the read into it and the copy out of it, and what is
// copied is mostly small, where a buffer of this size for each read would not be.
constexpr std::size_t scratch_bytes = 64 * 1024;
constexpr std::size_t message_begin_bytes = 2 * 1024;
thread_local std::array<char, scratch_bytes> scratch;

}  // namespace

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

void ReadBuffer::grow(std::size_t bytes) {
  const auto unused = view();
  // Twice what is unused, so that bytes that come one by one do not move the others one by one.
  const auto capacity = std::max(unused.size() + bytes, 2 * unused.size());
  auto data = std::make_unique_for_overwrite<char[]>(capacity);
  std::ranges::copy(unused, data.get());
  data_ = std::move(data);
  capacity_ = capacity;
  begin_ = 0;
  end_ = unused.size();
}

void ReadBuffer::append(std::string_view bytes) {
  if (capacity_ - end_ < bytes.size()) grow(bytes.size());
  std::ranges::copy(bytes, data_.get() + end_);
  end_ += bytes.size();
}

asio::mutable_buffer ReadBuffer::room(std::size_t bytes) {
  if (capacity_ == end_) grow(bytes);
  return {data_.get() + end_, capacity_ - end_};
}

void ReadBuffer::release() {
  if (begin_ == end_) *this = ReadBuffer();
}

Task<Result<>> fill(Transport& transport, ReadBuffer& buffer) {
  buffer.release();
  for (;;) {
    const auto ready = co_await transport.readable();
    if (!ready) co_return ready.error();
    const auto got = transport.try_read(asio::buffer(scratch));
    if (got) buffer.append({scratch.data(), *got});
    if (got) co_return Result<>();
    if (got.error() != asio::error::would_block) co_return got.error();
  }
}

Task<Result<>> fill_soon(Transport& transport, ReadBuffer& buffer) {
  buffer.release();
  const auto got = co_await transport.await_some(buffer.room(message_begin_bytes));
  if (!got) co_return got.error();
  buffer.commit(*got);
  co_return Result<>();
}

}  // namespace freshet::net
