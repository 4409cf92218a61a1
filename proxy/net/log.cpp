#include "proxy/net/log.hpp"

#include <algorithm>
#include <memory>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "proxy/codec/json_string.hpp"

namespace freshet::log {

namespace {

Format line_format = Format::text;

bool plain(char c) {
  return c > ' ' && c != '"' && c != '=' && c != '\\' && static_cast<unsigned char>(c) < 0x7f;
}

void append_text_value(std::string& line, const std::string& value) {
  if (!value.empty() && std::ranges::all_of(value, plain)) {
    line += value;
  } else {
    line += codec::quote(value);
  }
}

}  // namespace

void set_up(spdlog::level::level_enum level, Format format) {
  line_format = format;
  auto logger = std::make_shared<spdlog::logger>("freshet", std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern(format == Format::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})"
                                             : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
}

void write(spdlog::level::level_enum level, std::string_view message, FieldList fields) {
  spdlog::logger* logger = spdlog::default_logger_raw();
  if (!logger->should_log(level)) return;
  std::string line;
  if (line_format == Format::json) {
    line = "\"message\":" + codec::quote(message);
    for (const Field& f : fields) line += "," + codec::quote(f.key) + ":" + codec::quote(f.value);
  } else {
    line = message;
    for (const Field& f : fields) {
      line += ' ';
      line += f.key;
      line += '=';
      append_text_value(line, f.value);
    }
  }
  logger->log(level, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace freshet::log
