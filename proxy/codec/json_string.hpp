// JSON string tokens and the text they stand for (RFC 8259 §7).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace freshet::codec {

// The text of a string token (quotes included) that a JsonReader accepted. A lone surrogate becomes its three bytes of
// generalised UTF-8, so that two different tokens never become equal; quote() writes it back as an escape.
[[nodiscard]] std::string unquote(std::string_view token);
// Whether the token's text is `text`.
[[nodiscard]] bool token_equals(std::string_view token, std::string_view text);
// A JSON string with that text. Every control is escaped, thus the result is one line; what else is no UTF-8 becomes
// U+FFFD.
[[nodiscard]] std::string quote(std::string_view text);

// UTF-16 code units, as \u escapes give them. -1: none there.
[[nodiscard]] constexpr bool is_surrogate(int unit) {
  return unit >= 0xd800 && unit <= 0xdfff;
}
[[nodiscard]] constexpr bool is_pair(int first, int second) {
  return first >= 0xd800 && first <= 0xdbff && second >= 0xdc00 && second <= 0xdfff;
}
// The four hexadecimal digits at `at`.
[[nodiscard]] int hex4(std::string_view text, std::size_t at);
// The unit of the \u escape at `at`.
[[nodiscard]] int escaped_unit(std::string_view text, std::size_t at);

}  // namespace freshet::codec
