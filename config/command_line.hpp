// The command line: which command, its own options, and the flags that set settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/field.hpp"
#include "config/problem.hpp"

namespace freshet::config {

struct Command {
  enum class Kind { run, check, demo, status, health, plan, top, help, version };
  Kind kind = Kind::run;
  Kind topic = Kind::run;                      // of help: the command that it was asked of
  std::map<std::string, std::string> options;  // the command's own, e.g. {"json", "true"}, {"for", "20s"}; if given

  [[nodiscard]] bool has(const std::string& option) const { return options.contains(option); }
};

struct CommandOption {
  std::string name;        // without the dashes
  std::string value_kind;  // empty: it takes no value, and "true" is noted
  std::string help;
};

struct CommandInfo {
  Command::Kind kind = Command::Kind::run;
  std::string name;  // empty: no command given
  std::string help;
  bool needs_upstream = false;
  std::vector<CommandOption> options;
};

// What the program can be told to do; an option that is put here is parsed and documented.
[[nodiscard]] const std::vector<CommandInfo>& commands();
[[nodiscard]] const CommandInfo& info_of(Command::Kind kind);

struct CommandLine {
  Command command;
  std::string config_path;  // of --config, or empty
  Overrides flags;          // places are "--flag"
};

// `arguments` without the program's name. Unknown flags and commands become problems, with the nearest known one.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments, Problems& problems);

}  // namespace freshet::config
