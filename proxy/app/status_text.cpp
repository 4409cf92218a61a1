#include "proxy/app/status_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <vector>

namespace freshet::app {

namespace {

using admin::Json;
using Pointer = Json::json_pointer;

constexpr std::size_t cell_columns_max = 60;
constexpr std::size_t events_shown = 10;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}
std::size_t columns_of(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

// At most so many characters of it.
std::string cut(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if (!continues_character(text[at]) && seen++ == columns) break;
  }
  return std::string(text.substr(0, at));
}

std::string harmless(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    // U+0080 to U+009F steer a terminal as ESC does.
    const bool c1 = byte == 0xC2 && i + 1 < out.size() && static_cast<unsigned char>(out[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F) out[i] = '?';
    if (c1) out.replace(i, 2, "?");
  }
  return out;
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
  return text.data();
}

std::string value_text(const Json& row, const Pointer& pointer) {
  if (!row.contains(pointer)) return "-";
  const Json& value = row.at(pointer);
  if (value.is_string()) return harmless(value.get<std::string>());
  if (value.is_number_float()) return number_text(value.get<double>());
  return value.is_null() ? "-" : admin::to_text(value);
}

struct Column {
  std::string_view title;
  Pointer value;
};

using Lines = std::vector<std::string>;

// Each column as wide as what stands in it.
void add_table(Lines& lines, const Json& rows, std::span<const Column> columns, std::size_t rows_max) {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (const Column& column : columns) widths.push_back(column.title.size());
  for (const Json& row : rows) {
    if (cells.size() >= rows_max) break;
    auto& line = cells.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      line.push_back(cut(value_text(row, columns[i].value), cell_columns_max));
      widths[i] = std::max(widths[i], columns_of(line.back()));
    }
  }
  const auto add_line = [&](const auto& text_at) {
    std::string out;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string_view text = text_at(i);
      out.append(text).append(widths[i] - columns_of(text) + 2, ' ');
    }
    lines.push_back(std::move(out));
  };
  lines.emplace_back();
  add_line([&](std::size_t i) { return columns[i].title; });
  for (const auto& line : cells) add_line([&](std::size_t i) { return std::string_view(line[i]); });
}

void add_head(Lines& lines, const Json& status) {
  std::string head = "freshet " + value_text(status, Pointer("/version"));
  head += "  up " + value_text(status, Pointer("/uptime_s")) + " s";
  if (status.value("draining", false)) head += "  draining";
  head += "  " + value_text(status, Pointer("/subscriptions/total")) + " subscriptions";
  lines.push_back(std::move(head));
}

void add_refused_reload(Lines& lines, const Json& status) {
  const Pointer result("/last_reload/result");
  if (value_text(status, result) != "refused") return;
  lines.push_back("configuration: what was read at " + value_text(status, Pointer("/last_reload/at")) +
                  " was refused: " + value_text(status, Pointer("/last_reload/errors/0")));
}

Lines lines_of(const Json& status, std::size_t subscriptions_max) {
  static const std::array partners{Column{"PARTNER", Pointer("/name")},
                                   Column{"REQUESTS/S", Pointer("/requests_per_s/total")},
                                   Column{"BUDGET/S", Pointer("/rate_per_s")},
                                   Column{"CLIENT/S", Pointer("/requests_per_s/client")},
                                   Column{"POLL/S", Pointer("/requests_per_s/poll")},
                                   Column{"OTHER/S", Pointer("/requests_per_s/other")},
                                   Column{"WISHED/S", Pointer("/wished_per_s")},
                                   Column{"LAST HOUR/S", Pointer("/requests_per_s_last_hour/total")},
                                   Column{"WAITING", Pointer("/waiting")},
                                   Column{"PAUSED", Pointer("/paused/reason")},
                                   Column{"LEFT/S", Pointer("/paused/seconds_left")}};
  static const std::array upstreams{Column{"UPSTREAM", Pointer("/name")},
                                    Column{"ERA", Pointer("/declared/era")},
                                    Column{"STRATEGY", Pointer("/declared/strategy")},
                                    Column{"HEALTH", Pointer("/health/state")},
                                    Column{"SESSIONS", Pointer("/sessions/total")},
                                    Column{"SUBSCRIPTIONS", Pointer("/subscriptions/total")},
                                    Column{"OVERDUE", Pointer("/subscriptions/overdue")},
                                    Column{"OLDEST/S", Pointer("/subscriptions/worst_age_s")},
                                    Column{"HEALS", Pointer("/heals/healed")},
                                    Column{"FAILED", Pointer("/heals/failed")},
                                    Column{"DECLARES", Pointer("/declared/declares")},
                                    Column{"WHY", Pointer("/declared/why")}};
  static const std::array subscriptions{
      Column{"RESOURCE", Pointer("/uri")},         Column{"UPSTREAM", Pointer("/upstream")},
      Column{"STRATEGY", Pointer("/strategy")},    Column{"STATE", Pointer("/state")},
      Column{"AGE/S", Pointer("/age_s")},          Column{"BOUND/S", Pointer("/bound_s")},
      Column{"NEXT/S", Pointer("/next_read_in_s")}};
  static const std::array events{Column{"AT", Pointer("/at")}, Column{"EVENT", Pointer("/kind")},
                                 Column{"SUBJECT", Pointer("/subject")}, Column{"DETAIL", Pointer("/detail")},
                                 Column{"TIMES", Pointer("/count")}};
  const auto rows = [&](const char* pointer) {
    const Pointer at(pointer);
    return status.contains(at) && status.at(at).is_array() ? status.at(at) : Json::array();
  };
  Lines lines;
  add_head(lines, status);
  add_refused_reload(lines, status);
  add_table(lines, rows("/partners"), partners, SIZE_MAX);
  add_table(lines, rows("/upstreams"), upstreams, SIZE_MAX);
  add_table(lines, rows("/events"), events, events_shown);
  add_table(lines, rows("/subscriptions/items"), subscriptions, subscriptions_max);
  return lines;
}

}  // namespace

std::string status_text(const Json& status) {
  std::string out;
  for (const std::string& line : lines_of(status, SIZE_MAX)) {
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

std::string top_text(const Json& status, TextSize size) {
  std::string out;
  const Lines lines = lines_of(status, size.lines);
  // The last line stays empty, for the cursor.
  for (std::size_t i = 0; i < lines.size() && i + 1 < size.lines; ++i) out += cut(lines[i], size.columns) + '\n';
  return out;
}

}  // namespace freshet::app
