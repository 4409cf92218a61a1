// Server-sent events (WHATWG HTML §9.2), read incrementally and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace freshet::codec {

struct SseLimits {
  std::size_t data_bytes_max = 16 * 1024 * 1024;  // the data of one event
  std::size_t field_bytes_max = 4 * 1024;         // one id, event type or retry
};

// One block between blank lines, if it had an id, a retry or data in it.
struct SseEvent {
  std::optional<std::string> id;  // set only if this block had an id without NUL; may be empty, which clears the cursor
  std::string event_type;         // empty: "message"
  std::string data;               // data lines joined by LF, as bytes: never checked or altered
  std::optional<std::uint64_t> retry_ms;  // digits only; saturates
  bool oversized = false;  // the block exceeded a limit: its data was dropped, and so was a field that was too long

  // False for priming events (empty data): they move the cursor and are no messages (2025-11-25 transports, Sending 6).
  [[nodiscard]] bool has_data() const { return !data.empty(); }
};

// Pieces may be cut at any byte. Takes time linear in the bytes fed; holds at most one event.
class SseDecoder {
 public:
  explicit SseDecoder(SseLimits limits = {}) : limits_(limits) {}

  // Takes bytes off the front of `bytes` until a block with something in it has ended, and returns that; nullopt when
  // the bytes are used up. Nothing is returned before its blank line, and CR CR is one: no wait for a possible LF.
  [[nodiscard]] std::optional<SseEvent> next(std::string_view& bytes);

  // Calls on_event(SseEvent&&) for every block that ends in `bytes`.
  template <class OnEvent>
  void feed(std::string_view bytes, OnEvent&& on_event) {
    while (auto event = next(bytes)) on_event(std::move(*event));
  }

  // The bytes fed so far end between two blocks: here a whole event or comment may be inserted.
  [[nodiscard]] bool at_boundary() const { return !block_open_ && !line_open_ && !(mark_possible_ && mark_bytes_ > 0); }
  // At the end of the stream: an unfinished block is lost with it, as the standard says.
  [[nodiscard]] bool pending() const { return block_open_ || (line_open_ && field_ != Field::comment); }
  // Comments seen so far: a sign of life, of no other meaning.
  [[nodiscard]] std::uint64_t comments() const { return comments_; }

 private:
  enum class Field { unknown, comment, id, event, data, retry };

  void skip_byte_order_mark(std::string_view& bytes);
  void take(std::string_view piece);
  void take_name(std::string_view piece);
  void take_value(std::string_view piece);
  [[nodiscard]] Field named() const;
  void begin_value();
  void end_field();
  [[nodiscard]] std::optional<SseEvent> end_line();
  [[nodiscard]] std::optional<SseEvent> end_block();

  SseLimits limits_;
  SseEvent event_;
  std::string name_;   // of the present line, as far as it can matter
  std::string value_;  // of the present id, event or retry line
  std::uint64_t comments_ = 0;
  std::size_t mark_bytes_ = 0;  // of a byte order mark, seen so far
  Field field_ = Field::unknown;
  bool mark_possible_ = true;  // only at the start of the stream
  bool skip_lf_ = false;       // the last byte was CR: a following LF belongs to the same line end
  bool line_open_ = false;     // the present line has a byte
  bool in_value_ = false;
  bool skip_space_ = false;  // one space after the colon is not part of the value
  bool has_data_line_ = false;
  bool block_open_ = false;  // a field line has ended since the last blank line
};

// One event. Each line of `data` (ended by CR, LF or CRLF) becomes a data line. An empty id or event_type writes no
// such field. Requires: id in [A-Za-z0-9-]*, event_type without line ends.
[[nodiscard]] std::string format_event(std::string_view id, std::string_view event_type, std::string_view data);

// What keeps intermediaries from cutting a silent stream. To be written between events only.
[[nodiscard]] constexpr std::string_view comment() {
  return ":\n\n";
}

}  // namespace freshet::codec
