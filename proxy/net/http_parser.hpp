// HTTP/1.x messages from bytes, however they are cut. Pure: no socket, no buffer of its own (RFC 9112).
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/system/result.hpp>

#include "proxy/codec/http_fields.hpp"
#include "proxy/net/http_error.hpp"

namespace freshet::net {

template <class T = void>
using Parsed = boost::system::result<T>;

// Reads one head line by line, so that a malformed line is refused when it ends and not when the head does.
// Head is codec::RequestHead or codec::ResponseHead.
template <class Head>
class HeadParser {
 public:
  // `bytes_max` bounds the whole head, its empty line included: HttpError::head_limit.
  explicit HeadParser(std::size_t bytes_max) : bytes_left_(bytes_max) {}

  // Takes the complete lines at the front of `bytes` and says how many bytes they were. What it did not take has to be
  // given again with more behind it. After an error the parser is spent.
  Parsed<std::size_t> put(std::string_view bytes);

  [[nodiscard]] bool done() const { return done_; }
  // Any line was taken.
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] Head& head() { return head_; }

 private:
  Parsed<> line(std::string_view line);
  Parsed<> field_line(std::string_view line);

  Head head_;
  std::size_t bytes_left_;
  std::size_t scanned_ = 0;  // of the bytes not taken: known to hold no line end
  bool begun_ = false;
  bool done_ = false;
};

enum class BodyKind : std::uint8_t { none, length, chunked, until_end };

struct Framing {
  BodyKind kind = BodyKind::none;
  std::uint64_t length = 0;  // for BodyKind::length
};

// How a body is delimited (RFC 9112 §6.3). Repeated equal Content-Lengths become one in the head.
Parsed<Framing> request_framing(codec::RequestHead& head);
// `to_head`: the response answers a HEAD request. A Content-Length beside chunked is removed from the head.
Parsed<Framing> response_framing(codec::ResponseHead& head, bool to_head);

// Brings the request target into origin form and checks Host (RFC 9112 §3.2).
Parsed<> check_target_and_host(codec::RequestHead& head);

// The value of a Content-Length field: digits, or equal numbers in a list.
Parsed<std::uint64_t> parse_content_length(std::string_view value);

// Connection: close, or HTTP/1.0 without keep-alive (RFC 9112 §9.3).
[[nodiscard]] bool wants_close(const codec::Fields& fields, int minor_version);

// Takes the framing off a body. Trailers are checked for their shape and dropped (RFC 9112 §7.1.2).
class BodyDecoder {
 public:
  explicit BodyDecoder(Framing framing = {});

  struct Step {
    std::size_t used = 0;
    std::string_view piece;  // inside the bytes given
  };
  // Takes bytes up to the end of the first piece. An empty piece: more bytes are needed, or the body is done.
  Parsed<Step> put(std::string_view bytes);

  // The stream ended: fine only for a body that ends with it, HttpError::partial_message otherwise.
  Parsed<> end();

  [[nodiscard]] bool done() const { return state_ == State::done; }
  [[nodiscard]] BodyKind kind() const { return kind_; }
  // For BodyKind::length: what is still to come.
  [[nodiscard]] std::uint64_t remaining() const { return remaining_; }

 private:
  enum class State : std::uint8_t {
    data,        // `remaining_` bytes of a piece, or until the end
    size_first,  // the first digit of a chunk size
    size,        // further digits
    padding,     // blanks behind the size
    extension,   // skipped to the line's end
    size_lf,
    data_cr,
    data_lf,
    trailer_first,  // the first byte of a trailer line
    trailer,
    trailer_lf,
    last_lf,
    done,
  };
  Parsed<> framing_byte(char byte);
  Parsed<> size_digit(char byte);
  void size_line_ended();

  std::uint64_t remaining_ = 0;
  std::uint32_t skipped_ = 0;  // bytes of extensions and trailers so far
  BodyKind kind_;
  State state_;
};

}  // namespace freshet::net
