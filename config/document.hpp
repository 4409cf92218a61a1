// What is written about the settings, made from the table of fields.
#pragma once

#include <string>

#include "config/command_line.hpp"
#include "config/settings.hpp"

namespace freshet::config {

// Of one command with its options, or, for Kind::run, of the whole program.
[[nodiscard]] std::string help_text(Command::Kind topic = Command::Kind::run);

// config/freshet.example.yaml. Every setting is in it; all but what a file must hold is commented out ("#key: value"),
// with its default, or an example where there is none.
[[nodiscard]] std::string example_yaml();

// The README's tables.
[[nodiscard]] std::string reference_markdown();

// The effective settings, one "path: value" a line. Secrets stand as their references.
[[nodiscard]] std::string describe(const Settings& settings);

}  // namespace freshet::config
