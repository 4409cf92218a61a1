#include "proxy/net/http_parser.hpp"

#include <limits>
#include <string>
#include <utility>

#include <boost/assert.hpp>
#include <boost/beast/http/error.hpp>

namespace freshet::net {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t fields_usual = 16;  // of a request from a client of today
constexpr std::size_t field_bytes_usual = 512;

constexpr std::uint32_t dropped_bytes_max = 64 * 1024;  // extensions and trailers of one body
constexpr std::string_view line_end = "\r\n";

// The length of the line at the front of `bytes`, its CRLF included; 0 while it has no end. Beast finds a bare CR or LF
// only in what it looks at, and it may wait for an empty line that such a peer never sends.
Parsed<std::size_t> line_length(std::string_view bytes) {
  const auto cr = bytes.find('\r');
  const auto lf = bytes.find('\n');
  if (lf == bytes.npos) {
    if (cr != bytes.npos && cr + 1 != bytes.size()) return HttpError::bad_message;
    return 0U;
  }
  if (lf == 0 || cr != lf - 1) return HttpError::bad_message;
  return lf + 1;
}

// Beast has one error for a version that it does not speak and for what is no version.
bool is_other_version(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() != 8 || !text.starts_with("HTTP/") || text[6] != '.') return false;
  return is_digit(text[5]) && is_digit(text[7]) && text != "HTTP/1.0" && text != "HTTP/1.1";
}

HttpError error_of(const boost::system::error_code& ec) {
  if (ec.category() == http_category()) return static_cast<HttpError>(ec.value());
  return ec == http::error::bad_version ? HttpError::bad_version : HttpError::bad_message;
}

}  // namespace

template <class Head>
HttpParser<Head>::HttpParser(std::size_t bytes_max, bool to_head) : head_bytes_left_(bytes_max) {
  // Beast measures its limit anew with each call, so the head is measured here; the body is by its reader.
  this->header_limit(std::numeric_limits<std::uint32_t>::max());
  this->body_limit(boost::none);
  this->skip(to_head);
}

template <class Head>
Parsed<std::size_t> HttpParser<Head>::feed(std::string_view bytes) {
  boost::system::error_code ec;
  const auto used = Base::put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
  if (ec && ec != http::error::need_more) return error_of(ec);
  return used;
}

template <class Head>
Parsed<std::size_t> HttpParser<Head>::put_head(std::string_view bytes) {
  BOOST_ASSERT(!head_done());
  const auto used = take_head(bytes);
  if (!used) return used.error();
  if (*used > head_bytes_left_ || (!head_done() && bytes.size() >= head_bytes_left_)) return HttpError::head_limit;
  head_bytes_left_ -= *used;
  return *used;
}

template <class Head>
Parsed<std::size_t> HttpParser<Head>::take_head(std::string_view bytes) {
  std::size_t used = 0;
  while (!begun_) {
    const auto length = line_length(bytes.substr(used));
    if (!length) return length.error();
    if (*length == 0) return used;
    const auto line = bytes.substr(used, *length);
    used += *length;
    // An empty line before a message is skipped (RFC 9112 §2.2); Beast would refuse it.
    if (line == line_end) continue;
    if (const auto taken = start_line(line); !taken) return taken.error();
  }
  const auto fields = take_fields(bytes.substr(used));
  if (!fields) return fields.error();
  return used + *fields;
}

template <class Head>
Parsed<> HttpParser<Head>::start_line(std::string_view line) {
  // Servers leave out the blank behind the status where the reason is missing, which Beast refuses.
  std::string completed;
  if (!is_request && line.size() == std::string_view("HTTP/1.1 200\r\n").size()) {
    completed = line;
    completed.insert(line.size() - line_end.size(), 1, ' ');
    line = completed;
  }
  const auto used = feed(line);
  const auto text = line.substr(0, line.size() - line_end.size());
  const auto version = is_request ? text.substr(text.rfind(' ') + 1) : text.substr(0, text.find(' '));
  if (!used && used.error() == HttpError::bad_version && !is_other_version(version)) return HttpError::bad_message;
  if (!used) return used.error();
  if (*used != line.size()) return HttpError::bad_message;
  begun_ = true;
  return {};
}

