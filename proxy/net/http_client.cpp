#include "proxy/net/http_client.hpp"

#include <algorithm>

#include "proxy/net/client_exchange.hpp"
#include "proxy/net/connection_pool.hpp"

namespace freshet::net {

namespace {

constexpr std::size_t body_reserve_max = 1024 * 1024;  // before the bytes are there

// RFC 9110 §9.2.2: what may be sent twice when nobody knows whether the first arrived.
bool may_repeat(const ClientRequest& request) {
  const auto& method = request.head.method;
  const bool safe = method == "GET" || method == "HEAD" || method == "OPTIONS" || request.safe_to_repeat;
  return safe && !request.next_piece;
}

bool connection_died(const error_code& ec) {
  return ec == asio::error::eof || ec == asio::error::connection_reset || ec == asio::error::broken_pipe;
}

}  // namespace

struct HttpClient::State {
  Executor executor;
  Origin origin;
  std::string name;
  HttpClientLimits limits;
  asio::ssl::context* tls;
  ConnectionPool pool;

  State(Executor loop, Origin to, HttpClientLimits bounds, asio::ssl::context* context)
      : executor(loop),
        origin(std::move(to)),
        name(origin.authority()),
        limits(bounds),
        tls(context),
        pool(loop, limits) {}
};

struct ClientResponse::State {
  ClientExchange exchange;
};

HttpClient::HttpClient(Executor executor, Origin origin, HttpClientLimits limits, asio::ssl::context* tls)
    : state_(std::make_unique<State>(executor, std::move(origin), limits, tls)) {}
HttpClient::~HttpClient() = default;

Task<Result<ClientResponse>> HttpClient::send(ClientRequest request) {
  auto& state = *state_;
  auto slot = co_await state.pool.acquire(request.lifetime);
  if (!slot) co_return slot.error();
  if (request.on_dispatch && !request.on_dispatch()) co_return asio::error::operation_aborted;
  auto response = std::make_unique<ClientResponse::State>(ClientExchange(state.pool, std::move(*slot), state.limits));
  if (auto idle = state.pool.take_idle()) {
    const auto done = co_await response->exchange.run(std::move(*idle), request, state.name);
    if (done) co_return ClientResponse(std::move(response));
    if (response->exchange.answered() || !connection_died(done.error()) || !may_repeat(request)) co_return done.error();
  }
  auto fresh = co_await connect(state.executor, state.origin, state.tls, state.limits.connect_time_max);
  if (!fresh) co_return fresh.error();
  const auto done = co_await response->exchange.run(std::move(*fresh), request, state.name);
  if (!done) co_return done.error();
  co_return ClientResponse(std::move(response));
}

const Origin& HttpClient::origin() const {
  return state_->origin;
}

std::size_t HttpClient::open_connections() const {
  return state_->pool.open();
}

void HttpClient::close_idle() {
  state_->pool.close_idle();
}

ClientResponse::ClientResponse(std::unique_ptr<State> state) : state_(std::move(state)) {}
ClientResponse::ClientResponse(ClientResponse&&) noexcept = default;
ClientResponse& ClientResponse::operator=(ClientResponse&&) noexcept = default;
ClientResponse::~ClientResponse() = default;

const codec::ResponseHead& ClientResponse::head() const {
  return state_->exchange.head();
}

Task<Result<std::string_view>> ClientResponse::read_some() {
  return state_->exchange.read_some();
}

Task<Result<std::string>> ClientResponse::read_all(std::size_t bytes_max) {
  std::string whole;
  const auto& response = state_->exchange.response();
  if (response.kind() == BodyKind::length) {
    if (response.remaining() > bytes_max) co_return HttpError::body_limit;
    whole.reserve(std::min(static_cast<std::size_t>(response.remaining()), body_reserve_max));
  }
  for (;;) {
    const auto piece = co_await read_some();
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return whole;
    if (piece->size() > bytes_max - whole.size()) co_return HttpError::body_limit;
    whole += *piece;
  }
}

void ClientResponse::close() {
  state_->exchange.close();
}

}  // namespace freshet::net
