// What everything in this folder shares: one of each, made by the composition root, alive until every task has ended.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "config/settings.hpp"
#include "proxy/net/task_group.hpp"
#include "proxy/session/engine_port.hpp"
#include "proxy/session/pending.hpp"
#include "proxy/session/principal.hpp"
#include "proxy/session/upstream.hpp"

namespace freshet::session {

struct Shell {
  net::Executor executor;
  const config::Settings& settings;
  EnginePort& engine;
  PrincipalKeyer& principals;
  net::TaskGroup& tasks;  // own requests and upstream streams
  Pending pending;
  std::vector<std::unique_ptr<Upstream>> upstreams;  // by UpstreamId
  bool draining = false;

  [[nodiscard]] std::chrono::sys_seconds wall_now() const {
    return std::chrono::floor<std::chrono::seconds>(engine.now().wall);
  }
};

}  // namespace freshet::session
