// What the program does for each of its commands.
#pragma once

#include "config/load.hpp"

namespace freshet::app {

// The process's exit code: 0 done, 1 failed, 2 the settings or the command line are wrong.
[[nodiscard]] int run_command(const config::LoadResult& loaded, const config::Sources& sources);

}  // namespace freshet::app
