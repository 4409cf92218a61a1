#include "proxy/app/commands.hpp"

#include <csignal>
#include <iostream>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>

#include "config/document.hpp"
#include "proxy/app/admin_client.hpp"
#include "proxy/app/app.hpp"
#include "proxy/app/demo.hpp"
#include "proxy/app/log_setup.hpp"
#include "proxy/app/plan_report.hpp"
#include "proxy/app/reload.hpp"
#include "proxy/net/log.hpp"

namespace freshet::app {

namespace {

constexpr int wrong_settings = 2;

int serve(const config::LoadResult& loaded, const config::Sources& sources) {
  const config::Settings& settings = loaded.settings;
  set_up_log(settings.log);
  std::signal(SIGPIPE, SIG_IGN);
  net::asio::io_context io(1);
  App app(io, settings, sources.environment, FRESHET_VERSION);
  Reload reload(io, app, sources, loaded.config_path);
  net::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](const net::error_code& ec, int) {
    if (ec) return;
    reload.stop();
    net::asio::co_spawn(io.get_executor(), app.drain(), [](const std::exception_ptr& failure) {
      if (failure) std::rethrow_exception(failure);
    });
  });
  app.start();
  reload.start();
  log::info("listening", {{"address", app.address()}, {"admin", app.admin_address()}, {"version", FRESHET_VERSION}});
  for (const config::Upstream& upstream : settings.upstreams) {
    log::info("upstream", {{"name", upstream.name},
                           {"path", upstream.path},
                           {"partner", upstream.partner_name},
                           {"interval_s", std::to_string(seconds(upstream.freshness.interval))}});
  }
  io.run();
  return 0;
}

int plan(const config::Settings& settings, bool json) {
  const std::vector<PartnerPlan> plans = plans_of(settings);
  std::cout << (json ? plan_json(plans).dump(2) + "\n" : plan_text(settings, plans));
  return 0;
}

int report(const std::vector<std::string>& errors) {
  for (const std::string& error : errors) std::cerr << error << '\n';
  std::cerr << errors.size() << (errors.size() == 1 ? " mistake" : " mistakes") << " in the configuration\n";
  return wrong_settings;
}

}  // namespace

int run_command(const config::LoadResult& loaded, const config::Sources& sources) {
  using Kind = config::Command::Kind;
  if (loaded.command.kind == Kind::help) return std::cout << config::help_text(), 0;
  if (loaded.command.kind == Kind::version) return std::cout << "freshet " << FRESHET_VERSION << '\n', 0;
  for (const std::string& warning : loaded.warnings) std::cerr << "warning: " << warning << '\n';
  if (!loaded.ok()) return report(loaded.errors);
  switch (loaded.command.kind) {
    case Kind::run: {
      const auto missing = config::unresolved(loaded.settings, sources);
      return missing.empty() ? serve(loaded, sources) : report(missing);
    }
    case Kind::check:
      return std::cout << "the configuration is good\n", 0;
    case Kind::demo:
      return demo(loaded, sources);
    case Kind::status:
      return status(loaded.settings, loaded.command.has("json"));
    case Kind::health:
      return health(loaded.settings);
    case Kind::top:
      return top(loaded.settings);
    case Kind::plan:
      return plan(loaded.settings, loaded.command.has("json"));
    case Kind::help:
    case Kind::version:
      break;
  }
  return 0;  // done above
}

}  // namespace freshet::app
