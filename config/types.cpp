#include "config/types.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

namespace freshet::config {
namespace {

template <class N>
struct Unit {
  std::string_view name;
  N size;
};

constexpr std::array<Unit<std::int64_t>, 7> duration_units{{{"ns", 1},
                                                            {"us", 1'000},
                                                            {"ms", 1'000'000},
                                                            {"s", 1'000'000'000},
                                                            {"m", 60'000'000'000},
                                                            {"h", 3'600'000'000'000},
                                                            {"d", 86'400'000'000'000}}};
constexpr std::array<Unit<std::size_t>, 8> byte_units{{{"", 1},
                                                       {"B", 1},
                                                       {"kB", 1'000},
                                                       {"MB", 1'000'000},
                                                       {"GB", 1'000'000'000},
                                                       {"KiB", kib},
                                                       {"MiB", mib},
                                                       {"GiB", 1024 * mib}}};

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

// A decimal number without sign or exponent at the front of `text`, which moves behind it.
std::optional<double> take_number(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + length, number, std::chars_format::fixed);
  if (length == 0 || error != std::errc() || end != text.data() + length) return std::nullopt;
  text.remove_prefix(length);
  return number;
}

std::optional<double> whole_number(std::string_view text) {
  const std::optional<double> number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

template <class T>
Parsed<T> in_range(T value, T min, T max, const std::function<std::string(const T&)>& show) {
  if (value < min) return Mistake{"must be at least " + show(min) + ", not " + show(value)};
  if (value > max) return Mistake{"must be at most " + show(max) + ", not " + show(value)};
  return value;
}

template <class T>
Type<T> ranged(std::string kind, Parsed<T> (*parse)(std::string_view), std::string (*show)(T), T min, T max) {
  const std::function<std::string(const T&)> show_it = show;
  auto read = [=](std::string_view text) -> Parsed<T> {
    const Parsed<T> parsed = parse(text);
    return parsed ? in_range(*parsed, min, max, show_it) : parsed;
  };
  return scalar_type<T>(std::move(kind), read, show_it);
}

Parsed<std::size_t> parse_count(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Mistake{"must be a whole number, not " + quoted(text)};
  }
  return number;
}

Parsed<double> parse_number(std::string_view text) {
  const std::optional<double> number = whole_number(text);
  if (!number) return Mistake{"must be a number, not " + quoted(text)};
  return *number;
}

std::string count_text(std::size_t number) {
  return std::to_string(number);
}
std::string rate_text(double rate) {
  return number_text(rate) + "/s";
}
std::string fraction_text(double fraction) {
  return number_text(fraction * 100) + "%";
}
std::string duration_text(Duration duration) {
  return to_string(duration);
}

}  // namespace

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", number);
  return text.data();
}

std::string to_string(Duration duration) {
  const std::int64_t ns = duration.count();
  if (ns == 0) return "0s";
  // Days are left out: "24h" is what an operator would write.
  for (std::size_t i = duration_units.size() - 1; i-- > 0;) {
    if (ns % duration_units[i].size == 0) {
      return std::to_string(ns / duration_units[i].size) + std::string(duration_units[i].name);
    }
  }
  return std::to_string(ns) + "ns";
}

std::string to_string(const Hours& hours) {
  return std::to_string(hours.from) + "-" + std::to_string(hours.to);
}

std::string bytes_text(std::size_t bytes) {
  for (const std::string_view name : {"GiB", "MiB", "KiB"}) {
    const auto unit = std::find_if(byte_units.begin(), byte_units.end(), [&](const auto& u) { return u.name == name; });
    if (bytes >= unit->size && bytes % unit->size == 0) {
      return std::to_string(bytes / unit->size) + std::string(name);
    }
  }
  return std::to_string(bytes);
}

Parsed<Duration> parse_duration(std::string_view text) {
  const Mistake mistake{"must be a duration such as 30s, 250ms, 5m or 1h30m, not " + quoted(text)};
  constexpr double ns_max = 10.0 * 365 * 86'400e9;
  if (text == "0") return Duration::zero();
  double total_ns = 0;
  std::string_view rest = text;
  do {
    const std::optional<double> number = take_number(rest);
    if (!number) return mistake;
    const std::string_view name = rest.substr(0, std::min(rest.find_first_of("0123456789."), rest.size()));
    const auto unit =
        std::find_if(duration_units.begin(), duration_units.end(), [&](const auto& u) { return u.name == name; });
    if (unit == duration_units.end()) return mistake;
    total_ns += *number * static_cast<double>(unit->size);
    rest.remove_prefix(name.size());
  } while (!rest.empty());
  if (!(total_ns <= ns_max)) return Mistake{"is longer than ten years: " + quoted(text)};
  return Duration(std::llround(total_ns));
}

Parsed<std::size_t> parse_bytes(std::string_view text) {
  constexpr double bytes_max = 1e15;
  std::string_view rest = text;
  const std::optional<double> number = take_number(rest);
  const auto unit = std::find_if(byte_units.begin(), byte_units.end(), [&](const auto& u) { return u.name == rest; });
  if (!number || unit == byte_units.end()) {
    return Mistake{"must be a size such as 65536, 64KiB or 4MiB, not " + quoted(text)};
  }
  const double bytes = *number * static_cast<double>(unit->size);
  if (bytes > bytes_max) return Mistake{"is too large: " + quoted(text)};
  if (bytes != std::floor(bytes)) return Mistake{"must be whole bytes, not " + quoted(text)};
  return static_cast<std::size_t>(bytes);
}

Parsed<double> parse_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view unit = slash == std::string_view::npos ? "s" : text.substr(slash + 1);
  const std::optional<double> number = whole_number(text.substr(0, slash));
  const double per = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (!number || per == 0) return Mistake{"must be a rate such as 10/s, 600/m or 10, not " + quoted(text)};
  return *number / per;
}

Parsed<double> parse_fraction(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::optional<double> number = whole_number(percent ? text.substr(0, text.size() - 1) : text);
  if (!number) return Mistake{"must be a share such as 10% or 0.1, not " + quoted(text)};
  return percent ? *number / 100 : *number;
}

Parsed<Hours> parse_hours(std::string_view text) {
  const std::size_t dash = text.find('-');
  const Parsed<std::size_t> from = parse_count(text.substr(0, dash));
  const Parsed<std::size_t> to = parse_count(dash == std::string_view::npos ? "" : text.substr(dash + 1));
  if (!from || !to || *from > hours_per_day || *to > hours_per_day || *from == *to) {
    return Mistake{"must be hours of the day such as 9-17, 22-6 or 0-24, not " + quoted(text)};
  }
  return Hours{static_cast<unsigned>(*from), static_cast<unsigned>(*to)};
}

Type<Duration> duration(Duration min, Duration max) {
  return ranged<Duration>("duration", parse_duration, duration_text, min, max);
}

Type<std::size_t> bytes(std::size_t min, std::size_t max) {
  return ranged<std::size_t>("bytes", parse_bytes, bytes_text, min, max);
}

Type<std::size_t> count(std::size_t min, std::size_t max) {
  return ranged<std::size_t>("number", parse_count, count_text, min, max);
}

Type<std::uint32_t> small_count(std::uint32_t min, std::uint32_t max) {
  auto read = [min, max](std::string_view text) -> Parsed<std::uint32_t> {
    const Parsed<std::size_t> parsed = parse_count(text);
    if (!parsed) return parsed.mistake();
    const Parsed<std::size_t> fits = in_range<std::size_t>(*parsed, min, max, count_text);
    return fits ? Parsed<std::uint32_t>(static_cast<std::uint32_t>(*fits)) : fits.mistake();
  };
  return scalar_type<std::uint32_t>("number", read, [](const std::uint32_t& n) { return std::to_string(n); });
}

Type<Hours> hours() {
  return scalar_type<Hours>("hours", parse_hours, [](const Hours& h) { return to_string(h); });
}

Type<double> rate(double min, double max) {
  return ranged<double>("rate", parse_rate, rate_text, min, max);
}
Type<double> fraction(double min, double max) {
  return ranged<double>("share", parse_fraction, fraction_text, min, max);
}
Type<double> number(double min, double max) {
  return ranged<double>("number", parse_number, number_text, min, max);
}

Type<bool> boolean() {
  auto parse = [](std::string_view text) -> Parsed<bool> {
    if (text == "true" || text == "yes" || text == "on") return true;
    if (text == "false" || text == "no" || text == "off") return false;
    return Mistake{"must be true or false, not " + quoted(text)};
  };
  return scalar_type<bool>("true|false", parse, [](const bool& b) { return std::string(b ? "true" : "false"); });
}

Type<Secret> secret() {
  return scalar_type<Secret>("secret", parse_secret, [](const Secret& s) { return yaml_text(to_string(s)); });
}

namespace {

std::string show_text(const std::string& text) {
  return text.empty() ? text : yaml_text(text);
}

// A text that must satisfy `valid`; `rule` completes "must …".
Type<std::string> checked_text(std::string what, std::string rule, bool (*valid)(std::string_view)) {
  auto parse = [rule, valid](std::string_view text) -> Parsed<std::string> {
    if (!valid(text)) return Mistake{"must " + rule + ", not " + quoted(text)};
    return std::string(text);
  };
  return scalar_type<std::string>(std::move(what), parse, show_text);
}

bool is_token(std::string_view text) {  // RFC 9110 §5.6.2
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           marks.find(c) != std::string_view::npos;
  });
}

bool is_pointer(std::string_view text) {  // RFC 6901 §3
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) return false;
  }
  return true;
}

bool is_printable_path(std::string_view text) {
  return text.starts_with('/') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f && c != '?' && c != '#'; });
}

}  // namespace

Type<std::string> text(std::string what) {
  return checked_text(std::move(what), "", [](std::string_view) { return true; });
}

Type<std::string> name(std::string what) {
  return checked_text(std::move(what), "not be empty", [](std::string_view t) { return !t.empty(); });
}

Type<std::string> url_path() {
  return checked_text("path", "begin with \"/\" and hold no space, \"?\" or \"#\"", is_printable_path);
}

Type<std::string> header_name() {
  return checked_text("header name", "be the name of a header", is_token);
}

Type<std::string> json_pointer() {
  return checked_text("JSON pointer", "be a JSON pointer such as /meta/time", is_pointer);
}

}  // namespace freshet::config
