#include "proxy/codec/host_check.hpp"

#include <algorithm>

#include <boost/url/ipv4_address.hpp>
#include <boost/url/ipv6_address.hpp>

#include "proxy/codec/text.hpp"

namespace freshet::codec {

namespace {

bool is_port(std::string_view text) {
  return text.empty() || (text.starts_with(':') && all_digits(text.substr(1)));
}

}  // namespace

bool host_is_loopback(std::string_view host) {
  if (host.starts_with('[')) {
    const auto close = std::min(host.find(']'), host.size() - 1);
    const auto address = boost::urls::parse_ipv6_address(host.substr(1, close - 1));
    return address && address->is_loopback() && is_port(host.substr(close + 1));
  }
  const auto name = host.substr(0, host.find(':'));
  if (!is_port(host.substr(name.size()))) return false;
  if (equal_ignoring_case(name, "localhost")) return true;
  const auto address = boost::urls::parse_ipv4_address(name);
  return address && address->is_loopback();
}

bool origin_allowed(std::string_view origin, const std::vector<std::string>& allowed) {
  return std::ranges::any_of(
      allowed, [origin](const std::string& entry) { return entry == "*" || equal_ignoring_case(entry, origin); });
}

}  // namespace freshet::codec
