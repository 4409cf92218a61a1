// The composition root: makes everything once, in order, and takes it down in the opposite order.
#pragma once

#include <string>
#include <vector>

#include "config/secret.hpp"
#include "config/settings.hpp"
#include "proxy/admin/admin.hpp"
#include "proxy/app/engine_settings.hpp"
#include "proxy/app/loop.hpp"
#include "proxy/net/listener.hpp"
#include "proxy/session/gateway.hpp"

namespace freshet::app {

class App {
 public:
  // Binds its listeners. Throws std::exception with a text for the operator: this is start-up.
  App(net::asio::io_context& io, const config::Settings& settings, const config::Environment& environment,
      std::string version);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  // Serves from now on.
  void start();
  // Ends in order, within settings.drain_time_max: no new sessions, what is in flight finishes, streams end, upstream
  // subscriptions are given back. Completes when nothing is left.
  net::Task<> drain();

  [[nodiscard]] const config::Settings& settings() const;
  // Goes on with other settings; nothing that is under way ends. Requires that config::reload gave them for settings().
  void reconfigure(const config::Settings& next);
  // The configuration was read again: counted and shown, whatever came of it.
  void reloaded(std::vector<std::string> changed, std::vector<std::string> errors);

  // What was really bound, e.g. "127.0.0.1:7300" or "unix:/run/freshet.sock".
  [[nodiscard]] std::string address() const;
  [[nodiscard]] std::string admin_address() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace freshet::app
