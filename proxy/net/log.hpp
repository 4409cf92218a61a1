// One line per fact that an operator can act on: a stable message, then key=value. Never a body, never a credential.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <spdlog/common.h>

namespace freshet::log {

struct Field {
  std::string_view key;
  std::string value;
};
using FieldList = std::initializer_list<Field>;

enum class Format { text, json };

// Lines go to standard error. To be called before anything is logged; a further call changes how.
void set_up(spdlog::level::level_enum level, Format format);

void write(spdlog::level::level_enum level, std::string_view message, FieldList fields);

inline void debug(std::string_view message, FieldList fields = {}) {
  write(spdlog::level::debug, message, fields);
}
inline void info(std::string_view message, FieldList fields = {}) {
  write(spdlog::level::info, message, fields);
}
inline void warn(std::string_view message, FieldList fields = {}) {
  write(spdlog::level::warn, message, fields);
}
inline void error(std::string_view message, FieldList fields = {}) {
  write(spdlog::level::err, message, fields);
}

}  // namespace freshet::log
