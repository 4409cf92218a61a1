// The files under page/, as embed.cmake writes them into the binary.
#pragma once

#include <string_view>

namespace freshet::admin {

extern const std::string_view icon_svg;    // page/icon.svg
extern const std::string_view index_html;  // page/index.html
extern const std::string_view page_css;    // page/page.css
extern const std::string_view page_js;     // page/page.js

}  // namespace freshet::admin
