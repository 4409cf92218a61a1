#include "proxy/net/http_parser.hpp"

#include <algorithm>
#include <charconv>

namespace freshet::net {

using codec::RequestHead;
using codec::ResponseHead;

namespace {

constexpr std::uint32_t skipped_bytes_max = 64 * 1024;  // extensions and trailers of one body

bool is_token_char(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// VCHAR, obs-text and blanks (RFC 9110 §5.5).
bool is_field_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
  });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// "HTTP/1.0" or "HTTP/1.1" to its minor version.
Parsed<int> parse_version(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() != 8 || !text.starts_with("HTTP/") || !is_digit(text[5]) || text[6] != '.' || !is_digit(text[7]))
    return HttpError::bad_message;
  if (text[5] != '1' || text[7] > '1') return HttpError::bad_version;
  return text[7] - '0';
}

Parsed<> start_line(RequestHead& head, std::string_view line) {
  const auto method_end = line.find(' ');
  const auto target_end = line.rfind(' ');
  if (method_end == line.npos || target_end <= method_end) return HttpError::bad_message;
  const auto method = line.substr(0, method_end);
  const auto target = line.substr(method_end + 1, target_end - method_end - 1);
  const bool visible = std::ranges::all_of(target, [](char c) { return static_cast<unsigned char>(c) > 0x20; });
  if (!is_token(method) || target.empty() || !visible || !is_field_text(target)) return HttpError::bad_message;
  const auto version = parse_version(line.substr(target_end + 1));
  if (!version) return version.error();
  head.method = method;
  head.target = target;
  head.minor_version = *version;
  return {};
}

// The blank behind the status may be missing where the reason is: seen in the field.
Parsed<> start_line(ResponseHead& head, std::string_view line) {
  if (line.size() < 12 || line[8] != ' ') return HttpError::bad_message;
  const auto version = parse_version(line.substr(0, 8));
  if (!version) return version.error();
  int status = 0;
  const auto digits = line.substr(9, 3);
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + 3, status);
  if (failure != std::errc() || end != digits.data() + 3 || status < 100) return HttpError::bad_message;
  if (line.size() > 12 && line[12] != ' ') return HttpError::bad_message;
  const auto reason = line.size() > 13 ? line.substr(13) : std::string_view();
  if (!is_field_text(reason)) return HttpError::bad_message;
  head.status = status;
  head.reason = reason;
  head.minor_version = *version;
  return {};
}

// Only an exact "chunked" is understood.
Parsed<bool> is_chunked(const codec::Fields& fields) {
  const auto coding = fields.find("Transfer-Encoding");
  if (!coding) return false;
  if (fields.count("Transfer-Encoding") > 1 || !codec::names_equal(*coding, "chunked"))
    return HttpError::unsupported_coding;
  return true;
}

// The one length that all Content-Length fields agree on.
Parsed<std::uint64_t> agreed_length(codec::Fields& fields) {
  std::optional<std::uint64_t> agreed;
  for (const auto& field : fields) {
    if (!codec::names_equal(field.name, "Content-Length")) continue;
    const auto length = parse_content_length(field.value);
    if (!length) return length.error();
    if (agreed && *agreed != *length) return HttpError::bad_message;
    agreed = *length;
  }
  const auto text = std::to_string(*agreed);
  if (fields.count("Content-Length") > 1 || *fields.find("Content-Length") != text) fields.set("Content-Length", text);
  return *agreed;
}

bool list_contains(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (codec::names_equal(trimmed(list.substr(0, comma)), token)) return true;
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
  }
  return false;
}

}  // namespace

template <class Head>
Parsed<std::size_t> HeadParser<Head>::put(std::string_view bytes) {
  std::size_t used = 0;
  while (!done_) {
    const auto rest = bytes.substr(used);
    const auto line_end = rest.find('\n', scanned_);
    if (line_end == rest.npos) {
      scanned_ = rest.size();
      if (rest.size() >= bytes_left_) return HttpError::head_limit;
      break;
    }
    scanned_ = 0;
    if (line_end + 1 > bytes_left_) return HttpError::head_limit;
    bytes_left_ -= line_end + 1;
    used += line_end + 1;
    if (line_end == 0 || rest[line_end - 1] != '\r') return HttpError::bad_message;
    if (const auto taken = line(rest.substr(0, line_end - 1)); !taken) return taken.error();
  }
  return used;
}

template <class Head>
Parsed<> HeadParser<Head>::line(std::string_view line) {
  if (begun_) return field_line(line);
  // An empty line before a message is skipped (RFC 9112 §2.2).
  if (line.empty()) return {};
  begun_ = true;
  return start_line(head_, line);
}

template <class Head>
Parsed<> HeadParser<Head>::field_line(std::string_view line) {
  if (line.empty()) {
    done_ = true;
    return {};
  }
  const auto colon = line.find(':');
  // A folded line has a blank where a name begins, so it is refused with every other bad name (RFC 9112 §5.2).
  if (colon == line.npos || !is_token(line.substr(0, colon))) return HttpError::bad_message;
  const auto value = trimmed(line.substr(colon + 1));
  if (!is_field_text(value)) return HttpError::bad_message;
  head_.fields.add(line.substr(0, colon), value);
  return {};
}

template class HeadParser<RequestHead>;
template class HeadParser<ResponseHead>;

