#include "proxy/codec/json_string.hpp"

#include <algorithm>
#include <cstdint>

#include "proxy/codec/text.hpp"
#include "proxy/codec/utf8.hpp"

namespace freshet::codec {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// The unit of a surrogate in generalised UTF-8 at the front of `bytes`, or -1.
int surrogate_unit(std::string_view bytes) {
  if (bytes.size() < 3 || bytes[0] != '\xed') return -1;
  const int second = static_cast<unsigned char>(bytes[1]);
  const int third = static_cast<unsigned char>(bytes[2]);
  if (second < 0xa0 || second > 0xbf || third < 0x80 || third > 0xbf) return -1;
  return 0xd000 | (second & 0x3f) << 6 | (third & 0x3f);
}

void append_unit(std::string& out, int unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += hex_digits[static_cast<std::size_t>(unit >> shift & 0xf)];
}

// Writes what stands at the front of `text` and needs more than copying; returns the bytes it took.
std::size_t append_special(std::string& out, std::string_view text) {
  switch (const char c = text.front(); c) {
    case '"':
    case '\\':
      out += {'\\', c};
      return 1;
    case '\n':
      out += "\\n";
      return 1;
    case '\r':
      out += "\\r";
      return 1;
    case '\t':
      out += "\\t";
      return 1;
    default:
      break;
  }
  if (static_cast<unsigned char>(text.front()) < 0x20) {
    append_unit(out, text.front());
    return 1;
  }
  if (const auto length = utf8_length(text); length > 0) {
    out += text.substr(0, length);
    return length;
  }
  if (const int unit = surrogate_unit(text); unit >= 0) {
    append_unit(out, unit);
    return 3;
  }
  append_utf8(out, 0xfffd);
  return 1;
}

bool needs_no_care(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// Appends what the escape at `at` stands for; returns where it ends. Requires: the escape is grammatical.
std::size_t append_unescaped(std::string& out, std::string_view token, std::size_t at) {
  constexpr std::string_view letters = "bfnrt", meanings = "\b\f\n\r\t";
  if (token[at + 1] != 'u') {
    const auto letter = letters.find(token[at + 1]);
    out += letter == std::string_view::npos ? token[at + 1] : meanings[letter];
    return at + 2;
  }
  const int unit = escaped_unit(token, at);
  const int next = escaped_unit(token, at + 6);
  if (!is_pair(unit, next)) {
    append_utf8(out, static_cast<std::uint32_t>(unit));
    return at + 6;
  }
  append_utf8(out,
              0x10000u + (static_cast<std::uint32_t>(unit - 0xd800) << 10) + static_cast<std::uint32_t>(next - 0xdc00));
  return at + 12;
}

}  // namespace

int hex4(std::string_view text, std::size_t at) {
  if (at > text.size() || text.size() - at < 4) return -1;
  int unit = 0;
  for (const char c : text.substr(at, 4)) {
    const auto digit = hex_digits.find(lower(c));
    if (digit == std::string_view::npos) return -1;
    unit = unit << 4 | static_cast<int>(digit);
  }
  return unit;
}

int escaped_unit(std::string_view text, std::size_t at) {
  return at < text.size() && text.substr(at, 2) == "\\u" ? hex4(text, at + 2) : -1;
}

std::string unquote(std::string_view token) {
  token = token.substr(1, token.size() - 2);
  std::string out;
  out.reserve(token.size());
  for (std::size_t at = 0; at < token.size();) {
    const auto escape = std::min(token.find('\\', at), token.size());
    out += token.substr(at, escape - at);
    at = escape < token.size() ? append_unescaped(out, token, escape) : escape;
  }
  return out;
}

bool token_equals(std::string_view token, std::string_view text) {
  const auto inner = token.substr(1, token.size() - 2);
  return inner.find('\\') == std::string_view::npos ? inner == text : unquote(token) == text;
}

std::string quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  while (!text.empty()) {
    const auto stop = std::ranges::find_if_not(text, needs_no_care);
    const auto run = static_cast<std::size_t>(stop - text.begin());
    out += text.substr(0, run);
    text.remove_prefix(run);
    if (!text.empty()) text.remove_prefix(append_special(out, text));
  }
  out += '"';
  return out;
}

}  // namespace freshet::codec