// Beast looks one byte behind a line for folding, and once it has seen a part of a line it does not look again before
// the head's end. So that it refuses a line when it comes, it gets whole lines and the first byte of the next.
template <class Head>
Parsed<std::size_t> HttpParser<Head>::take_fields(std::string_view bytes) {
  std::size_t lines = 0;
  bool ended = false;
  while (!ended) {
    const auto rest = bytes.substr(lines);
    // Beast unfolds a folded line; a server must refuse it (RFC 9112 §5.2).
    if (rest.starts_with(' ') || rest.starts_with('\t')) return HttpError::bad_message;
    const auto length = line_length(rest);
    if (!length) return length.error();
    if (*length == 0) break;
    lines += *length;
    ended = *length == line_end.size();
  }
  const bool next_begun = lines < bytes.size();
  if (lines == 0 || (!ended && !next_begun)) return 0U;
  return feed(bytes.substr(0, ended ? lines : lines + 1));
}

template <class Head>
void HttpParser<Head>::on_request_impl(http::verb, Text method, Text target, int version, Code&) {
  if constexpr (is_request) {
    head_.method.assign(method.data(), method.size());
    head_.target.assign(target.data(), target.size());
    head_.minor_version = version % 10;
  }
}

template <class Head>
void HttpParser<Head>::on_response_impl(int status, Text reason, int version, Code& ec) {
  if constexpr (!is_request) {
    if (status < 100) ec = HttpError::bad_message;
    head_.status = status;
    head_.reason.assign(reason.data(), reason.size());
    head_.minor_version = version % 10;
  }
}

template <class Head>
void HttpParser<Head>::on_field_impl(http::field field, Text name, Text value, Code&) {
  // Trailers never come here: they are cut off.
  if (head_.fields.size() == 0) head_.fields.reserve(fields_usual, field_bytes_usual);
  head_.fields.add(name, value);
  if (field == http::field::transfer_encoding && !codec::names_equal(value, "chunked")) other_coding_ = true;
}

template <class Head>
void HttpParser<Head>::on_header_impl(Code& ec) {
  // Beast takes a body in a coding that it does not know for none, or for one that ends with the connection.
  if (other_coding_ && (is_request || !this->is_done())) ec = HttpError::unsupported_coding;
  // Whoever forwarded it for an HTTP/1.0 client did not know the coding (RFC 9112 §6.1).
  if (is_request && this->chunked() && head_.minor_version == 0) ec = HttpError::bad_message;
  if (ec) return;
  unite_lengths();
  if (this->is_done()) return;
  kind_ = this->chunked() ? BodyKind::chunked : this->need_eof() ? BodyKind::until_end : BodyKind::length;
  stage_ = kind_ == BodyKind::chunked ? Stage::size_line : Stage::data;
}

// Beast checked that they agree, but leaves them in the head to be forwarded.
template <class Head>
void HttpParser<Head>::unite_lengths() {
  const auto length = this->content_length();
  if (!length) return;
  auto& fields = head_.fields;
  const auto text = std::to_string(*length);
  if (fields.count("Content-Length") > 1 || fields.find("Content-Length") != text) fields.set("Content-Length", text);
}

template <class Head>
Parsed<typename HttpParser<Head>::Step> HttpParser<Head>::put_body(std::string_view bytes) {
  std::size_t used = 0;
  piece_ = {};
  while (piece_.empty() && used < bytes.size()) {
    const auto taken = take_body(bytes.substr(used));
    if (!taken) return taken.error();
    if (*taken == 0) break;
    used += *taken;
  }
  return Step{used, std::exchange(piece_, {})};
}

template <class Head>
Parsed<std::size_t> HttpParser<Head>::take_body(std::string_view bytes) {
  switch (stage_) {
    case Stage::data:
      return feed(bytes);
    case Stage::data_end:
      return take_data_end(bytes);
    case Stage::size_line:
      return take_size_line(bytes);
    case Stage::trailers:
      return take_trailer(bytes);
    case Stage::head:
    case Stage::done:
      break;
  }
  return 0U;
}

