#include "proxy/codec/header_value.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace freshet::codec {

namespace {

constexpr std::string_view prefix = "=?base64?";
constexpr std::string_view suffix = "?=";
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_encoded(std::string_view value) {
  return value.size() >= prefix.size() + suffix.size() && value.starts_with(prefix) && value.ends_with(suffix);
}

bool may_stand_plain(std::string_view value) {
  const auto allowed = [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\t'; };
  const auto space = [](char c) { return c == ' ' || c == '\t'; };
  if (value.empty()) return true;
  return std::ranges::all_of(value, allowed) && !space(value.front()) && !space(value.back()) && !is_encoded(value);
}

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
    const auto group = bytes.substr(0, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) out += i <= group.size() ? alphabet[bits >> (18 - 6 * i) & 63u] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  text.remove_suffix(padding);
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const auto digit = alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(static_cast<unsigned char>(bits >> held & 0xffu));
  }
  const bool canonical = (bits & ((1u << held) - 1u)) == 0;
  return canonical ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

std::string encode_header_value(std::string_view value) {
  if (may_stand_plain(value)) return std::string(value);
  return std::string(prefix).append(base64(value)).append(suffix);
}

std::optional<std::string> decode_header_value(std::string_view field) {
  if (!is_encoded(field)) return std::string(field);
  field.remove_prefix(prefix.size());
  field.remove_suffix(suffix.size());
  return from_base64(field);
}

}  // namespace freshet::codec
