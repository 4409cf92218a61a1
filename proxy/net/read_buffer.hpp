// Bytes read and not yet used. Holds no memory while it is empty and released: an idle stream costs none.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "proxy/net/transport.hpp"

namespace freshet::net {

class ReadBuffer {
 public:
  ReadBuffer() = default;
  ReadBuffer(ReadBuffer&& other) noexcept;
  ReadBuffer& operator=(ReadBuffer&& other) noexcept;

  // The unused bytes. What was consumed stays in place until the next append() or release().
  [[nodiscard]] std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  void consume(std::size_t n) { begin_ += n; }

  // Views are invalid from here on.
  void append(std::string_view bytes);
  // Behind the unused bytes, for a read whose result commit() tells: what is left there, or `bytes` if nothing is.
  // Views are invalid.
  [[nodiscard]] asio::mutable_buffer room(std::size_t bytes);
  void commit(std::size_t n) { end_ += n; }

  // Gives the memory back if no bytes are unused.
  void release();

 private:
  void grow(std::size_t bytes);

  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Reads what is there, at most 64 KiB, once there is something: at least one byte into the buffer, or an error. While
// it waits the buffer holds no memory beyond its unused bytes.
Task<Result<>> fill(Transport& transport, ReadBuffer& buffer);
// The same for the begin of a message that is expected soon, at most 2 KiB at once, which are held while it waits.
Task<Result<>> fill_soon(Transport& transport, ReadBuffer& buffer);

}  // namespace freshet::net
