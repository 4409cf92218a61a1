#include "proxy/admin/page.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "proxy/admin/page_files.hpp"

namespace freshet::admin {

namespace {

constexpr std::string_view place = "<!-- tables -->";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Column {
  std::string_view title;
  Json::json_pointer value;
};

std::string cell(const Json& row, const Column& column) {
  if (!row.contains(column.value)) return "–";
  const Json& value = row.at(column.value);
  if (value.is_null()) return "–";
  return escaped(value.is_string() ? value.get<std::string>() : to_text(value));
}

std::string table(std::string_view title, const Json& rows, std::span<const Column> columns) {
  std::string out = "<h2>" + std::string(title) + "</h2><div class=\"wide\"><table><thead><tr>";
  for (const Column& column : columns) out += "<th scope=\"col\">" + std::string(column.title) + "</th>";
  out += "</tr></thead><tbody>";
  for (const Json& row : rows) {
    out += "<tr>";
    for (const Column& column : columns) out += "<td>" + cell(row, column) + "</td>";
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string link_to(const StatusQuery& query, std::size_t offset, std::string_view text) {
  const auto encoded = [](std::string_view value) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (plain) {
        out += c;
      } else {
        out += '%';
        out += digits[byte >> 4];
        out += digits[byte & 0xF];
      }
    }
    return out;
  };
  return "<a href=\"/?limit=" + std::to_string(query.limit) + "&amp;offset=" + std::to_string(offset) +
         "&amp;search=" + encoded(query.search) + "&amp;upstream=" + encoded(query.upstream) + "\">" +
         std::string(text) + "</a> ";
}

std::string pager(const Json& subscriptions, const StatusQuery& query) {
  const auto matched = subscriptions.at("matched").get<std::size_t>();
  std::string out = "<form method=\"get\" action=\"/\"><label>Search <input name=\"search\" value=\"" +
                    escaped(query.search) + "\"></label> <button>Search</button> " + std::to_string(matched) + " of " +
                    std::to_string(subscriptions.at("total").get<std::size_t>()) + "</form><p>";
  if (query.offset > 0) out += link_to(query, query.offset - std::min(query.offset, query.limit), "previous");
  if (query.offset + query.limit < matched) out += link_to(query, query.offset + query.limit, "next");
  return out + "</p>";
}

}  // namespace

PageFile page_file(std::string_view path) {
  if (path == "/icon.svg") return {icon_svg, "image/svg+xml"};
  if (path == "/page.css") return {page_css, "text/css; charset=utf-8"};
  if (path == "/page.js") return {page_js, "text/javascript; charset=utf-8"};
  return {index_html, "text/html; charset=utf-8"};
}

std::string page_html(std::string_view page, const Json& status, const StatusQuery& query) {
  using Pointer = Json::json_pointer;
  static const std::array partners{Column{"partner", Pointer("/name")},
                                   Column{"requests per second", Pointer("/requests_per_s/total")},
                                   Column{"budget", Pointer("/rate_per_s")},
                                   Column{"client", Pointer("/requests_per_s/client")},
                                   Column{"poll", Pointer("/requests_per_s/poll")},
                                   Column{"other", Pointer("/requests_per_s/other")},
                                   Column{"planned", Pointer("/wished_per_s")},
                                   Column{"last hour", Pointer("/requests_per_s_last_hour/total")},
                                   Column{"waiting", Pointer("/waiting")},
                                   Column{"paused", Pointer("/paused/reason")},
                                   Column{"seconds left", Pointer("/paused/seconds_left")}};
  static const std::array upstreams{Column{"upstream", Pointer("/name")},
                                    Column{"era", Pointer("/declared/era")},
                                    Column{"declares", Pointer("/declared/declares")},
                                    Column{"strategy", Pointer("/declared/strategy")},
                                    Column{"why", Pointer("/declared/why")},
                                    Column{"health", Pointer("/health/state")},
                                    Column{"heals", Pointer("/heals/healed")},
                                    Column{"failed heals", Pointer("/heals/failed")},
                                    Column{"sessions", Pointer("/sessions/total")},
                                    Column{"subscriptions", Pointer("/subscriptions/total")},
                                    Column{"overdue", Pointer("/subscriptions/overdue")},
                                    Column{"oldest, s", Pointer("/subscriptions/worst_age_s")}};
  static const std::array subscriptions{Column{"resource", Pointer("/uri")},
                                        Column{"upstream", Pointer("/upstream")},
                                        Column{"state", Pointer("/state")},
                                        Column{"strategy", Pointer("/strategy")},
                                        Column{"age, s", Pointer("/age_s")},
                                        Column{"bound, s", Pointer("/bound_s")},
                                        Column{"last change", Pointer("/changed_at")},
                                        Column{"changes per hour", Pointer("/changes_per_hour")},
                                        Column{"next read in, s", Pointer("/next_read_in_s")}};
  static const std::array events{Column{"at", Pointer("/at")}, Column{"event", Pointer("/kind")},
                                 Column{"subject", Pointer("/subject")}, Column{"detail", Pointer("/detail")},
                                 Column{"count", Pointer("/count")}};
  const Json& shown = status.at("subscriptions");
  const std::string tables = table("Partners", status.at("partners"), partners) +
                             table("Upstreams", status.at("upstreams"), upstreams) +
                             table("Subscriptions", shown.at("items"), subscriptions) + pager(shown, query) +
                             table("Recent events", status.at("events"), events);
  std::string out(page);
  const auto at = out.find(place);
  if (at != std::string::npos) out.replace(at, place.size(), tables);
  return out;
}

}  // namespace freshet::admin
