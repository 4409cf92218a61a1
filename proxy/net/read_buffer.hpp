// Bytes read and not yet used. Holds no memory while it is empty and released: an idle connection costs none.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <boost/asio/buffer.hpp>

#include "proxy/net/transport.hpp"

namespace freshet::net {

class ReadBuffer {
 public:
  ReadBuffer() = default;
  ReadBuffer(ReadBuffer&& other) noexcept;
  ReadBuffer& operator=(ReadBuffer&& other) noexcept;

  // The unused bytes. What was consumed stays in place until the next prepare() or release().
  [[nodiscard]] std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  void consume(std::size_t n) { begin_ += n; }

  // Space for about `room` further bytes, at least half of it; views are invalid from here on.
  asio::mutable_buffer prepare(std::size_t room);
  void commit(std::size_t n) { end_ += n; }

  // Gives the memory back if no bytes are unused.
  void release();

 private:
  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Reads more: at least one byte into the buffer, or an error. Memory is held only once bytes are there.
Task<Result<>> fill(Transport& transport, ReadBuffer& buffer, std::size_t room);

}  // namespace freshet::net
