// The small header readers take any bytes, and what they accept keeps its promises.
#pragma once

#include <string>
#include <string_view>

#include "proxy/codec/header_value.hpp"
#include "proxy/codec/host_check.hpp"
#include "proxy/codec/http_date.hpp"
#include "proxy/codec/media_type.hpp"
#include "proxy/codec/url.hpp"

namespace freshet::fuzz {

inline std::string check_url(const codec::Url& url) {
  if (!url.target.starts_with('/')) return "a target that is no origin form";
  if (url.host.empty() || url.port == 0) return "an address without a host or a port";
  if (url.target.find_first_of(" \r\n") != std::string::npos) return "a target that splits a request line";
  if (url.host.find_first_of(" \r\n/@") != std::string::npos) return "a host that splits a field";
  return {};
}

// Returns what is wrong, or nothing.
inline std::string fuzz_http(std::string_view text) {
  (void)codec::accepts(text, "text/event-stream");
  (void)codec::host_is_loopback(text);
  const auto wait = codec::retry_after(text, {});
  if (wait && (wait->count() < 0 || *wait > codec::retry_after_max)) return "a wait out of range";
  const auto encoded = codec::encode_header_value(text);
  if (codec::decode_header_value(encoded) != text) return "a header value that does not come back";
  if (encoded.find_first_of("\r\n") != std::string::npos) return "a header value that splits a field";
  if (const auto url = codec::parse_url(text)) {
    if (auto complaint = check_url(*url); !complaint.empty()) return complaint;
  }
  const codec::Url base{.scheme = "http", .host = "u", .target = "/a/b", .unix_path = {}};
  const auto redirected = codec::resolve_redirect(base, text);
  return redirected ? check_url(*redirected) : "";
}

}  // namespace freshet::fuzz
