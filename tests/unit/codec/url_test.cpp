#include "proxy/codec/url.hpp"

#include <catch2/catch.hpp>

namespace freshet::codec {

namespace {

std::string shown(const Url& url) {
  return url.scheme + ' ' + url.host + ' ' + std::to_string(url.port) + ' ' + url.target + ' ' + url.unix_path;
}

std::string parsed(std::string_view text) {
  const auto url = parse_url(text);
  return url.has_value() ? shown(*url) : url.error().message;
}

std::string redirected(std::string_view from, std::string_view location) {
  const auto url = resolve_redirect(*parse_url(from), location);
  return url.has_value() ? shown(*url) : url.error().message;
}

}  // namespace

TEST_CASE("addresses of upstreams are taken apart", "[url]") {
  CHECK(parsed("http://localhost:9001/mcp") == "http localhost 9001 /mcp ");
  CHECK(parsed("HTTPS://U.Example.test") == "https u.example.test 443 / ");
  CHECK(parsed("http://u/a%20b/?q=1&r=%2f") == "http u 80 /a%20b/?q=1&r=%2f ");
  CHECK(parsed("http://u?q=1") == "http u 80 /?q=1 ");
  CHECK(parsed("http://u:/") == "http u 80 / ");
  CHECK(parsed("unix:/run/mcp.sock:/mcp?x=1") == "unix localhost 80 /mcp?x=1 /run/mcp.sock");
  CHECK(parsed("unix:/run/mcp.sock") == "unix localhost 80 / /run/mcp.sock");
}

TEST_CASE("IPv6 literals are understood, with a zone too (B92)", "[url]") {
  CHECK(parsed("http://[::1]:9001/mcp") == "http ::1 9001 /mcp ");
  CHECK(parsed("http://[fe80::1%25eth0]:9001/") == "http fe80::1%eth0 9001 / ");
  CHECK(parsed("http://127.0.0.1:9001/a%20b[") == "the address is no valid URL");
}

TEST_CASE("a wrong address is told what is wrong with it", "[url]") {
  CHECK(parsed("ftp://u/") == "an address starts with http://, https:// or unix:/");
  CHECK(parsed("") == "an address starts with http://, https:// or unix:/");
  CHECK(parsed("http://[::zz]/") == "the IP address in brackets is malformed");
  CHECK(parsed("http://[::1/") == "the IP address in brackets is malformed");
  CHECK(parsed("http://[v1.x]/") == "the IP address in brackets is malformed");
  CHECK(parsed("http://[fe80::1%eth0]/") == "the zone of an IPv6 address is written like [fe80::1%25eth0]");
  CHECK(parsed("http://[fe80::1%25a/b]/") == "the zone of an IPv6 address is written like [fe80::1%25eth0]");
  CHECK(parsed("http://::1:8080/") == "the host is missing (an IPv6 address stands in brackets)");
  CHECK(parsed("http://u:0/") == "the port must be between 1 and 65535");
  CHECK(parsed("http://u:99999/") == "the port must be between 1 and 65535");
  CHECK(parsed("http:///mcp") == "the host is missing (an IPv6 address stands in brackets)");
  CHECK(parsed("http://u%41/") == "the host must not be percent-encoded");
  CHECK(parsed("http://a b/") == "the address is no valid URL");
  CHECK(parsed("http://u:p@h/") == "credentials do not belong in the address");
  CHECK(parsed("http://u/#f") == "a fragment (#…) has no meaning in this address");
  CHECK(parsed("unix:mcp.sock") == "the path of a Unix socket must be absolute, like unix:/run/mcp.sock:/mcp");
  CHECK(parsed("unix:/" + std::string(107, 'x')) == "the path of the Unix socket is longer than 107 bytes");
}

TEST_CASE("a redirect is resolved against where it came from (B86)", "[url]") {
  CHECK(redirected("http://u:81/mcp?x=1", "/mcp/") == "http u 81 /mcp/ ");
  CHECK(redirected("http://u/a/b", "../c?y#f") == "http u 80 /c?y ");
  CHECK(redirected("http://u/mcp", "https://u/mcp/") == "https u 443 /mcp/ ");
  CHECK(redirected("https://u/mcp", "//v/w") == "https v 443 /w ");
  CHECK(redirected("http://[fe80::1%25eth0]:9/a", "b") == "http fe80::1%eth0 9 /b ");
  CHECK(redirected("unix:/run/mcp.sock:/mcp", "/mcp/") == "unix localhost 80 /mcp/ /run/mcp.sock");
  CHECK(redirected("http://u/", "http://a b/") == "the redirect leads to no valid URL");
  CHECK(redirected("http://u/", "ftp://u/") == "an address starts with http://, https:// or unix:/");
}

TEST_CASE("another scheme, host, port or socket is another origin (B86)", "[url]") {
  const auto same = [](std::string_view a, std::string_view b) { return same_origin(*parse_url(a), *parse_url(b)); };
  CHECK(same("https://u.example.test/mcp", "https://U.example.test:443/mcp/"));
  CHECK_FALSE(same("https://u.example.test/mcp", "http://u.example.test:443/mcp/"));
  CHECK_FALSE(same("http://u/", "http://v/"));
  CHECK_FALSE(same("http://u/", "http://u:81/"));
  CHECK_FALSE(same("unix:/a:/", "unix:/b:/"));
  CHECK_FALSE(same("unix:/a:/", "http://localhost/"));
}

}  // namespace freshet::codec
