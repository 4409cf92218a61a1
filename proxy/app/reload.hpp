// Reads the configuration again on SIGHUP, and when its file changed. What is good is taken on at once; of what is not,
// every mistake is said, and what ran before runs on.
#pragma once

#include <optional>
#include <string>

#include <boost/asio/signal_set.hpp>

#include "config/file_identity.hpp"
#include "config/load.hpp"
#include "proxy/app/app.hpp"
#include "proxy/net/alarm.hpp"

namespace freshet::app {

class Reload {
 public:
  // Both must outlive it. `config_path` empty: there is no file to watch.
  Reload(net::asio::io_context& io, App& app, const config::Sources& sources, const std::string& config_path);
  Reload(const Reload&) = delete;
  Reload& operator=(const Reload&) = delete;

  // SIGHUP is caught from the beginning, and answered from start() until stop().
  void start();
  void stop();

 private:
  void await_signal();
  void await_change();
  void reload(const char* cause);

  App& app_;
  const config::Sources& sources_;
  std::optional<config::FileWatch> file_;
  net::asio::signal_set signals_;
  net::Timer look_;
  bool stopped_ = false;
};

}  // namespace freshet::app
