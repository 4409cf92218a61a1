#include "proxy/net/http_server.hpp"

#include "proxy/net/http_parser.hpp"
#include "proxy/net/read_buffer.hpp"
#include "proxy/net/server_exchange.hpp"

namespace freshet::net {

namespace {

// Waits for the first byte of a request.
Task<Result<>> first_byte(ServerConnection& connection, ServerConnections::Membership& membership) {
  if (!connection.buffer.view().empty()) co_return Result<>();
  membership.idle();
  connection.transport.deadline(after(connection.limits.idle_time_max));
  const auto filled = co_await fill_soon(connection.transport, connection.buffer);
  membership.busy();
  co_return filled;
}

Task<Result<RequestParser>> read_head(ServerConnection& connection) {
  RequestParser parser(connection.limits.head_bytes_max);
  bool timed = false;
  for (;;) {
    const auto used = parser.put_head(connection.buffer.view());
    if (!used) co_return used.error();
    connection.buffer.consume(*used);
    if (parser.head_done()) break;
    if (!std::exchange(timed, true)) connection.transport.deadline(after(connection.limits.head_time_max));
    const auto filled = co_await fill_soon(connection.transport, connection.buffer);
    if (!filled) co_return filled.error();
  }
  if (const auto checked = check_target_and_host(parser.head()); !checked) co_return checked.error();
  co_return std::move(parser);
}

// The answer to a request that never became one.
std::string refusal(const error_code& error) {
  std::string_view status;
  if (error == HttpError::bad_message) status = "400 Bad Request";
  if (error == HttpError::head_limit) status = "431 Request Header Fields Too Large";
  if (error == HttpError::unsupported_coding) status = "501 Not Implemented";
  if (error == HttpError::bad_version) status = "505 HTTP Version Not Supported";
  if (status.empty()) return {};
  const auto reason = error.message() + '\n';
  std::string out = "HTTP/1.1 ";
  out += status;
  out += "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(reason.size());
  out += "\r\nConnection: close\r\n\r\n" + reason;
  return out;
}

// One exchange. False: the connection ends here.
Task<bool> serve_one(ServerConnection& connection, const Handler& handler) {
  auto incoming = co_await read_head(connection);
  if (!incoming) {
    const auto answer = refusal(incoming.error());
    if (connection.transport.is_open()) co_await connection.transport.write(answer);
    co_return false;
  }
  connection.buffer.release();
  ConnectionExchange exchange(connection, std::move(*incoming));
  co_await handler(exchange);
  co_return co_await exchange.settle();
}

}  // namespace

void ServerConnections::drain() {
  draining_ = true;
  for (auto* transport : idle_) transport->close();
}

ServerConnections::Membership::Membership(ServerConnections& all, Transport& transport)
    : all_(all), in_(&all.busy_), place_(all.busy_.insert(all.busy_.end(), &transport)) {}

ServerConnections::Membership::~Membership() {
  in_->erase(place_);
}

void ServerConnections::Membership::idle() {
  all_.idle_.splice(all_.idle_.end(), *in_, place_);
  in_ = &all_.idle_;
}

void ServerConnections::Membership::busy() {
  all_.busy_.splice(all_.busy_.end(), *in_, place_);
  in_ = &all_.busy_;
}

Task<> serve_connection(Transport transport, const HttpServerLimits& limits, const Handler& handler,
                        ServerConnections& connections) {
  ServerConnection connection{std::move(transport), {}, limits, connections};
  connection.transport.write_stall_max(limits.write_stall_max);
  ServerConnections::Membership membership(connections, connection.transport);
  while (!connections.draining()) {
    const auto first = co_await first_byte(connection, membership);
    if (!first) break;
    const bool goes_on = co_await serve_one(connection, handler);
    if (!goes_on) break;
  }
  co_await connection.transport.shut_down();
}

}  // namespace freshet::net
