// The one place where the engine meets the clock: events go in here, effects are performed in their order, and one
// timer wakes the engine when it wants.
#pragma once

#include "metrics/metrics.hpp"
#include "proxy/admin/admin.hpp"
#include "proxy/net/alarm.hpp"
#include "proxy/session/engine_port.hpp"
#include "proxy/session/own_calls.hpp"
#include "proxy/session/pending.hpp"
#include "proxy/session/sessions.hpp"
#include "strategies/engine.hpp"

namespace freshet::app {

// Where each kind of effect is done.
struct Performers {
  session::Pending& pending;
  session::Sessions& sessions;
  session::OwnCalls& calls;
  admin::Admin& admin;
};

class Loop final : public session::EnginePort {
 public:
  Loop(net::Executor executor, Engine& engine, Metrics& metrics);

  // To be called once, before the first event.
  void connect(Performers performers) { performers_.emplace(performers); }
  // No wake-up after this; events still count.
  void stop() { stopped_ = true, timer_.cancel(); }

  void apply(const Event& event) override;
  [[nodiscard]] Engine& engine() override { return engine_; }
  [[nodiscard]] Now now() const override;
  [[nodiscard]] Metrics& metrics() override { return metrics_; }

 private:
  void perform(const Effect& effect);
  void arm();

  Engine& engine_;
  Metrics& metrics_;
  std::optional<Performers> performers_;
  net::Timer timer_;
  Instant armed_for_ = never;
  Effects effects_;
  bool applying_ = false;
  bool stopped_ = false;
};

}  // namespace freshet::app
