// `freshet demo`: the main job with no other server. An embedded MCP server without subscribe, the sidecar in front,
// and a small subscriber that prints what it is told.
#pragma once

#include "config/load.hpp"

namespace freshet::app {

// Runs until Ctrl-C, or for the duration of --for. `loaded` is what load(sources) gave. The exit code: 0 if the
// subscriber was told of every change that lasted beyond the next poll, 1 if not, 2 if the settings are wrong.
[[nodiscard]] int demo(const config::LoadResult& loaded, const config::Sources& sources);

}  // namespace freshet::app
