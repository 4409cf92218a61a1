#include "proxy/app/log_setup.hpp"

#include "proxy/net/log.hpp"

namespace freshet::app {

namespace {

spdlog::level::level_enum level_of(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::trace:
      return spdlog::level::trace;
    case config::LogLevel::debug:
      return spdlog::level::debug;
    case config::LogLevel::info:
      return spdlog::level::info;
    case config::LogLevel::warn:
      return spdlog::level::warn;
    case config::LogLevel::error:
      return spdlog::level::err;
    case config::LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

}  // namespace

void set_up_log(const config::Log& settings) {
  log::set_up(level_of(settings.level),
              settings.format == config::LogFormat::json ? log::Format::json : log::Format::text);
}

}  // namespace freshet::app
