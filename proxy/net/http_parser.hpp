// HTTP/1.x messages from bytes, however they are cut (RFC 9112). The grammar and the framing are Boost.Beast's; what is
// here feeds it and stands guard where it is laxer, or less prompt, than a proxy can be. Pure: no socket, no buffer.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/system/result.hpp>

#include "proxy/codec/http_fields.hpp"
#include "proxy/net/http_error.hpp"

namespace freshet::net {

template <class T = void>
using Parsed = boost::system::result<T>;

enum class BodyKind : std::uint8_t { none, length, chunked, until_end };

// One message: its head, then its body. Head is codec::RequestHead or codec::ResponseHead. After an error it is spent.
template <class Head>
class HttpParser : private boost::beast::http::basic_parser<std::is_same_v<Head, codec::RequestHead>> {
 public:
  // `bytes_max` bounds the whole head, its empty line included: HttpError::head_limit.
  // `to_head`: the message answers a HEAD request and has no body whatever its head says.
  explicit HttpParser(std::size_t bytes_max, bool to_head = false);
  HttpParser(HttpParser&&) noexcept = default;

  // Takes lines from the front of `bytes`, up to the head's end, and says how many bytes they were. What it did not
  // take has to be given again with more behind it. A malformed line is refused when it ends and not when the head
  // does.
  Parsed<std::size_t> put_head(std::string_view bytes);

  [[nodiscard]] bool head_done() const { return stage_ != Stage::head; }
  // Equal Content-Lengths have become one (RFC 9110 §8.6).
  [[nodiscard]] Head& head() { return head_; }
  [[nodiscard]] const Head& head() const { return head_; }

  // These are known once the head is done. How the body is delimited (RFC 9112 §6.3); an empty one is BodyKind::none.
  [[nodiscard]] BodyKind kind() const { return kind_; }
  // For BodyKind::length: what is still to come.
  [[nodiscard]] std::uint64_t remaining() const { return this->content_length_remaining().value_or(0); }
  // Another message may follow on the connection (RFC 9112 §9.3).
  [[nodiscard]] bool keep_alive() const { return Base::keep_alive(); }

  struct Step {
    std::size_t used = 0;
    std::string_view piece;  // of the body, inside the bytes given
  };
  // Takes bytes up to the end of the first piece. An empty piece: the body is done, or what was not taken has to be
  // given again with more behind it. Chunk extensions and trailers are dropped (RFC 9112 §7.1).
  Parsed<Step> put_body(std::string_view bytes);

  // The stream ended: fine only for a body that ends with it, HttpError::partial_message otherwise.
  Parsed<> end();

  [[nodiscard]] bool done() const { return stage_ == Stage::done; }

 private:
  static constexpr bool is_request = std::is_same_v<Head, codec::RequestHead>;
  using Base = boost::beast::http::basic_parser<is_request>;
  using Code = boost::system::error_code;
  using Text = boost::beast::string_view;

  enum class Stage : std::uint8_t { head, data, data_end, size_line, trailers, done };

  Parsed<std::size_t> feed(std::string_view bytes);
  Parsed<std::size_t> take_head(std::string_view bytes);
  Parsed<> start_line(std::string_view line);
  Parsed<std::size_t> take_fields(std::string_view bytes);
  Parsed<std::size_t> take_body(std::string_view bytes);
  Parsed<std::size_t> take_data_end(std::string_view bytes);
  Parsed<std::size_t> take_size_line(std::string_view bytes);
  Parsed<std::size_t> take_trailer(std::string_view bytes);
  Parsed<std::size_t> dropped_line(std::string_view bytes) const;
  void unite_lengths();

  void on_request_impl(boost::beast::http::verb, Text method, Text target, int version, Code& ec) override;
  void on_response_impl(int status, Text reason, int version, Code& ec) override;
  void on_field_impl(boost::beast::http::field field, Text name, Text value, Code& ec) override;
  void on_header_impl(Code& ec) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Code& ec) override;
  std::size_t on_body_impl(Text body, Code& ec) override;
  void on_chunk_header_impl(std::uint64_t size, Text extensions, Code& ec) override;
  std::size_t on_chunk_body_impl(std::uint64_t left, Text body, Code& ec) override;
  void on_finish_impl(Code& ec) override;

  Head head_;
  std::string_view piece_;  // what one call found
  std::size_t head_bytes_left_;
  std::uint32_t dropped_bytes_ = 0;  // extensions and trailers so far
  Stage stage_ = Stage::head;
  BodyKind kind_ = BodyKind::none;
  bool begun_ = false;         // the start line was taken
  bool other_coding_ = false;  // a Transfer-Encoding that is not exactly "chunked"
  bool chunk_before_ = false;
};

using RequestParser = HttpParser<codec::RequestHead>;
using ResponseParser = HttpParser<codec::ResponseHead>;
extern template class HttpParser<codec::RequestHead>;
extern template class HttpParser<codec::ResponseHead>;

// Brings the request target into origin form and checks Host (RFC 9112 §3.2).
Parsed<> check_target_and_host(codec::RequestHead& head);

}  // namespace freshet::net
