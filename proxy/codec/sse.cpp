#include "proxy/codec/sse.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "proxy/codec/text.hpp"

namespace freshet::codec {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t known_name_bytes_max = 5;  // "event", "retry"

std::size_t find_line_end(std::string_view bytes) {
  const auto end = std::ranges::find_if(bytes, [](char c) { return c == '\n' || c == '\r'; });
  return static_cast<std::size_t>(end - bytes.begin());
}

std::uint64_t saturating_number(std::string_view digits) {
  constexpr auto max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t n = 0;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (n > (max - digit) / 10) return max;
    n = n * 10 + digit;
  }
  return n;
}

}  // namespace

std::optional<SseEvent> SseDecoder::next(std::string_view& bytes) {
  if (mark_possible_) skip_byte_order_mark(bytes);
  while (!bytes.empty()) {
    if (std::exchange(skip_lf_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const auto end = find_line_end(bytes);
    take(bytes.substr(0, end));
    if (end == bytes.size()) {
      bytes = {};
      break;
    }
    skip_lf_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (auto event = end_line()) return event;
  }
  return std::nullopt;
}

void SseDecoder::skip_byte_order_mark(std::string_view& bytes) {
  while (!bytes.empty() && mark_bytes_ < byte_order_mark.size()) {
    if (bytes.front() != byte_order_mark[mark_bytes_]) break;
    bytes.remove_prefix(1);
    ++mark_bytes_;
  }
  if (mark_bytes_ == byte_order_mark.size()) {
    mark_possible_ = false;
  } else if (!bytes.empty()) {  // what looked like the start of a mark was text
    mark_possible_ = false;
    take(byte_order_mark.substr(0, mark_bytes_));
  }
}

void SseDecoder::take(std::string_view piece) {
  if (piece.empty()) return;
  line_open_ = true;
  if (!in_value_) {
    const auto colon = piece.find(':');
    take_name(piece.substr(0, colon));
    if (colon == std::string_view::npos) return;
    begin_value();
    piece.remove_prefix(colon + 1);
  }
  if (skip_space_ && !piece.empty()) {
    skip_space_ = false;
    if (piece.front() == ' ') piece.remove_prefix(1);
  }
  take_value(piece);
}

void SseDecoder::take_name(std::string_view piece) {
  // One byte more than any known name has is enough to know that this is none.
  name_ += piece.substr(0, known_name_bytes_max + 1 - name_.size());
}

SseDecoder::Field SseDecoder::named() const {
  if (name_ == "data") return Field::data;
  if (name_ == "id") return Field::id;
  if (name_ == "event") return Field::event;
  if (name_ == "retry") return Field::retry;
  return name_.empty() ? Field::comment : Field::unknown;
}

void SseDecoder::begin_value() {
  field_ = named();
  in_value_ = true;
  if (field_ == Field::data && std::exchange(has_data_line_, true)) take_value("\n");
  skip_space_ = true;
}

void SseDecoder::take_value(std::string_view piece) {
  if (field_ == Field::unknown || field_ == Field::comment) return;
  if (field_ == Field::data && event_.oversized) return;
  auto& value = field_ == Field::data ? event_.data : value_;
  const auto bytes_max = field_ == Field::data ? limits_.data_bytes_max : limits_.field_bytes_max;
  if (value.size() + piece.size() <= bytes_max) {
    value += piece;
    return;
  }
  event_.oversized = true;
  value = {};
  field_ = Field::unknown;  // the rest of the line says nothing
}

void SseDecoder::end_field() {
  block_open_ |= field_ != Field::comment;
  if (field_ == Field::comment) ++comments_;
  if (field_ == Field::event) event_.event_type = value_;
  if (field_ == Field::id && value_.find('\0') == std::string::npos) event_.id = value_;
  if (field_ == Field::retry && all_digits(value_)) event_.retry_ms = saturating_number(value_);
}

std::optional<SseEvent> SseDecoder::end_line() {
  if (!line_open_) return end_block();
  if (!in_value_) begin_value();  // a name without a colon has an empty value
  end_field();
  name_.clear();
  value_.clear();
  field_ = Field::unknown;
  line_open_ = in_value_ = skip_space_ = false;
  return std::nullopt;
}

std::optional<SseEvent> SseDecoder::end_block() {
  if (!block_open_) return std::nullopt;
  block_open_ = has_data_line_ = false;
  auto event = std::exchange(event_, {});
  if (event.oversized) event.data.clear();
  if (!event.id && !event.retry_ms && !event.has_data() && !event.oversized) return std::nullopt;
  return event;
}

std::string format_event(std::string_view id, std::string_view event_type, std::string_view data) {
  assert(
      std::ranges::all_of(id, [](char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-'; }));
  assert(event_type.find_first_of("\r\n") == std::string_view::npos);
  std::string out;
  out.reserve(id.size() + event_type.size() + data.size() + 32);
  const auto add = [&out](std::string_view name, std::string_view value) { out.append(name).append(value) += '\n'; };
  if (!id.empty()) add("id: ", id);
  if (!event_type.empty()) add("event: ", event_type);
  for (;;) {
    const auto end = find_line_end(data);
    add("data: ", data.substr(0, end));
    if (end == data.size()) break;
    const bool crlf = data.substr(end, 2) == "\r\n";
    data.remove_prefix(end + (crlf ? 2 : 1));
  }
  out += '\n';
  return out;
}

}  // namespace freshet::codec
