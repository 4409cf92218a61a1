// The size line in front of a chunk (RFC 9112 §7.1), formatted in place.
#pragma once

#include <array>
#include <charconv>
#include <string_view>

namespace freshet::net {

class ChunkSize {
 public:
  explicit ChunkSize(std::size_t size) {
    auto* end = std::to_chars(text_.data(), text_.data() + text_.size() - 2, size, 16).ptr;
    *end++ = '\r';
    *end++ = '\n';
    length_ = static_cast<std::size_t>(end - text_.data());
  }
  [[nodiscard]] std::string_view view() const { return {text_.data(), length_}; }

 private:
  std::array<char, 18> text_;
  std::size_t length_;
};

inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace freshet::net
