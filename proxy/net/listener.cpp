#include "proxy/net/listener.hpp"

#include <vector>

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "proxy/net/acceptor.hpp"
#include "proxy/net/log.hpp"
#include "proxy/net/tls.hpp"

namespace freshet::net {

namespace {

constexpr std::chrono::seconds handshake_time_max{10};
constexpr std::chrono::milliseconds accept_pause{100};  // after a failure that trying again at once would only repeat

Task<> wait(Timer& timer) {
  if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return;
  error_code ec;
  co_await timer.async_wait(asio::redirect_error(use_task, ec));
}

}  // namespace

struct Listener::State {
  Executor executor;
  asio::ssl::context* tls;
  HttpServerLimits limits;
  std::size_t connections_max;
  std::vector<Acceptor> acceptors;
  std::string unix_path;
  std::uint16_t port = 0;
  Handler handler;
  ServerConnections connections;
  std::size_t open = 0;
  Timer room;  // never expires; its cancellation says that there may be room again

  State(Executor loop, asio::ssl::context* context, HttpServerLimits bounds, std::size_t count_max)
      : executor(loop),
        tls(context),
        limits(bounds),
        connections_max(count_max),
        room(loop, Clock::time_point::max()) {}

  void close();
  static Task<> accept(std::shared_ptr<State> state, std::size_t which, TaskGroup& group);
  static Task<> serve(std::shared_ptr<State> state, Socket socket);
};

void Listener::State::close() {
  error_code ignored;
  for (auto& acceptor : acceptors) acceptor.close(ignored);
  if (!unix_path.empty()) ::unlink(std::exchange(unix_path, {}).c_str());
  connections.drain();
  room.cancel();
}

Task<> Listener::State::accept(std::shared_ptr<State> state, std::size_t which, TaskGroup& group) {
  auto& acceptor = state->acceptors[which];
  while (acceptor.is_open() && !is_cancelled(co_await asio::this_coro::cancellation_state)) {
    if (state->open >= state->connections_max) {
      co_await wait(state->room);
      continue;
    }
    Socket socket(state->executor);
    error_code ec;
    co_await acceptor.async_accept(socket, asio::redirect_error(use_task, ec));
    if (!ec) {
      ++state->open;
      group.spawn(serve(state, std::move(socket)));
    } else if (ec != asio::error::operation_aborted && ec != asio::error::connection_aborted) {
      log::warn("accept failed", {{"port", std::to_string(state->port)}, {"error", ec.message()}});
      Timer pause(state->executor, after(accept_pause));
      co_await wait(pause);
    }
  }
}

Task<> Listener::State::serve(std::shared_ptr<State> state, Socket socket) {
  tune(socket);
  if (state->tls) {
    auto secure = co_await handshake_as_server(std::move(socket), *state->tls, after(handshake_time_max));
    if (secure) co_await serve_connection(std::move(*secure), state->limits, state->handler, state->connections);
  } else {
    co_await serve_connection(Transport(std::move(socket)), state->limits, state->handler, state->connections);
  }
  --state->open;
  state->room.cancel();
}

Listener::Listener(Executor executor, const ListenAddress& address, asio::ssl::context* tls, HttpServerLimits limits,
                   std::size_t connections_max)
    : state_(std::make_shared<State>(executor, tls, limits, connections_max)) {
  if (const auto* tcp = std::get_if<TcpEndpoint>(&address)) {
    state_->acceptors = listen_on_tcp(executor, tcp->host, tcp->port);
    state_->port = port_of(state_->acceptors.front());
  } else {
    const auto& path = std::get<UnixEndpoint>(address).path;
    state_->acceptors.push_back(listen_on_unix(executor, path));
    state_->unix_path = path;
  }
}

Listener::~Listener() {
  state_->close();
}

void Listener::start(TaskGroup& group, Handler handler) {
  state_->handler = std::move(handler);
  for (std::size_t i = 0; i < state_->acceptors.size(); ++i) group.spawn(State::accept(state_, i, group));
}

void Listener::close() {
  state_->close();
}

std::uint16_t Listener::port() const {
  return state_->port;
}

std::size_t Listener::connections() const {
  return state_->open;
}

}  // namespace freshet::net
