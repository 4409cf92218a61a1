// What an operator asks a running sidecar: metrics, health, status.
#pragma once

#include <functional>
#include <string>

#include "config/settings.hpp"
#include "metrics/metrics.hpp"
#include "proxy/admin/uri_mask.hpp"
#include "proxy/net/http_server.hpp"
#include "strategies/engine.hpp"

namespace freshet::admin {

// What the answers are made of. All must outlive the Admin.
struct Sources {
  const config::Settings& settings;
  Engine& engine;
  Metrics& metrics;
  std::function<Now()> now;
  std::function<bool()> draining;
  std::string version;
};

class Admin {
 public:
  explicit Admin(Sources sources);

  // GET and HEAD of /metrics, /healthz, /readyz, /status (parameters: status_query.hpp); another path is 404, another
  // method 405. On a loopback address a Host that names another machine is 403: a page elsewhere may have had its name
  // point here (DNS rebinding).
  net::Task<> handle(net::ServerExchange& client);

 private:
  [[nodiscard]] bool host_allowed(const codec::RequestHead& head) const;
  [[nodiscard]] std::string metrics_text() const;
  [[nodiscard]] std::string status_text(std::string_view target) const;

  Sources sources_;
  UriMask mask_;
  Now started_;
  bool loopback_;
};

}  // namespace freshet::admin
