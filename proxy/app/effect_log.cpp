#include "proxy/app/effect_log.hpp"

#include <string>

#include "proxy/net/log.hpp"

namespace freshet::app {

namespace {

struct Logger {
  const Settings& settings;

  [[nodiscard]] std::string name(UpstreamId id) const { return settings.upstreams[index(id)].name; }
  [[nodiscard]] std::string name(PartnerId id) const { return settings.partners[index(id)].name; }

  void operator()(const StrategyChanged& e) const {
    const auto level = e.to == Strategy::poll ? spdlog::level::warn : spdlog::level::info;
    log::write(level, "strategy_changed",
               {{"upstream", name(e.upstream)},
                {"scope", e.uri.empty() ? "connection" : "subscription"},
                {"from", std::string(to_string(e.from))},
                {"to", std::string(to_string(e.to))},
                {"reason", std::string(to_string(e.reason))}});
  }
  void operator()(const PartnerPaused& e) const {
    log::warn("partner_paused", {{"partner", name(e.partner)},
                                 {"seconds", std::to_string(seconds(e.length))},
                                 {"reason", e.throttled ? "throttled" : "failing"}});
  }
  void operator()(const PartnerResumed& e) const { log::info("partner_resumed", {{"partner", name(e.partner)}}); }
  void operator()(const PrincipalRefused& e) const {
    log::warn("credential_refused",
              {{"upstream", name(e.upstream)}, {"effect", "its reads stop until the client sends a newer one"}});
  }
  void operator()(const ResourceRefused& e) const {
    log::warn("resource_refused", {{"upstream", name(e.upstream)}, {"effect", "this resource is not polled any more"}});
  }
  void operator()(const SessionsDisagreed& e) const {
    log::info("sessions_disagree",
              {{"upstream", name(e.upstream)}, {"effect", "the resource is watched apart for one session"}});
  }
  void operator()(const RefuseRequest& e) const { log::info("request_refused", {{"reason", e.message}}); }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

void log_effect(const Effect& effect, const Settings& settings) {
  std::visit(Logger{settings}, effect);
}

}  // namespace freshet::app
