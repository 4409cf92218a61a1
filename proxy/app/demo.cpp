#include "proxy/app/demo.hpp"

#include <csignal>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>

#include <boost/asio/signal_set.hpp>

#include "config/types.hpp"
#include "proxy/app/app.hpp"
#include "proxy/app/demo_report.hpp"
#include "proxy/app/demo_server.hpp"
#include "proxy/app/log_setup.hpp"
#include "proxy/codec/url.hpp"

namespace freshet::app {

namespace {

constexpr int failed = 1;
constexpr int wrong_settings = 2;

std::uint64_t random_seed() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

// The demo's own settings: its upstream, and what it prefers where the operator says nothing.
config::Sources with_own_settings(config::Sources sources, const std::string& upstream_url) {
  const auto prefer = [&](const std::string& variable, const std::string& value) {
    std::string& present = sources.environment[variable];
    if (present.empty()) present = value;
  };
  prefer("FRESHET_INTERVAL", "2s");
  // A part of the bound; the default is made for servers that are farther away.
  prefer("FRESHET_UPSTREAM_READS_TIMEOUT", "2s");
  prefer("FRESHET_LOG_LEVEL", "warn");
  for (const std::string& argument : {std::string("--upstream"), upstream_url, std::string("--upstream-name=demo")}) {
    sources.arguments.push_back(argument);
  }
  return sources;
}

// Where a client finds the sidecar.
codec::Url url_of(const std::string& address, const std::string& path) {
  const auto url = codec::parse_url(address.starts_with("unix:") ? address + ":" + path : "http://" + address + path);
  if (!url) throw std::runtime_error(address + ": " + url.error().message);
  return *url;
}

class Demo {
 public:
  Demo(net::asio::io_context& io, DemoServer& server, App& app, const config::Settings& settings);

  // Until the end of `lasts`, a signal, or a failure.
  net::Task<> run(std::optional<Duration> lasts);
  void changed(const Deployment& deployment) { report_.changed(deployment, net::Clock::now()); }
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  net::Task<> wait(std::optional<Duration> lasts);
  net::Task<> subscribe();
  void read(const Reading& reading);
  void end();

  DemoServer& server_;
  App& app_;
  DemoReport report_;
  codec::Url url_;
  std::string path_;
  DemoSubscriber subscriber_;
  net::asio::signal_set signals_;
  net::Timer end_;
  net::TaskGroup tasks_;
  std::optional<DemoSubscriber::Failure> failure_;
  std::size_t first_reads_ = 0;
  bool ended_ = false;
  int exit_code_ = failed;
};

Demo::Demo(net::asio::io_context& io, DemoServer& server, App& app, const config::Settings& settings)
    : server_(server),
      app_(app),
      report_(settings.upstreams.front().freshness),
      url_(url_of(app.address(), settings.upstreams.front().path)),
      path_(settings.upstreams.front().path),
      subscriber_(io.get_executor(), {.tls = false, .host = url_.host, .port = url_.port, .unix_path = url_.unix_path},
                  url_.target, [this](const Reading& reading) { read(reading); }),
      signals_(io, SIGINT, SIGTERM),
      end_(io.get_executor(), net::Clock::time_point::max()),
      tasks_(io.get_executor()) {}

net::Task<> Demo::run(std::optional<Duration> lasts) {
  server_.start();
  app_.start();
  const std::string address = app_.address();
  report_.introduce({.server = server_.url(),
                     .freshet = (address.starts_with("unix:") ? address + ":" : "http://" + address) + path_,
                     .admin = app_.admin_address()});
  tasks_.spawn(subscribe());
  co_await wait(lasts);
  const bool told = report_.conclude(server_.reads(), net::Clock::now());
  exit_code_ = told && !failure_ ? 0 : failed;
  subscriber_.stop();
  co_await tasks_.join();
  if (failure_) std::cerr << "freshet demo: " << failure_->reason << '\n';
  co_await app_.drain();
  co_await server_.stop();
}

net::Task<> Demo::wait(std::optional<Duration> lasts) {
  signals_.async_wait([this](const net::error_code& ec, int) {
    if (!ec) end();
  });
  if (lasts) end_.expires_after(*lasts);
  net::error_code ec;
  if (!ended_) co_await end_.async_wait(net::asio::redirect_error(net::use_task, ec));
  signals_.clear();  // a second Ctrl-C does not wait for the drain
  signals_.cancel();
}

net::Task<> Demo::subscribe() {
  failure_ = co_await subscriber_.run();
  end();
}

void Demo::read(const Reading& reading) {
  if (!report_.read(reading)) return end();
  // What changes before it subscribed is none of the subscriber's business.
  if (!reading.notice && ++first_reads_ == server_.deployments().all().size()) server_.begin_changes();
}

void Demo::end() {
  ended_ = true;
  end_.cancel();
}

int run_demo(const config::LoadResult& loaded, const config::Sources& sources) {
  const auto lasts = loaded.command.has("for") ? config::parse_duration(loaded.command.options.at("for"))
                                               : config::Parsed<Duration>(Duration::zero());
  if (!lasts) {
    std::cerr << "freshet demo: --for " << lasts.error() << '\n';
    return wrong_settings;
  }
  net::asio::io_context io(1);
  std::optional<Demo> demo;
  DemoServer server(io.get_executor(), random_seed(), [&](const Deployment& changed) { demo->changed(changed); });
  const config::LoadResult own = config::load(with_own_settings(sources, server.url()));
  for (const std::string& error : own.errors) std::cerr << error << '\n';
  if (!own.ok()) return wrong_settings;
  set_up_log(own.settings.log);
  App app(io, own.settings, sources.environment, FRESHET_VERSION);
  demo.emplace(io, server, app, own.settings);
  net::TaskGroup whole(io.get_executor());
  whole.spawn(demo->run(loaded.command.has("for") ? std::optional(*lasts) : std::nullopt));
  io.run();
  return demo->exit_code();
}

}  // namespace

int demo(const config::LoadResult& loaded, const config::Sources& sources) {
  if (!loaded.settings.upstreams.empty()) {
    std::cerr
        << "freshet demo: it brings its own server; leave out --upstream, FRESHET_UPSTREAM and a file's upstreams\n";
    return wrong_settings;
  }
  if (!loaded.settings.listen.tls.cert_file.empty()) {
    std::cerr << "freshet demo: its subscriber speaks plain HTTP; leave out listen.tls\n";
    return wrong_settings;
  }
  std::signal(SIGPIPE, SIG_IGN);
  return run_demo(loaded, sources);
}

}  // namespace freshet::app
