#include "proxy/codec/host_check.hpp"

#include <catch2/catch.hpp>

namespace freshet::codec {

TEST_CASE("a Host that names this machine passes, in any case and with any port (B84)", "[host_check]") {
  for (const auto* host : {"localhost", "LOCALHOST", "localhost:8080", "127.0.0.1", "127.8.9.10:1", "[::1]",
                           "[::1]:8080", "[0:0:0:0:0:0:0:1]"}) {
    INFO(host);
    CHECK(host_is_loopback(host));
  }
}

TEST_CASE("any other Host does not (B84)", "[host_check]") {
  for (const auto* host : {"", "attacker.example:80", "localhost.attacker.example", "127.0.0.1.attacker.example", "::1",
                           "[::2]", "[::1", "[", "[]", "[::1]x", "[::1]:x", "localhost:80x", "128.0.0.1", "127.1",
                           "127.0.0.1:80:80", "0177.0.0.1", "localhost@evil"}) {
    INFO(host);
    CHECK_FALSE(host_is_loopback(host));
  }
}

TEST_CASE("an Origin passes only if it is listed (B84)", "[host_check]") {
  const std::vector<std::string> allowed{"https://app.example", "http://localhost:6274"};
  CHECK(origin_allowed("HTTPS://App.Example", allowed));
  CHECK_FALSE(origin_allowed("https://evil.example", allowed));
  CHECK_FALSE(origin_allowed("https://app.example.evil", allowed));
  CHECK_FALSE(origin_allowed("http://localhost:6275", allowed));
  CHECK_FALSE(origin_allowed("null", {}));
  CHECK(origin_allowed("null", {"*"}));
}

}  // namespace freshet::codec
