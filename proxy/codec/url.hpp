// Addresses of upstreams: http://host:port/path?query, https://…, or unix:/path/to.sock:/path?query.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/system/result.hpp>

namespace freshet::codec {

struct Url {
  std::string scheme;  // "http", "https" or "unix"
  bool tls = false;
  std::string host;  // in lower case: a name, an IPv4 address, or an IPv6 address without brackets, its zone after '%'
  std::uint16_t port = 80;
  std::string target;     // origin form: path and query as written, at least "/" (RFC 9112 §3.2.1)
  std::string unix_path;  // absolute; empty unless scheme is "unix", and then host is "localhost"
};

struct UrlError {
  std::string message;  // what is wrong, for whoever wrote the address
};

using UrlResult = boost::system::result<Url, UrlError>;

[[nodiscard]] UrlResult parse_url(std::string_view text);

// Same scheme, host and port, or same socket (RFC 6454 §5).
[[nodiscard]] bool same_origin(const Url& a, const Url& b);

// Where a Location leads from `base` (RFC 3986 §5.2), its fragment left out. Says nothing about whether to go there.
[[nodiscard]] UrlResult resolve_redirect(const Url& base, std::string_view location);

}  // namespace freshet::codec
