// The live page: its files, embedded in the binary by embed.cmake, and what the server writes into it, so that the page
// says something before its script runs, and all of it where no script does.
#pragma once

#include <string>
#include <string_view>

#include "proxy/admin/json_values.hpp"
#include "proxy/admin/status_query.hpp"

namespace freshet::admin {

// Nothing but what this address serves: no inline script or style, no other origin.
inline constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'";

struct PageFile {
  std::string_view text;
  std::string_view content_type;
};

// "/", "/icon.svg", "/page.css" or "/page.js".
[[nodiscard]] PageFile page_file(std::string_view path);

// The page with the tables of `status` (as status_json gives it) in the place that `page` marks for them.
[[nodiscard]] std::string page_html(std::string_view page, const Json& status, const StatusQuery& query);

}  // namespace freshet::admin
