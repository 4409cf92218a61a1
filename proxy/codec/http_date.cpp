#include "proxy/codec/http_date.hpp"

#include <algorithm>
#include <array>

#include "proxy/codec/text.hpp"

namespace freshet::codec {

namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> month_names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> day_names = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                       "Friday", "Saturday", "Sunday"};

// Takes the parts of a date off its front. Names are case-sensitive (RFC 9110 §5.6.7).
class DateScanner {
 public:
  explicit DateScanner(std::string_view text) : text_(text) {}

  void literal(std::string_view expected) {
    if (!text_.starts_with(expected)) return fail();
    text_.remove_prefix(expected.size());
  }

  int number(std::size_t digits) {
    if (text_.size() < digits || !all_digits(text_.substr(0, digits))) {
      fail();
      return 0;
    }
    int n = 0;
    for (const char c : text_.substr(0, digits)) n = n * 10 + (c - '0');
    text_.remove_prefix(digits);
    return n;
  }

  month month_name() {
    const auto found = std::ranges::find(month_names, text_.substr(0, 3));
    if (found == month_names.end()) fail();
    if (ok_) text_.remove_prefix(3);
    return month(static_cast<unsigned>(found - month_names.begin()) + 1);
  }

  void day_name(bool in_full) {
    for (const auto name : day_names) {
      const auto shown = in_full ? name : name.substr(0, 3);
      if (text_.starts_with(shown)) return literal(shown);
    }
    fail();
  }

  seconds time_of_day() {
    const auto h = number(2);
    literal(":");
    const auto m = number(2);
    literal(":");
    const auto s = number(2);  // 60: a leap second
    if (h > 23 || m > 59 || s > 60) fail();
    return hours(h) + minutes(m) + seconds(s);
  }

  bool take_if(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::optional<sys_seconds> finish(year_month_day date, seconds time) const {
    if (!ok_ || !text_.empty() || !date.ok()) return std::nullopt;
    return sys_days(date) + time;
  }

 private:
  void fail() {
    ok_ = false;
    text_ = {};
  }

  std::string_view text_;
  bool ok_ = true;
};

day day_of(int n) {
  return day(static_cast<unsigned>(n));
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<sys_seconds> imf_fixdate(std::string_view text) {
  DateScanner scan(text);
  scan.day_name(false);
  scan.literal(", ");
  const auto d = scan.number(2);
  scan.literal(" ");
  const auto m = scan.month_name();
  scan.literal(" ");
  const auto y = scan.number(4);
  scan.literal(" ");
  const auto time = scan.time_of_day();
  scan.literal(" GMT");
  return scan.finish(year(y) / m / day_of(d), time);
}

// Sunday, 06-Nov-94 08:49:37 GMT
std::optional<sys_seconds> rfc850_date(std::string_view text, sys_seconds now) {
  DateScanner scan(text);
  scan.day_name(true);
  scan.literal(", ");
  const auto d = scan.number(2);
  scan.literal("-");
  const auto m = scan.month_name();
  scan.literal("-");
  const auto short_year = scan.number(2);
  scan.literal(" ");
  const auto time = scan.time_of_day();
  scan.literal(" GMT");
  const int this_year = static_cast<int>(year_month_day(floor<days>(now)).year());
  int y = this_year - this_year % 100 + 100 + short_year;
  while (y > this_year + 50) y -= 100;
  return scan.finish(year(y) / m / day_of(d), time);
}

// Sun Nov  6 08:49:37 1994
std::optional<sys_seconds> asctime_date(std::string_view text) {
  DateScanner scan(text);
  scan.day_name(false);
  scan.literal(" ");
  const auto m = scan.month_name();
  scan.literal(" ");
  const auto d = scan.number(scan.take_if(' ') ? 1 : 2);
  scan.literal(" ");
  const auto time = scan.time_of_day();
  scan.literal(" ");
  const auto y = scan.number(4);
  return scan.finish(year(y) / m / day_of(d), time);
}

}  // namespace

std::optional<sys_seconds> parse_http_date(std::string_view text, sys_seconds now) {
  if (const auto date = imf_fixdate(text)) return date;
  if (const auto date = rfc850_date(text, now)) return date;
  return asctime_date(text);
}

std::optional<seconds> retry_after(std::string_view value, sys_seconds now) {
  value = trimmed(value);
  if (all_digits(value)) {
    seconds wait{0};
    for (const char c : value) wait = std::min(wait * 10 + seconds(c - '0'), retry_after_max);
    return wait;
  }
  const auto date = parse_http_date(value, now);
  if (!date || *date <= now) return std::nullopt;
  return std::min(seconds(*date - now), retry_after_max);
}

}  // namespace freshet::codec
