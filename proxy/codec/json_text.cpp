#include "proxy/codec/json_text.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "proxy/codec/json_string.hpp"
#include "proxy/codec/text.hpp"
#include "proxy/codec/utf8.hpp"

namespace freshet::codec {

namespace {

// Bytes that stand for themselves in a string and need no look at what follows.
constexpr auto is_plain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool plain(char c) {
  return is_plain[static_cast<unsigned char>(c)];
}

template <class Number>
bool converts(std::string_view token) {
  Number n{};
  return std::from_chars(token.data(), token.data() + token.size(), n).ec == std::errc{};
}

constexpr std::size_t double_digits_max = 17;

// Errs towards no: a decimal with more digits than double keeps is not converted to find out.
bool is_representable(std::string_view token, bool is_integer) {
  if (is_integer)
    return token.size() <= double_digits_max || converts<std::int64_t>(token) || converts<std::uint64_t>(token);
  return std::ranges::count_if(token, is_digit) <= static_cast<std::ptrdiff_t>(double_digits_max) &&
         converts<double>(token);
}

}  // namespace

JsonReader::JsonReader(std::string_view text, std::size_t depth_max)
    : text_(text), at_(text.starts_with("\xef\xbb\xbf") ? 3 : 0), depth_max_(std::min(depth_max, json_depth_ceiling)) {}

void JsonReader::fail(JsonFault fault) {
  if (ok()) fault_ = fault;
}

void JsonReader::skip_space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

bool JsonReader::take(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

JsonKind JsonReader::peek() {
  if (!ok()) return JsonKind::invalid;
  skip_space();
  if (at_ == text_.size()) return JsonKind::end;
  switch (text_[at_]) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    default:
      return text_[at_] == '-' || is_digit(text_[at_]) ? JsonKind::number : JsonKind::invalid;
  }
}

Span JsonReader::skip() {
  skip_space();
  const std::size_t begin = at_;
  std::bitset<json_depth_ceiling> in_object;  // of each bracket that is open
  const std::size_t outside = depth_;
  for (;;) {
    const auto kind = peek();
    const bool opens = kind == JsonKind::object || kind == JsonKind::array;
    if (opens && enter()) in_object[depth_ - 1] = kind == JsonKind::object;
    if (!opens) scalar(kind);
    bool ended = !opens || closes(kind == JsonKind::object ? '}' : ']');
    if (ended && opens) --depth_;
    while (ok() && ended && depth_ > outside) {
      ended = !another(in_object[depth_ - 1] ? '}' : ']');
      if (ended) --depth_;
    }
    if (ok() && ended) return {begin, at_};
    if (ok() && in_object[depth_ - 1]) {
      string();
      colon();
    }
    if (!ok()) return {};
  }
}

bool JsonReader::finish() {
  if (peek() != JsonKind::end) fail(JsonFault::malformed);
  return ok();
}

bool JsonReader::enter() {
  if (depth_ == depth_max_) fail(JsonFault::too_deep);
  if (!ok()) return false;
  ++depth_;
  ++at_;
  return true;
}

bool JsonReader::closes(char bracket) {
  skip_space();
  return take(bracket);
}

bool JsonReader::another(char bracket) {
  skip_space();
  if (!ok() || take(bracket)) return false;
  if (take(',')) return true;
  fail(JsonFault::malformed);
  return false;
}

void JsonReader::colon() {
  skip_space();
  if (!take(':')) fail(JsonFault::malformed);
}

void JsonReader::scalar(JsonKind kind) {
  if (kind == JsonKind::string) {
    string();
  } else if (kind == JsonKind::number) {
    number();
  } else if (kind == JsonKind::boolean) {
    literal(text_[at_] == 't' ? "true" : "false");
  } else if (kind == JsonKind::null) {
    literal("null");
  } else {
    fail(JsonFault::malformed);
  }
}

void JsonReader::literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return fail(JsonFault::malformed);
  at_ += word.size();
}

bool JsonReader::digits() {
  const auto first = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  if (at_ == first) fail(JsonFault::malformed);
  return ok();
}

void JsonReader::number() {
  const auto begin = at_;
  bool is_integer = true;
  (void)take('-');
  if (!take('0') && !digits()) return;
  if (take('.')) {
    is_integer = false;
    if (!digits()) return;
  }
  if (take('e') || take('E')) {
    is_integer = false;
    if (!take('+')) (void)take('-');
    if (!digits()) return;
  }
  unrepresentable_ |= !is_representable(text_.substr(begin, at_ - begin), is_integer);
}

Span JsonReader::string() {
  skip_space();
  const auto begin = at_;
  if (!take('"')) fail(JsonFault::malformed);
  while (ok()) {
    while (at_ < text_.size() && plain(text_[at_])) ++at_;
    if (take('"')) return {begin, at_};
    if (at_ < text_.size() && text_[at_] == '\\') {
      escape();
      continue;
    }
    const auto length = utf8_length(text_.substr(at_));
    if (length < 2) fail(JsonFault::malformed);  // a control, no UTF-8, or the end
    at_ += length;
  }
  return {};
}

void JsonReader::escape() {
  const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (kind != 'u') {
    if (std::string_view("\"\\/bfnrt").find(kind) == std::string_view::npos) return fail(JsonFault::malformed);
    at_ += 2;
    return;
  }
  const int unit = hex4(text_, at_ + 2);
  if (unit < 0) return fail(JsonFault::malformed);
  at_ += 6;
  if (!is_surrogate(unit)) return;
  if (is_pair(unit, escaped_unit(text_, at_))) {
    at_ += 6;
  } else {
    unrepresentable_ = true;
  }
}

std::optional<Span> find_value(std::string_view text, std::initializer_list<std::string_view> path) {
  Span span{0, text.size()};
  for (const auto step : path) {
    JsonReader reader(span.in(text), json_depth_ceiling);
    if (reader.peek() != JsonKind::object) return std::nullopt;
    std::optional<Span> found;
    bool twice = false;
    reader.members([&](std::string_view name) {
      const Span value = reader.skip();
      if (!token_equals(name, step)) return;
      twice |= found.has_value();
      found = value;
    });
    if (!reader.finish() || !found || twice) return std::nullopt;
    span = {span.begin + found->begin, span.begin + found->end};
  }
  return span;
}

std::string_view MemberNames::add(std::string_view token) {
  const bool escaped = token.find('\\') != std::string_view::npos;
  if (escaped) unescaped_.push_front(unquote(token));
  names_.push_back(escaped ? std::string_view(unescaped_.front()) : token.substr(1, token.size() - 2));
  return names_.back();
}

bool MemberNames::has_duplicates() {
  std::ranges::sort(names_);
  return std::ranges::adjacent_find(names_) != names_.end();
}

}  // namespace freshet::codec
