// One line per fact that an operator can act on: a stable message, then key=value. Never a body, never a credential.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

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

// For a line that may be wanted at any rate: written once in a while, with how often it was wanted since.
class Repeated {
 public:
  // How many occurrences the line stands for that is to be written now; 0: none is.
  std::size_t occurred(std::chrono::steady_clock::time_point now) {
    ++count_;
    if (now < quiet_until_) return 0;
    quiet_until_ = now + quiet;
    return std::exchange(count_, 0);
  }

 private:
  static constexpr auto quiet = std::chrono::minutes(1);
  std::chrono::steady_clock::time_point quiet_until_{};
  std::size_t count_ = 0;
};

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