Parsed<std::uint64_t> parse_content_length(std::string_view value) {
  std::optional<std::uint64_t> agreed;
  for (;;) {
    const auto comma = value.find(',');
    const auto digits = trimmed(value.substr(0, comma));
    std::uint64_t length = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (digits.empty() || failure != std::errc() || end != digits.data() + digits.size()) return HttpError::bad_message;
    if (agreed && *agreed != length) return HttpError::bad_message;
    agreed = length;
    if (comma == value.npos) return length;
    value.remove_prefix(comma + 1);
  }
}

Parsed<Framing> request_framing(RequestHead& head) {
  const bool has_length = head.fields.contains("Content-Length");
  const auto chunked = is_chunked(head.fields);
  if (head.fields.contains("Transfer-Encoding") && (has_length || head.minor_version == 0))
    return HttpError::bad_message;
  if (!chunked) return chunked.error();
  if (*chunked) return Framing{BodyKind::chunked};
  if (!has_length) return Framing{};
  const auto length = agreed_length(head.fields);
  if (!length) return length.error();
  return *length == 0 ? Framing{} : Framing{BodyKind::length, *length};
}

Parsed<Framing> response_framing(ResponseHead& head, bool to_head) {
  if (to_head || head.status < 200 || head.status == 204 || head.status == 304) return Framing{};
  const auto chunked = is_chunked(head.fields);
  if (!chunked) return chunked.error();
  if (*chunked) {
    head.fields.erase("Content-Length");
    return Framing{BodyKind::chunked};
  }
  if (!head.fields.contains("Content-Length")) return Framing{BodyKind::until_end};
  const auto length = agreed_length(head.fields);
  if (!length) return length.error();
  return *length == 0 ? Framing{} : Framing{BodyKind::length, *length};
}

Parsed<> check_target_and_host(RequestHead& head) {
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

bool wants_close(const codec::Fields& fields, int minor_version) {
  bool keep = minor_version > 0;
  for (const auto& field : fields) {
    if (!codec::names_equal(field.name, "Connection")) continue;
    if (list_contains(field.value, "close")) return true;
    keep = keep || list_contains(field.value, "keep-alive");
  }
  return !keep;
}

BodyDecoder::BodyDecoder(Framing framing) : remaining_(framing.length), kind_(framing.kind) {
  switch (framing.kind) {
    case BodyKind::none:
      state_ = State::done;
      break;
    case BodyKind::length:
      state_ = framing.length == 0 ? State::done : State::data;
      break;
    case BodyKind::chunked:
      state_ = State::size_first;
      break;
    case BodyKind::until_end:
      state_ = State::data;
      break;
  }
}

Parsed<BodyDecoder::Step> BodyDecoder::put(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ != State::done && state_ != State::data) {
    if (const auto taken = framing_byte(bytes[used++]); !taken) return taken.error();
  }
  if (state_ != State::data) return Step{used, {}};
  auto piece = bytes.substr(used);
  if (kind_ == BodyKind::until_end) return Step{bytes.size(), piece};
  if (piece.size() > remaining_) piece = piece.substr(0, static_cast<std::size_t>(remaining_));
  remaining_ -= piece.size();
  if (remaining_ == 0) state_ = kind_ == BodyKind::chunked ? State::data_cr : State::done;
  return Step{used + piece.size(), piece};
}

Parsed<> BodyDecoder::end() {
  if (kind_ == BodyKind::until_end) state_ = State::done;
  if (state_ != State::done) return HttpError::partial_message;
  return {};
}

Parsed<> BodyDecoder::size_digit(char byte) {
  int digit = 0;
  const auto [end, failure] = std::from_chars(&byte, &byte + 1, digit, 16);
  if (failure != std::errc() || end != &byte + 1) return HttpError::bad_message;
  if (remaining_ >> 60 != 0) return HttpError::bad_message;
  remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
  state_ = State::size;
  return {};
}

void BodyDecoder::size_line_ended() {
  state_ = remaining_ == 0 ? State::trailer_first : State::data;
}

// chunk = size [ extensions ] CRLF data CRLF; the last has the size 0 and is followed by trailer lines (RFC 9112 §7.1).
Parsed<> BodyDecoder::framing_byte(char byte) {
  const auto expect = [&](char wanted, State next) -> Parsed<> {
    if (byte != wanted) return HttpError::bad_message;
    state_ = next;
    return {};
  };
  const auto skip = [&](State at_line_end) -> Parsed<> {
    if (byte == '\r') state_ = at_line_end;
    if (byte == '\n' || byte == '\0' || ++skipped_ > skipped_bytes_max) return HttpError::bad_message;
    return {};
  };
  switch (state_) {
    case State::size_first:
      return size_digit(byte);
    case State::size:
    case State::padding:
      if (byte == '\r') return expect('\r', State::size_lf);
      if (byte == ';') return expect(';', State::extension);
      if (is_blank(byte)) return expect(byte, State::padding);
      if (state_ == State::padding) return HttpError::bad_message;
      return size_digit(byte);
    case State::extension:
      return skip(State::size_lf);
    case State::size_lf:
      if (byte != '\n') return HttpError::bad_message;
      size_line_ended();
      return {};
    case State::data_cr:
      return expect('\r', State::data_lf);
    case State::data_lf:
      return expect('\n', State::size_first);
    case State::trailer_first:
      if (byte == '\r') return expect('\r', State::last_lf);
      state_ = State::trailer;
      return skip(State::trailer_lf);
    case State::trailer:
      return skip(State::trailer_lf);
    case State::trailer_lf:
      return expect('\n', State::trailer_first);
    case State::last_lf:
      return expect('\n', State::done);
    case State::data:
    case State::done:
      break;
  }
  return HttpError::bad_message;
}

}  // namespace freshet::net
