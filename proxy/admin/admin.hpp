// What an operator asks a running sidecar: metrics, health, status, the live page.
#pragma once

#include <functional>
#include <string>

#include "config/settings.hpp"
#include "metrics/metrics.hpp"
#include "proxy/admin/actions.hpp"
#include "proxy/admin/activity.hpp"
#include "proxy/admin/json_values.hpp"
#include "proxy/admin/live.hpp"
#include "proxy/admin/reload_report.hpp"
#include "proxy/admin/status_query.hpp"
#include "proxy/admin/uri_mask.hpp"
#include "proxy/net/http_server.hpp"
#include "strategies/engine.hpp"

namespace freshet::admin {

struct StatusInput;

// What the answers are made of. All must outlive the Admin.
struct Sources {
  const config::Settings& settings;
  Engine& engine;
  Metrics& metrics;
  std::function<Now()> now;
  std::function<bool()> draining;
  std::function<void(const Event&)> apply;    // an operator's actions
  std::optional<config::SecretReader> token;  // of settings.admin.token
  std::string version;
};

class Admin {
 public:
  explicit Admin(Sources sources);
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  // GET and HEAD of
  //   /         the live page, with its files /icon.svg, /page.css and /page.js
  //   /metrics  the Prometheus text format
  //   /healthz  200 while the process lives; /readyz 503 while it drains
  //   /status   JSON; parameters: status_query.hpp
  //   /history  JSON: requests per second over the last hour
  //   /events   server-sent events: /status without subscriptions, about once a second
  // and POST of /actions/... (actions.hpp).
  // Another path is 404, another method 405. On a loopback address a Host that names another machine is 403: a page
  // elsewhere may have had its name point here (DNS rebinding).
  net::Task<> handle(net::ServerExchange& client);

  // What the engine told to do or said, for the list of recent events.
  void observe(const Effect& effect, Now now) { activity_.observe(effect, now); }

  // The settings that it was made with changed, and with them the token of the actions.
  void settings_changed(std::optional<config::SecretReader> token);
  // The configuration was read again, whatever came of it.
  void reloaded(ReloadReport report);

  // Keeps the history of requests until cancelled. To be run once, beside handle().
  net::Task<> keep_history();

 private:
  [[nodiscard]] bool host_allowed(const codec::RequestHead& head) const;
  net::Task<> answer(net::ServerExchange& client, std::string_view path);
  // These walk over all subscriptions, and yield to the loop between two steps.
  net::Task<Json> status(StatusQuery query) const;
  net::Task<std::string> metrics_text() const;
  net::Task<std::string> status_text(StatusQuery query) const;
  [[nodiscard]] std::string history_text() const;
  [[nodiscard]] StatusInput input() const;

  Sources sources_;
  UriMask mask_;
  Now started_;
  bool loopback_;
  Activity activity_;
  std::optional<ReloadReport> reload_;
  Live live_;
  Actions actions_;
};

}  // namespace freshet::admin
