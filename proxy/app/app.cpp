#include "proxy/app/app.hpp"

#include <algorithm>
#include <functional>

#include <openssl/rand.h>

#include "proxy/net/log.hpp"
#include "proxy/net/tls.hpp"
#include "proxy/session/upstream_stream.hpp"

namespace freshet::app {

namespace {

std::chrono::milliseconds ms(Duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d);
}

net::ListenAddress listen_address(const config::Address& address) {
  if (const auto* tcp = std::get_if<config::TcpAddress>(&address)) return net::TcpEndpoint{tcp->host, tcp->port};
  return net::UnixEndpoint{std::get<config::UnixAddress>(address).path};
}

bool is_loopback(const config::Address& address) {
  const auto* tcp = std::get_if<config::TcpAddress>(&address);
  return tcp == nullptr || tcp->host == "localhost" || tcp->host == "::1" || tcp->host.starts_with("127.");
}

std::string bound_address(const config::Address& address, std::uint16_t port) {
  const auto* tcp = std::get_if<config::TcpAddress>(&address);
  if (tcp == nullptr) return "unix:" + std::get<config::UnixAddress>(address).path;
  const bool v6 = tcp->host.find(':') != std::string::npos;
  return (v6 ? "[" + tcp->host + "]" : tcp->host) + ":" + std::to_string(port);
}

net::HttpServerLimits server_limits(const config::Settings& s) {
  return {.head_bytes_max = s.limits.head_bytes_max,
          .head_time_max = ms(s.listen.head_time_max),
          .idle_time_max = ms(s.listen.idle_time_max),
          .body_stall_max = ms(s.listen.body_stall_max),
          .write_stall_max = ms(s.listen.write_stall_max)};
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&seed), sizeof seed) != 1) throw std::runtime_error("no randomness");
  return seed;
}

constexpr std::size_t admin_connections_max = 64;

}  // namespace

struct App::Parts {
  Parts(net::asio::io_context& io, const config::Settings& s, const config::Environment& variables,
        std::string version);

  void give_back_subscriptions();
  [[nodiscard]] bool reads_wait() const;
  [[nodiscard]] std::optional<config::SecretReader> admin_token() const;

  config::Settings settings;  // what everybody refers to; only reconfigure() changes it
  const config::Environment& environment;
  net::Executor executor;
  Engine engine;
  Metrics metrics;
  Loop loop;
  session::PrincipalKeyer principals;
  net::TaskGroup own_tasks;
  net::TaskGroup connections;
  net::TaskGroup admin_connections;
  std::vector<std::unique_ptr<net::asio::ssl::context>> tls;
  session::Shell shell;
  session::Sessions sessions;
  session::OwnCalls calls;
  session::Gateway gateway;
  admin::Admin admin;
  net::Listener listener;
  net::Listener admin_listener;
};

namespace {

net::asio::ssl::context* server_tls(const config::Settings& s,
                                    std::vector<std::unique_ptr<net::asio::ssl::context>>& kept) {
  if (s.listen.tls.cert_file.empty()) return nullptr;
  kept.push_back(std::make_unique<net::asio::ssl::context>(
      net::make_server_context(s.listen.tls.cert_file, s.listen.tls.key_file)));
  return kept.back().get();
}

}  // namespace

std::optional<config::SecretReader> App::Parts::admin_token() const {
  return settings.admin.token ? std::optional(config::SecretReader(*settings.admin.token, environment)) : std::nullopt;
}

App::Parts::Parts(net::asio::io_context& io, const config::Settings& s, const config::Environment& variables,
                  std::string version)
    : settings(s),
      environment(variables),
      executor(io.get_executor()),
      engine(engine_settings(settings), random_seed()),
      metrics(engine.settings(), version),
      loop(executor, engine, metrics),
      principals(settings.principal_headers),
      own_tasks(executor),
      connections(executor),
      admin_connections(executor),
      shell{.executor = executor,
            .settings = settings,
            .engine = loop,
            .principals = principals,
            .tasks = own_tasks,
            .pending = session::Pending(executor),
            .upstreams = {}},
      sessions(shell, [this](session::Session& session) { calls.end_upstream_session(session); }),
      calls(shell, sessions),
      gateway((
                  [&] {
                    for (std::size_t i = 0; i < settings.upstreams.size(); ++i) {
                      const config::Upstream& u = settings.upstreams[i];
                      net::asio::ssl::context* context = nullptr;
                      if (u.url.tls) {
                        tls.push_back(std::make_unique<net::asio::ssl::context>(
                            net::make_client_context(u.tls.ca_file, u.tls.verify)));
                        context = tls.back().get();
                      }
                      shell.upstreams.push_back(
                          std::make_unique<session::Upstream>(executor, UpstreamId{static_cast<std::uint32_t>(i)}, u,
                                                              settings.limits.head_bytes_max, context, environment));
                    }
                  }(),
                  shell),
              sessions, calls, is_loopback(settings.listen.address)),
      admin({.settings = settings,
             .engine = engine,
             .metrics = metrics,
             .now = [this] { return loop.now(); },
             .draining = [this] { return shell.draining; },
             .apply = [this](const Event& event) { loop.apply(event); },
             .token = admin_token(),
             .version = std::move(version)}),
      listener(executor, listen_address(settings.listen.address), server_tls(settings, tls), server_limits(settings),
               settings.listen.connections_max),
      admin_listener(executor, listen_address(settings.admin.address), nullptr, server_limits(settings),
                     admin_connections_max) {
  loop.connect({shell.pending, sessions, calls, admin});
  metrics.configured(loop.now().wall);
}

