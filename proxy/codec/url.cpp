#include "proxy/codec/url.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include <boost/url/host_type.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>

#include "proxy/codec/text.hpp"

namespace freshet::codec {

namespace {

namespace urls = boost::urls;

constexpr std::size_t socket_path_bytes_max = 107;  // sockaddr_un::sun_path, its terminator apart

std::string view(boost::core::string_view text) {
  return {text.data(), text.size()};
}

std::string target_of(const urls::url_view& url) {
  auto target = view(url.encoded_target());
  return target.starts_with('/') ? target : '/' + target;
}

// Port 0 is what the empty and the absent port stand for: the scheme's own.
std::optional<std::uint16_t> port_of(const urls::url_view& url, std::uint16_t of_scheme) {
  const auto digits = view(url.port());
  if (digits.empty()) return of_scheme;
  std::uint16_t port = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (read.ec != std::errc{} || port == 0) return std::nullopt;
  return port;
}

// Boost.URL 1.81 knows no zones (RFC 6874): takes one out of `text`, its '%' included. Empty: there is none.
std::string take_zone(std::string& text) {
  const auto open = text.find("://[");
  const auto close = text.find(']');
  if (open == std::string::npos || close == std::string::npos) return {};
  const auto percent = text.find('%', open);
  if (percent >= close) return {};
  auto zone = text.substr(percent, close - percent);
  text.erase(percent, zone.size());
  return zone;
}

bool is_zone(std::string_view text) {
  const auto unreserved = [](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') ||
           std::string_view("-._~").find(c) != std::string_view::npos;
  };
  return text.starts_with("%25") && text.size() > 3 && std::ranges::all_of(text.substr(3), unreserved);
}

UrlResult parse_unix(std::string_view text) {
  const auto colon = text.find(":/");
  const auto path = text.substr(0, colon);
  if (!path.starts_with('/'))
    return UrlError{"the path of a Unix socket must be absolute, like unix:/run/mcp.sock:/mcp"};
  if (path.size() > socket_path_bytes_max) return UrlError{"the path of the Unix socket is longer than 107 bytes"};
  Url url{.scheme = "unix", .host = "localhost", .target = "/", .unix_path = std::string(path)};
  if (colon == std::string_view::npos) return url;
  const auto target = urls::parse_origin_form(text.substr(colon + 1));
  if (!target) return UrlError{"what follows the Unix socket is no path"};
  url.target = target_of(*target);
  return url;
}

UrlResult with_host(const urls::url_view& parsed, Url url) {
  url.host = view(parsed.encoded_host());
  std::ranges::transform(url.host, url.host.begin(), lower);
  if (url.host.empty()) return UrlError{"the host is missing (an IPv6 address stands in brackets)"};
  if (url.host.find('%') != std::string::npos) return UrlError{"the host must not be percent-encoded"};
  if (parsed.host_type() == urls::host_type::ipv6) url.host = url.host.substr(1, url.host.size() - 2);
  if (parsed.host_type() == urls::host_type::ipvfuture) return UrlError{"the IP address in brackets is malformed"};
  return url;
}

}  // namespace

UrlResult parse_url(std::string_view given) {
  if (given.starts_with("unix:")) return parse_unix(given.substr(5));
  const bool tls = starts_with_ignoring_case(given, "https://");
  if (!tls && !starts_with_ignoring_case(given, "http://"))
    return UrlError{"an address starts with http://, https:// or unix:/"};
  std::string text(given);
  const auto zone = take_zone(text);
  if (!zone.empty() && !is_zone(zone)) return UrlError{"the zone of an IPv6 address is written like [fe80::1%25eth0]"};
  const auto parsed = urls::parse_uri(text);
  if (!parsed && text.find("://[") != std::string::npos) return UrlError{"the IP address in brackets is malformed"};
  if (!parsed) return UrlError{"the address is no valid URL"};
  if (parsed->has_userinfo()) return UrlError{"credentials do not belong in the address"};
  if (parsed->has_fragment()) return UrlError{"a fragment (#…) has no meaning in this address"};
  const auto port = port_of(*parsed, tls ? 443 : 80);
  if (!port) return UrlError{"the port must be between 1 and 65535"};
  auto url = with_host(*parsed, {.scheme = tls ? "https" : "http",
                                 .tls = tls,
                                 .host = {},
                                 .port = *port,
                                 .target = target_of(*parsed),
                                 .unix_path = {}});
  if (url && !zone.empty()) url->host += '%' + zone.substr(3);
  return url;
}

bool same_origin(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port && a.unix_path == b.unix_path;
}

UrlResult resolve_redirect(const Url& base, std::string_view location) {
  const auto reference = urls::parse_uri_reference(location);
  // Only the path of the base matters: an authority comes from the reference or stays as it is.
  const std::string base_text = (base.tls ? "https://base" : "http://base") + base.target;
  const auto start = urls::parse_uri(base_text);
  urls::url resolved;
  if (!reference || !start || !urls::resolve(*start, *reference, resolved))
    return UrlError{"the redirect leads to no valid URL"};
  resolved.remove_fragment();
  if (reference->has_scheme() || reference->has_authority()) return parse_url(view(resolved.buffer()));
  Url url = base;
  url.target = target_of(resolved);
  return url;
}

}  // namespace freshet::codec