// Beast takes the end of a chunk's data only together with the next size line. Here it is taken when it comes, so that
// a stream at rest leaves nothing in the buffer of its connection.
template <class Head>
Parsed<std::size_t> HttpParser<Head>::take_data_end(std::string_view bytes) {
  const auto end = bytes.substr(0, line_end.size());
  if (!line_end.starts_with(end)) return HttpError::bad_message;
  if (end != line_end) return 0U;
  chunk_before_ = true;
  stage_ = Stage::size_line;
  return end.size();
}

// Beast refuses a framing field among the trailers, where it may be dropped (RFC 9110 §6.5.1), asserts on some cuts of
// the last chunk, and waits for the trailers before it reads the rest of its line. So it gets the size lines whole, and
// the last one with an empty trailer section. The last is the one after which it still wants more.
template <class Head>
Parsed<std::size_t> HttpParser<Head>::take_size_line(std::string_view bytes) {
  const auto length = dropped_line(bytes);
  if (!length || *length == 0) return length;
  std::string line(chunk_before_ ? line_end : "");
  line += bytes.substr(0, *length);
  if (const auto used = feed(line); !used) return used.error();
  if (stage_ != Stage::size_line) return *length;
  line += line_end;
  if (const auto used = feed(line); !used) return used.error();
  if (stage_ == Stage::size_line) return HttpError::bad_message;
  return *length;
}

template <class Head>
Parsed<std::size_t> HttpParser<Head>::take_trailer(std::string_view bytes) {
  const auto length = dropped_line(bytes);
  if (!length || *length == 0) return length;
  dropped_bytes_ += static_cast<std::uint32_t>(*length);
  if (*length == line_end.size()) stage_ = Stage::done;
  return *length;
}

// See line_length(). Beast has no limit for what is dropped.
template <class Head>
Parsed<std::size_t> HttpParser<Head>::dropped_line(std::string_view bytes) const {
  const auto length = line_length(bytes);
  if (length && (*length == 0 ? bytes.size() : *length) > dropped_bytes_max - dropped_bytes_)
    return HttpError::bad_message;
  return length;
}

template <class Head>
void HttpParser<Head>::on_body_init_impl(const boost::optional<std::uint64_t>&, Code&) {}

template <class Head>
std::size_t HttpParser<Head>::on_body_impl(Text body, Code&) {
  piece_ = body;
  return body.size();
}

template <class Head>
void HttpParser<Head>::on_chunk_header_impl(std::uint64_t size, Text extensions, Code&) {
  dropped_bytes_ += static_cast<std::uint32_t>(extensions.size());
  if (size > 0) stage_ = Stage::data;
}

template <class Head>
std::size_t HttpParser<Head>::on_chunk_body_impl(std::uint64_t left, Text body, Code&) {
  piece_ = body;
  if (body.size() == left) stage_ = Stage::data_end;
  return body.size();
}

template <class Head>
void HttpParser<Head>::on_finish_impl(Code&) {
  stage_ = kind_ == BodyKind::chunked ? Stage::trailers : Stage::done;
}

template <class Head>
Parsed<> HttpParser<Head>::end() {
  if (kind_ == BodyKind::until_end) stage_ = Stage::done;
  if (!done()) return HttpError::partial_message;
  return {};
}

template class HttpParser<codec::RequestHead>;
template class HttpParser<codec::ResponseHead>;

Parsed<> check_target_and_host(codec::RequestHead& head) {
  const auto hosts = head.fields.count("Host");
  if (hosts > 1 || (hosts == 0 && head.minor_version > 0)) return HttpError::bad_message;
  if (head.target.front() == '/' || (head.target == "*" && head.method == "OPTIONS")) return {};
  const auto scheme_end = head.target.find("://");
  if (scheme_end == std::string::npos) return HttpError::bad_message;
  const auto authority = head.target.find_first_of("/?", scheme_end + 3);
  const auto host = head.target.substr(scheme_end + 3, authority - scheme_end - 3);
  if (host.empty() || host.find('@') != std::string::npos) return HttpError::bad_message;
  head.fields.set("Host", host);
  auto path = authority == std::string::npos ? std::string() : head.target.substr(authority);
  head.target = path.starts_with('/') ? std::move(path) : '/' + path;
  return {};
}

}  // namespace freshet::net
