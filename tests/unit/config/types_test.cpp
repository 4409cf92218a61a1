#include "config/types.hpp"

#include <catch2/catch.hpp>

namespace freshet::config {
namespace {

TEST_CASE("durations are read exactly, in one or several units") {
  const auto read = [](const char* text) { return *parse_duration(text); };
  CHECK(read("30s") == 30s);
  CHECK(read("250ms") == 250ms);
  CHECK(read("1h30m") == 90min);
  CHECK(read("1.5s") == 1500ms);
  CHECK(read("0.1s") == 100ms);
  CHECK(read("2d") == 48h);
  CHECK(read("0") == 0s);
  CHECK(read("0s") == 0s);
}

TEST_CASE("a duration without a unit, with a sign, or out of all bounds is refused") {
  for (const char* text : {"", "30", "-5s", "s", "5 s", "1..5s", "5S", "1e3s", "5sx", "nan", "99999999d", "inf"}) {
    INFO(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("a duration is shown in the largest unit that is exact") {
  CHECK(to_string(Duration(0s)) == "0s");
  CHECK(to_string(Duration(90s)) == "90s");
  CHECK(to_string(Duration(60s)) == "1m");
  CHECK(to_string(Duration(48h)) == "48h");
  CHECK(to_string(Duration(1500ms)) == "1500ms");
}

TEST_CASE("sizes are read in binary and decimal units") {
  const auto read = [](const char* text) { return *parse_bytes(text); };
  CHECK(read("65536") == 65536);
  CHECK(read("64KiB") == 65536);
  CHECK(read("4MiB") == 4 * mib);
  CHECK(read("1.5KiB") == 1536);
  CHECK(read("10kB") == 10'000);
  CHECK(read("2GiB") == 2048 * mib);
  CHECK(bytes_text(65536) == "64KiB");
  CHECK(bytes_text(1000) == "1000");
  for (const char* text : {"", "64K", "KiB", "-1", "0.3", "64 KiB", "99999999GiB"}) {
    INFO(text);
    CHECK_FALSE(parse_bytes(text));
  }
}

TEST_CASE("hours of the day go over midnight, and are whole") {
  CHECK(*parse_hours("9-17") == Hours{9, 17});
  CHECK(parse_hours("22-6")->length() == 8);
  CHECK(parse_hours("22-6")->contains(0));
  CHECK_FALSE(parse_hours("22-6")->contains(6));
  CHECK(parse_hours("0-24")->length() == 24);
  for (const char* wrong : {"", "9", "9-", "-17", "9-25", "9-9", "9:30-17", "9-17h"}) {
    INFO(wrong);
    CHECK_FALSE(parse_hours(wrong));
  }
}

TEST_CASE("rates and shares are read with and without their sign") {
  CHECK(*parse_rate("10") == 10);
  CHECK(*parse_rate("10/s") == 10);
  CHECK(*parse_rate("600/m") == 10);
  CHECK(*parse_rate("3600/h") == 1);
  CHECK(*parse_fraction("10%") == Approx(0.1));
  CHECK(*parse_fraction("0.25") == 0.25);
  CHECK_FALSE(parse_rate("10/d"));
  CHECK_FALSE(parse_rate("/s"));
  CHECK_FALSE(parse_fraction("%"));
}

TEST_CASE("addresses to listen on are TCP of both families or a socket, with the interface named") {
  CHECK(*parse_address("[::1]:7300") == Address(TcpAddress{"::1", 7300}));
  CHECK(*parse_address("localhost:0") == Address(TcpAddress{"localhost", 0}));
  CHECK(*parse_address("unix:/run/x.sock") == Address(UnixAddress{"/run/x.sock"}));
  CHECK(to_string(*parse_address("[::1]:7300")) == "[::1]:7300");
  for (const char* text : {"", "7300", ":7300", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:7300", "[::1]",
                           "unix:x.sock", "[x]:1", "http://a:1"}) {
    INFO(text);
    CHECK_FALSE(parse_address(text));
  }
}

TEST_CASE("the URL of an upstream is http, https or a socket, with its default port and path") {
  CHECK(*parse_url("https://a.test") == Url{true, "a.test", 443, "", "/"});
  CHECK(*parse_url("http://[::1]:3000/mcp") == Url{false, "::1", 3000, "", "/mcp"});
  CHECK(*parse_url("unix:/run/s.sock:/mcp") == Url{false, "localhost", 80, "/run/s.sock", "/mcp"});
  CHECK(parse_url("unix:/run/s.sock")->path == "/");
  CHECK(to_string(*parse_url("http://[::1]:3000/mcp")) == "http://[::1]:3000/mcp");
  for (const char* text : {"", "a.test/mcp", "http://", "http://a.test:0/", "http://a b/", "http://a.test/\x01",
                           "http://a.test/#x", "unix:run/s"}) {
    INFO(text);
    CHECK_FALSE(parse_url(text));
  }
}

TEST_CASE("a text is quoted in YAML exactly where it would read as something else") {
  CHECK(yaml_text("files") == "files");
  CHECK(yaml_text("127.0.0.1:7300") == "127.0.0.1:7300");
  CHECK(yaml_text("http://a.test/mcp") == "http://a.test/mcp");
  CHECK(yaml_text("[::1]:7300") == "\"[::1]:7300\"");
  CHECK(yaml_text("true") == "\"true\"");
  CHECK(yaml_text("a: b\n") == "\"a: b\\x0a\"");
}

}  // namespace
}  // namespace freshet::config
