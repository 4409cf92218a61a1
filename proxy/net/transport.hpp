// One connected byte stream: TCP or a Unix socket, plain or under TLS. Owned by the coroutine that reads from it.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "proxy/net/one_shot.hpp"
#include "proxy/net/task.hpp"

namespace freshet::net {

using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;
using TlsSocket = asio::ssl::stream<Socket>;

class Transport {
 public:
  explicit Transport(Socket socket);
  explicit Transport(std::unique_ptr<TlsSocket> socket);  // after its handshake
  Transport(Transport&&) noexcept;
  Transport& operator=(Transport&&) noexcept;
  ~Transport();

  // At least one byte, or an error; asio::error::eof when the peer ended its side.
  Task<Result<std::size_t>> read_some(asio::mutable_buffer into);
  // Everything, or an error. `data` must live until the call completes. One writer at a time.
  Task<Result<>> write(std::string_view data);

  // Whatever is suspended in read_some or write fails with asio::error::timed_out once this moment has passed and it
  // was not moved on. Moving it on costs a store: the timer behind it is armed again only when it fires.
  void deadline(std::chrono::steady_clock::time_point at);
  void no_deadline();

  // Completes when bytes or an end of stream wait to be read, or the peer reset the connection. Consumes nothing.
  Task<Result<>> readable();

  // True if an idle connection may not be used again: its peer ended, reset, or sent what nobody asked for.
  [[nodiscard]] bool stale();

  // Aborts: pending operations fail, the descriptor is gone.
  void close();
  // Ends our side so that the peer reads what was written (TLS close_notify, FIN), bounded in time, then closes.
  Task<> shut_down();

  [[nodiscard]] bool is_open() const;
  [[nodiscard]] Executor executor();
  // "127.0.0.1:51234" or "unix"
  [[nodiscard]] std::string peer_name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Bounded-time death of half-open peers: SO_KEEPALIVE tuned and TCP_USER_TIMEOUT, both within about 60 s; TCP_NODELAY.
void tune(Socket& socket);

}  // namespace freshet::net
