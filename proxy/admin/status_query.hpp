// Which subscriptions a /status shows: a page of those that match.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace freshet::admin {

struct StatusQuery {
  static constexpr std::size_t limit_default = 100;
  static constexpr std::size_t limit_max = 1'000;

  std::size_t limit = limit_default;
  std::size_t offset = 0;
  std::string search;    // part of the URI as it is shown; empty: all
  std::string upstream;  // the name of one; empty: all
};

// From "/status?limit=&offset=&search=&upstream=". A limit above the greatest is the greatest; what cannot be read, and
// unknown names, are passed over: a page that someone bookmarked still shows something.
[[nodiscard]] StatusQuery parse_status_query(std::string_view target);

}  // namespace freshet::admin
