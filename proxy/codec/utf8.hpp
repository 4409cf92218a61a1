// UTF-8 (RFC 3629), one sequence at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace freshet::codec {

// The length of the well-formed sequence at the front of `bytes`: 1 to 4, or 0 if there is none.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view bytes) {
  const auto at = [bytes](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : static_cast<unsigned char>(0);
  };
  const auto within = [&at](std::size_t i, int low, int high) { return at(i) >= low && at(i) <= high; };
  const auto tail = [&within](std::size_t i) { return within(i, 0x80, 0xbf); };
  const int lead = at(0);
  if (bytes.empty()) return 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return tail(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool second = within(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && tail(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool second = within(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

// Surrogates are encoded like any other value of their range ("generalised UTF-8"). Requires code_point <= 0x10ffff.
inline void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  const auto tail = [&add, code_point](unsigned shift) { add(0x80u | ((code_point >> shift) & 0x3fu)); };
  if (code_point < 0x80) return add(code_point);
  if (code_point < 0x800) {
    add(0xc0u | (code_point >> 6));
    return tail(0);
  }
  if (code_point < 0x10000) {
    add(0xe0u | (code_point >> 12));
  } else {
    add(0xf0u | (code_point >> 18));
    tail(12);
  }
  tail(6);
  tail(0);
}

}  // namespace freshet::codec
