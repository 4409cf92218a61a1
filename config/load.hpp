// From flags, environment and file to settings. A flag counts before the environment, that before the file, that before
// the default. Everything it reads is handed in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/command_line.hpp"
#include "config/settings.hpp"

namespace freshet::config {

struct Sources {
  std::vector<std::string> arguments;  // without the program's name
  Environment environment;             // an empty variable counts as not set
  // The text of a file, or why it cannot be read ("No such file or directory").
  std::function<Parsed<std::string>(const std::string& path)> read_file;
};

struct LoadResult {
  Command command;
  Settings settings;                  // usable if there are no errors
  std::string config_path;            // empty: no file
  std::vector<std::string> errors;    // each "place: path: message", in the order of the file
  std::vector<std::string> warnings;  // likewise; nothing that stops a start

  [[nodiscard]] bool ok() const { return errors.empty(); }
};

// For Command::Kind::help and version nothing is loaded.
[[nodiscard]] LoadResult load(const Sources& sources);

// What main hands in: the process's own arguments, its environment and the file system.
[[nodiscard]] Sources process_sources(int argc, const char* const* argv, const char* const* environment);

// References that cannot be resolved here and now: unset variables, unreadable secret, certificate and CA files. A
// start would fail; a check elsewhere need not.
[[nodiscard]] std::vector<std::string> unresolved(const Settings& settings, const Sources& sources);

}  // namespace freshet::config
