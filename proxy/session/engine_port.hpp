// The engine as the shell sees it.
#pragma once

#include "metrics/metrics.hpp"
#include "strategies/engine.hpp"

namespace freshet::session {

class EnginePort {
 public:
  // Hands an event to the engine and performs the effects, in their order, before it returns. What comes of an effect
  // is never known inside this call.
  virtual void apply(const Event& event) = 0;
  [[nodiscard]] virtual Engine& engine() = 0;
  [[nodiscard]] virtual Now now() const = 0;
  [[nodiscard]] virtual Metrics& metrics() = 0;

 protected:
  ~EnginePort() = default;
};

}  // namespace freshet::session