App::App(net::asio::io_context& io, const config::Settings& settings, const config::Environment& environment,
         std::string version)
    : parts_(std::make_unique<Parts>(io, settings, environment, std::move(version))) {}

App::~App() = default;

void App::start() {
  parts_->listener.start(parts_->connections,
                         [p = parts_.get()](net::ServerExchange& x) { return p->gateway.handle(x); });
  parts_->admin_listener.start(parts_->admin_connections,
                               [p = parts_.get()](net::ServerExchange& x) { return p->admin.handle(x); });
  parts_->admin_connections.spawn(parts_->admin.keep_history());
}

const config::Settings& App::settings() const {
  return parts_->settings;
}

void App::reconfigure(const config::Settings& next) {
  Parts& p = *parts_;
  p.settings = next;
  for (const auto& upstream : p.shell.upstreams) upstream->configure(p.settings.upstreams[index(upstream->id())]);
  p.admin.settings_changed(p.admin_token());
  p.loop.apply(Reconfigured{std::make_shared<const Settings>(engine_settings(p.settings))});
  p.sessions.settings_changed();
}

void App::reloaded(std::vector<std::string> changed, std::vector<std::string> errors) {
  const WallTime now = parts_->loop.now().wall;
  parts_->metrics.reloaded(errors.empty() ? ReloadResult::applied : ReloadResult::refused, now);
  parts_->admin.reloaded({.at = now, .changed = std::move(changed), .errors = std::move(errors)});
}

std::string App::address() const {
  return bound_address(parts_->settings.listen.address, parts_->listener.port());
}
std::string App::admin_address() const {
  return bound_address(parts_->settings.admin.address, parts_->admin_listener.port());
}

void App::Parts::give_back_subscriptions() {
  std::vector<std::pair<SubscriberId, std::string>> open;
  engine.for_each_subscription(loop.now().instant,
                               [&](const SubscriptionView& view) { open.emplace_back(view.subscriber, view.uri); });
  for (auto& [subscriber, uri] : open) loop.apply(UnsubscribeAsked{subscriber, RequestId{}, std::move(uri)});
}

bool App::Parts::reads_wait() const {
  return std::ranges::any_of(engine.partners(loop.now().instant), [](const PartnerView& p) { return p.waiting > 0; });
}

namespace {

// True if it came to be so in time.
net::Task<bool> comes_true(std::function<bool()> condition, net::Executor executor, net::Clock::time_point until) {
  net::Timer poll(executor);
  while (!condition() && net::Clock::now() < until) {
    poll.expires_after(std::chrono::milliseconds(10));
    net::error_code ec;
    co_await poll.async_wait(net::asio::redirect_error(net::use_task, ec));
  }
  co_return condition();
}

}  // namespace

net::Task<> App::drain() {
  Parts& p = *parts_;
  const auto until = net::after(p.settings.drain_time_max);
  log::info("draining", {{"sessions", std::to_string(p.sessions.size())}});
  p.shell.draining = true;
  p.listener.close();
  p.give_back_subscriptions();
  p.sessions.for_each([](session::Session& session) {
    session.wake.cancel();
    for (session::CallInFlight* call : session.calls) {
      if (call->id_json().empty()) call->cancel(std::chrono::nanoseconds(0));
    }
  });
  std::function<bool()> condition = [&p] { return p.connections.size() == 0; };
  const bool connections_ended = co_await comes_true(condition, p.executor, until);
  if (!connections_ended) log::warn("drain_cut_short", {{"connections", std::to_string(p.connections.size())}});
  p.connections.cancel();
  co_await p.connections.join();
  p.sessions.for_each([](session::Session& session) {
    if (session.upstream_stream != nullptr) session.upstream_stream->stop();
  });
  condition = [&p] { return p.own_tasks.size() == 0 && !p.reads_wait(); };
  const bool given_back = co_await comes_true(condition, p.executor, until);
  if (!given_back) log::warn("drain_cut_short", {{"own_requests", std::to_string(p.own_tasks.size())}});
  p.own_tasks.cancel();
  co_await p.own_tasks.join();
  p.sessions.close_all();
  p.loop.stop();
  p.admin_listener.close();
  p.admin_connections.cancel();
  co_await p.admin_connections.join();
  for (const auto& upstream : p.shell.upstreams) upstream->http().close_idle();
  log::info("stopped");
}

}  // namespace freshet::app
