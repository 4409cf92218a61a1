// ASCII as header fields and addresses need it: no locale, no allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace freshet::codec {

[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

[[nodiscard]] constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}
[[nodiscard]] constexpr bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

// Without the optional white space of RFC 9110 §5.6.3 at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Where `separator` comes next outside a quoted string (RFC 9110 §5.6.4), or the end.
[[nodiscard]] constexpr std::size_t find_unquoted(std::string_view text, char separator) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"')
      quoted = !quoted;
    else if (quoted && text[i] == '\\')
      ++i;
    else if (!quoted && text[i] == separator)
      return i;
  }
  return text.size();
}

// Each trimmed piece of `text` between separators; empty ones are left out (RFC 9110 §5.6.1.2).
template <class Visit>
constexpr void for_each_list_member(std::string_view text, Visit visit, char separator = ',') {
  while (!text.empty()) {
    const auto end = find_unquoted(text, separator);
    if (const auto member = trimmed(text.substr(0, end)); !member.empty()) visit(member);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace freshet::codec
