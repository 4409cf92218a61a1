// Addresses: where to listen, and where an upstream is.
#include <algorithm>
#include <charconv>

#include "config/types.hpp"

namespace freshet::config {
namespace {

constexpr std::string_view unix_scheme = "unix:";

struct HostPort {
  std::string host;
  std::optional<std::uint16_t> port;
};

bool is_host(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '_';
  });
}

bool is_ipv6(std::string_view host) {
  const std::string_view digits = host.substr(0, host.find('%'));
  return digits.find(':') != std::string_view::npos &&
         digits.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos &&
         host.find_first_of(" /\\\"") == std::string_view::npos;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// "host", "host:port", "[v6]", "[v6]:port".
std::optional<HostPort> parse_host_port(std::string_view text) {
  std::string_view host = text.substr(0, text.find(':'));
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = text.substr(1, close - 1);
    if (!is_ipv6(host)) return std::nullopt;
    text.remove_prefix(close + 1);
  } else {
    if (!is_host(host)) return std::nullopt;
    text.remove_prefix(host.size());
  }
  HostPort result{std::string(host), std::nullopt};
  if (text.empty()) return result;
  if (text[0] != ':') return std::nullopt;
  result.port = parse_port(text.substr(1));
  return result.port ? std::optional(result) : std::nullopt;
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

bool is_url_path(std::string_view path) {
  return std::all_of(path.begin(), path.end(), [](char c) { return c > 0x20 && c < 0x7f && c != '?' && c != '#'; });
}

constexpr std::uint16_t default_port(bool tls) {
  return tls ? 443 : 80;
}

Parsed<Url> parse_unix_url(std::string_view rest) {
  const std::size_t colon = rest.find(':');
  Url url{.host = "localhost", .unix_path = std::string(rest.substr(0, colon))};
  if (colon != std::string_view::npos) url.path = rest.substr(colon + 1);
  if (!url.unix_path.starts_with('/') || !url.path.starts_with('/') || !is_url_path(url.path)) {
    return Mistake{"must be unix:/path/of/socket or unix:/path/of/socket:/mcp"};
  }
  return url;
}

}  // namespace

Parsed<Address> parse_address(std::string_view text) {
  if (text.starts_with(unix_scheme)) {
    // A sun_path holds 108 bytes with its end on Linux.
    const std::string_view path = text.substr(unix_scheme.size());
    if (!path.starts_with('/')) return Mistake{"must name the socket by an absolute path: unix:/run/freshet.sock"};
    if (path.size() > 107) return Mistake{"has a socket path longer than 107 bytes"};
    return Address(UnixAddress{std::string(path)});
  }
  if (text.starts_with(':')) {
    return Mistake{"must name the interface: 127.0.0.1" + std::string(text) + ", or 0.0.0.0" + std::string(text) +
                   " for every one"};
  }
  const std::optional<HostPort> parsed = parse_host_port(text);
  if (!parsed || !parsed->port) {
    return Mistake{"must be an address such as 127.0.0.1:7300, [::1]:7300 or unix:/run/freshet.sock, not \"" +
                   std::string(text) + "\""};
  }
  return Address(TcpAddress{parsed->host, *parsed->port});
}

Parsed<Url> parse_url(std::string_view text) {
  if (text.starts_with(unix_scheme)) return parse_unix_url(text.substr(unix_scheme.size()));
  Url url;
  if (text.starts_with("https://")) {
    url.tls = true;
  } else if (!text.starts_with("http://")) {
    return Mistake{"must begin with http://, https:// or unix:"};
  }
  std::string_view rest = text.substr(text.find("//") + 2);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(authority.size());
  // What follows may hold credentials, so no mistake repeats the text.
  if (authority.find('@') != std::string_view::npos) {
    return Mistake{"must not hold credentials; headers_add adds them from an environment variable or a file"};
  }
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return Mistake{"must not have a query or a fragment; a client's own query is passed on"};
  }
  const std::optional<HostPort> parsed = parse_host_port(authority);
  if (!parsed || parsed->port == 0) return Mistake{"must be a URL such as http://127.0.0.1:3000/mcp"};
  if (!is_url_path(rest)) return Mistake{"must have a path of visible ASCII; escape the rest with %"};
  url.host = parsed->host;
  url.port = parsed->port.value_or(default_port(url.tls));
  if (!rest.empty()) url.path = rest;
  return url;
}

std::string to_string(const Address& address) {
  if (const auto* local = std::get_if<UnixAddress>(&address)) return std::string(unix_scheme) + local->path;
  const auto& tcp = std::get<TcpAddress>(address);
  return bracketed(tcp.host) + ":" + std::to_string(tcp.port);
}

std::string to_string(const Url& url) {
  if (!url.unix_path.empty()) return std::string(unix_scheme) + url.unix_path + ":" + url.path;
  const std::string port = url.port == default_port(url.tls) ? "" : ":" + std::to_string(url.port);
  return (url.tls ? "https://" : "http://") + bracketed(url.host) + port + url.path;
}

Type<Address> address() {
  return scalar_type<Address>("address", parse_address, [](const Address& a) { return yaml_text(to_string(a)); });
}

Type<Url> url() {
  return scalar_type<Url>("URL", parse_url,
                          [](const Url& u) { return u.host.empty() ? std::string() : yaml_text(to_string(u)); });
}

Type<std::string> origin() {
  auto parse = [](std::string_view text) -> Parsed<std::string> {
    const Parsed<Url> parsed = parse_url(text);
    if (!parsed) return parsed.mistake();
    const bool path = text.find('/', text.find("//") + 2) != std::string_view::npos;
    if (!parsed->unix_path.empty() || path) return Mistake{"must be https://host or https://host:port, nothing more"};
    return std::string(text);
  };
  return scalar_type<std::string>("origin", parse, [](const std::string& o) { return o.empty() ? o : yaml_text(o); });
}

}  // namespace freshet::config
