#include "proxy/net/origin.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "proxy/net/one_shot.hpp"
#include "proxy/net/task_group.hpp"
#include "proxy/net/tls.hpp"

namespace freshet::net {

namespace {

using asio::ip::tcp;
using Endpoint = asio::generic::stream_protocol::endpoint;

constexpr std::chrono::milliseconds stagger{250};  // RFC 8305 §5

// Families take turns, beginning with the one that the resolver prefers (RFC 8305 §4).
std::vector<Endpoint> take_turns(const std::vector<tcp::endpoint>& found) {
  std::vector<Endpoint> turns[2];
  for (const auto& endpoint : found)
    turns[endpoint.protocol() == found.front().protocol() ? 0 : 1].emplace_back(endpoint);
  std::vector<Endpoint> all;
  for (std::size_t i = 0; all.size() < found.size(); ++i) {
    for (const auto& family : turns)
      if (i < family.size()) all.push_back(family[i]);
  }
  return all;
}

using Answer = Result<std::vector<Endpoint>>;

// The system's resolver blocks its own thread and cannot be stopped, so that a wait that is over leaves it behind.
Task<Answer> ask_resolver(Executor executor, std::string host, std::uint16_t port, std::chrono::nanoseconds limit) {
  const auto answer = std::make_shared<OneShot<Answer>>(executor);
  asio::ip::basic_resolver<tcp, Executor> resolver(executor);
  using Results = asio::ip::tcp::resolver::results_type;
  resolver.async_resolve(host, std::to_string(port), tcp::resolver::numeric_service,
                         [answer](error_code ec, const Results& results) {
                           std::vector<tcp::endpoint> found;
                           for (const auto& entry : results) found.push_back(entry.endpoint());
                           answer->set(ec ? Answer(ec) : Answer(take_turns(found)));
                         });
  auto result = co_await answer->wait(limit);
  if (result) co_return std::move(*result);
  if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return error_code(asio::error::operation_aborted);
  co_return error_code(asio::error::timed_out);
}

Task<Answer> endpoints_of(Executor executor, const Origin& origin, std::chrono::nanoseconds limit) {
  if (!origin.unix_path.empty())
    co_return std::vector<Endpoint>{asio::local::stream_protocol::endpoint(origin.unix_path)};
  // Loopback whatever the system's files say, which may not even exist (RFC 6761 §6.3).
  if (origin.host == "localhost")
    co_return take_turns(
        {{asio::ip::address_v6::loopback(), origin.port}, {asio::ip::address_v4::loopback(), origin.port}});
  error_code not_an_address;
  const auto address = asio::ip::make_address(origin.host, not_an_address);
  if (!not_an_address) co_return std::vector<Endpoint>{tcp::endpoint(address, origin.port)};
  co_return co_await ask_resolver(executor, origin.host, origin.port, limit);
}

// Attempts under way at once; the first that succeeds counts.
struct Race {
  TaskGroup attempts;
  Timer changed;
  std::optional<Socket> winner;
  error_code failure = asio::error::host_not_found;
  std::size_t running = 0;

  explicit Race(Executor executor) : attempts(executor), changed(executor) {}
};

Task<> attempt(Race& race, Executor executor, Endpoint to) {
  Socket socket(executor);
  error_code ec;
  socket.open(to.protocol(), ec);
  if (!ec) co_await socket.async_connect(to, asio::redirect_error(use_task, ec));
  --race.running;
  if (ec && ec != asio::error::operation_aborted) race.failure = ec;
  if (!ec && !race.winner) race.winner = std::move(socket);
  race.changed.cancel();
}

// Until an attempt ended, or `limit`.
Task<> news(Race& race, Clock::time_point limit) {
  const auto running = race.running;
  race.changed.expires_at(limit);
  if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return;
  error_code ec;
  while (!ec && race.running == running && !race.winner)
    co_await race.changed.async_wait(asio::redirect_error(use_task, ec));
}

Task<Result<Socket>> connect_first(Executor executor, std::vector<Endpoint> endpoints, Clock::time_point until) {
  Race race(executor);
  for (const auto& endpoint : endpoints) {
    ++race.running;
    race.attempts.spawn(attempt(race, executor, endpoint));
    co_await news(race, std::min(until, after(stagger)));
    if (race.winner) break;
  }
  while (!race.winner && race.running > 0 && after(std::chrono::nanoseconds(0)) < until) {
    if (is_cancelled(co_await asio::this_coro::cancellation_state)) break;
    co_await news(race, until);
  }
  const bool timed_out = !race.winner && race.running > 0;
  race.attempts.cancel();
  co_await race.attempts.join();
  if (race.winner) co_return std::move(*race.winner);
  if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return asio::error::operation_aborted;
  co_return timed_out ? error_code(asio::error::timed_out) : race.failure;
}

}  // namespace

std::string Origin::authority() const {
  if (host.empty()) return "localhost";
  const auto name = host.substr(0, host.find('%'));
  const auto bracketed = name.find(':') == std::string::npos ? name : '[' + name + ']';
  const std::uint16_t usual = tls ? 443 : 80;
  return port == usual || !unix_path.empty() ? bracketed : bracketed + ':' + std::to_string(port);
}

Task<Result<Transport>> connect(Executor executor, const Origin& origin, asio::ssl::context* tls,
                                std::chrono::nanoseconds time_max) {
  const auto until = after(time_max);
  auto endpoints = co_await endpoints_of(executor, origin, time_max);
  if (!endpoints) co_return endpoints.error();
  auto socket = co_await connect_first(executor, std::move(*endpoints), until);
  if (!socket) co_return socket.error();
  tune(*socket);
  if (!origin.tls) co_return Transport(std::move(*socket));
  co_return co_await handshake_as_client(std::move(*socket), *tls, origin.host, until);
}

}  // namespace freshet::net
