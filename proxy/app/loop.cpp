#include "proxy/app/loop.hpp"

#include <cassert>
#include <utility>

#include "proxy/app/effect_log.hpp"

namespace freshet::app {

Loop::Loop(net::Executor executor, Engine& engine, Metrics& metrics)
    : engine_(engine), metrics_(metrics), timer_(executor) {}

Now Loop::now() const {
  return {.instant = Instant(net::Clock::now().time_since_epoch()),
          .wall = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now())};
}

void Loop::apply(const Event& event) {
  assert(!applying_);  // performing an effect never re-enters the engine
  applying_ = true;
  metrics_.observe(event);
  const Now at = now();
  engine_.apply(event, at, effects_);
  for (const Effect& effect : effects_) {
    metrics_.observe(effect);
    performers_->admin.observe(effect, at);
    log_effect(effect, engine_.settings());
    perform(effect);
  }
  effects_.clear();
  applying_ = false;
  arm();
}

void Loop::perform(const Effect& effect) {
  struct Visitor {
    Performers& to;

    void operator()(const SendRead& e) { to.calls.perform(e); }
    void operator()(const SendNativeSubscribe& e) { to.calls.perform(e); }
    void operator()(const SendNativeUnsubscribe& e) { to.calls.perform(e); }
    void operator()(const SendListPage& e) { to.calls.perform(e); }
    void operator()(const AnswerSubscribe& e) { to.pending.answer(e.request, e); }
    void operator()(const AnswerUnsubscribe& e) { to.pending.answer(e.request, e); }
    void operator()(const RefuseRequest& e) { to.pending.answer(e.request, e); }
    void operator()(const ForwardRead& e) {
      if (!to.pending.answer(e.request, e)) to.calls.give_up(e.read);
    }
    void operator()(const ServeRead& e) { to.pending.answer(e.request, e); }
    void operator()(const Notify& e) { to.sessions.perform(e); }
    void operator()(const Withdraw& e) { to.sessions.perform(e); }
    void operator()(const Relay& e) { to.sessions.perform(e); }
    void operator()(const NotifyListChanged& e) { to.sessions.perform(e); }
    // Facts: counted and logged, nothing to do.
    void operator()(const ReadJudged&) {}
    void operator()(const NoticeDelivered&) {}
    void operator()(const NoticeCoalesced&) {}
    void operator()(const StrategyChanged&) {}
    void operator()(const WatchdogChecked&) {}
    void operator()(const PartnerPaused&) {}
    void operator()(const PartnerResumed&) {}
    void operator()(const PrincipalRefused&) {}
    void operator()(const ResourceRefused&) {}
    void operator()(const LateAfterClose&) {}
    void operator()(const BudgetWaited&) {}
    void operator()(const ListScanned&) {}
    void operator()(const SessionsDisagreed&) {}
    void operator()(const NoticeWithheld&) {}
  };
  std::visit(Visitor{*performers_}, effect);
}

void Loop::arm() {
  const Instant wake = engine_.next_wake();
  if (stopped_ || wake == armed_for_) return;
  armed_for_ = wake;
  if (wake == never) return void(timer_.cancel());
  timer_.expires_at(net::Clock::time_point(wake.time_since_epoch()));
  timer_.async_wait([this](const net::error_code& ec) {
    if (ec) return;
    armed_for_ = never;
    apply(Woken{});
  });
}

}  // namespace freshet::app
