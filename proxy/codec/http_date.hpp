// Retry-After (RFC 9110 §10.2.3) and the dates in it.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace freshet::codec {

// All three forms of RFC 9110 §5.6.7. A two-digit year is the one nearest to `now` that is at most 50 years ahead.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text,
                                                                      std::chrono::sys_seconds now);

// How long to wait from `now` on. nullopt: no such value, or a date that is not in the future. At most
// retry_after_max: a greater number says the same.
inline constexpr std::chrono::seconds retry_after_max{1LL << 31};  // RFC 9111 §1.2.2
[[nodiscard]] std::optional<std::chrono::seconds> retry_after(std::string_view value, std::chrono::sys_seconds now);

}  // namespace freshet::codec
