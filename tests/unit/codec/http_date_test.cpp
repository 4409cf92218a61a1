#include "proxy/codec/http_date.hpp"

#include <catch2/catch.hpp>

namespace freshet::codec {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::sys_seconds epoch{};
constexpr std::chrono::sys_seconds now = std::chrono::sys_days(std::chrono::year{2026} / 10 / 21) + 7h + 27min;

}  // namespace

TEST_CASE("all three forms of a date say the same (RFC 9110 §5.6.7)", "[http_date]") {
  for (const auto* text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    INFO(text);
    const auto date = parse_http_date(text, now);
    REQUIRE(date);
    CHECK((*date - epoch) == 784'111'777s);
  }
}

TEST_CASE("a two-digit year is at most 50 years ahead", "[http_date]") {
  const auto year_of = [](std::string_view text) {
    const auto date = parse_http_date(text, now);
    REQUIRE(date);
    return static_cast<int>(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(*date)).year());
  };
  CHECK(year_of("Wednesday, 01-Jan-76 00:00:00 GMT") == 2076);
  CHECK(year_of("Wednesday, 01-Jan-77 00:00:00 GMT") == 1977);
}

TEST_CASE("Retry-After is read in seconds and as a date (B39)", "[http_date]") {
  CHECK(retry_after("120", now) == 120s);
  CHECK(retry_after(" 0 ", now) == 0s);
  CHECK(retry_after("Wed, 21 Oct 2026 07:28:00 GMT", now) == 60s);
}

TEST_CASE("a past date or garbage is no Retry-After (B39)", "[http_date]") {
  for (const auto* value :
       {"", "-1", "1.5", "12x", "soon", "Wed, 21 Oct 2026 07:27:00 GMT", "Wed, 21 Oct 2020 07:28:00 GMT",
        "Wed, 32 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 24:00:00 GMT", "Wed, 21 Oct 2026 07:28:00",
        "Wed, 21 oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT, 5", "Wed, 2"}) {
    INFO(value);
    CHECK_FALSE(retry_after(value, now));
  }
}

TEST_CASE("a Retry-After beyond any use is bounded, not wrapped", "[http_date]") {
  CHECK(retry_after("99999999999999999999999999", now) == retry_after_max);
  CHECK(retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now) == retry_after_max);
}

}  // namespace freshet::codec
