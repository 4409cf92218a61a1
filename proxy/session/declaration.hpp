// What a server said of itself, as the engine takes it.
#pragma once

#include "proxy/codec/mcp.hpp"
#include "strategies/strategy.hpp"

namespace freshet::session {

// `sessions`: the upstream keeps sessions: it gave this one an id.
[[nodiscard]] inline Declaration declaration_of(const codec::InitializeResult& result, Era era, bool sessions) {
  return {.era = era,
          .resources = result.declaration.resources,
          .subscribe = result.declaration.subscribe,
          .list_changed = result.declaration.list_changed,
          .sessions = sessions,
          .server_name = result.server_name,
          .server_version = result.server_version};
}

}  // namespace freshet::session
