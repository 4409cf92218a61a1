#include "proxy/app/reload.hpp"

#include <csignal>

#include "config/reload.hpp"
#include "proxy/app/log_setup.hpp"
#include "proxy/net/log.hpp"

namespace freshet::app {

namespace {

// A kubelet takes up to a minute to bring a changed ConfigMap; a stat is nothing.
constexpr auto look_interval = std::chrono::seconds(1);

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

}  // namespace

Reload::Reload(net::asio::io_context& io, App& app, const config::Sources& sources, const std::string& config_path)
    : app_(app), sources_(sources), signals_(io, SIGHUP), look_(io.get_executor()) {
  if (!config_path.empty()) file_.emplace(config_path);
}

void Reload::start() {
  await_signal();
  if (file_) await_change();
}

void Reload::stop() {
  stopped_ = true;
  signals_.cancel();
  look_.cancel();
}

void Reload::await_signal() {
  signals_.async_wait([this](const net::error_code& ec, int) {
    if (ec || stopped_) return;
    reload("SIGHUP");
    await_signal();
  });
}

void Reload::await_change() {
  look_.expires_after(look_interval);
  look_.async_wait([this](const net::error_code& ec) {
    if (ec || stopped_) return;
    if (file_->changed()) reload("file");
    await_change();
  });
}

void Reload::reload(const char* cause) {
  if (file_) file_->know();
  config::Reloaded read = config::reload(app_.settings(), sources_);
  for (const std::string& warning : read.warnings) log::warn("configuration_warning", {{"reason", warning}});
  for (const std::string& error : read.errors) log::error("configuration_mistake", {{"reason", error}});
  if (read.ok()) {
    set_up_log(read.settings.log);
    app_.reconfigure(read.settings);
    log::info("reloaded", {{"cause", cause}, {"changed", joined(read.changed)}});
  } else {
    log::error("reload_refused", {{"cause", cause},
                                  {"mistakes", std::to_string(read.errors.size())},
                                  {"effect", "the configuration that ran before runs on, whole"},
                                  {"remedy", "mend what is named, or restart if it needs one"}});
  }
  app_.reloaded(std::move(read.changed), std::move(read.errors));
}

}  // namespace freshet::app
