// One connected byte stream: TCP or a Unix socket, plain or under TLS. Owned by the coroutine that reads from it.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "proxy/net/alarm.hpp"
#include "proxy/net/task.hpp"

namespace freshet::net {

using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;
struct TlsSocket;  // tls_socket.hpp

// Every failure of an operation is one of: asio::error::eof (the peer ended its side), timed_out, operation_aborted
// (cancelled or closed), or what the system reported. Must outlive every operation that is suspended in it.
class Transport {
 public:
  explicit Transport(Socket socket);
  explicit Transport(std::unique_ptr<TlsSocket> socket);  // after its handshake
  Transport(Transport&&) noexcept;
  Transport& operator=(Transport&&) noexcept;
  ~Transport();

  // What can be read at once: at least one byte, or would_block, or an error.
  Result<std::size_t> try_read(asio::mutable_buffer into);
  // At least one byte, or an error.
  Task<Result<std::size_t>> read_some(asio::mutable_buffer into);
  // The same for bytes that are expected soon: one call of the system cheaper, and `into` is held while it waits.
  Task<Result<std::size_t>> await_some(asio::mutable_buffer into);
  // Completes when bytes or an end of stream wait to be read, or the peer reset the connection. Consumes nothing.
  Task<Result<>> readable();

  // Everything, or an error. The pieces go out as one write, and must live until the call completes. At most
  // `pieces_max` pieces. One writer at a time.
  Task<Result<>> write(std::span<const std::string_view> pieces);
  Task<Result<>> write(std::string_view data);
  static constexpr std::size_t pieces_max = 4;

  // Whatever is suspended in a read or readable() fails with timed_out, and the descriptor is gone, once this moment
  // has passed and it was not moved on. Moving it on costs a store: the timer behind it is armed again only when it
  // fires.
  void deadline(Clock::time_point at);
  void no_deadline();
  // A write that makes no progress for so long fails with timed_out likewise. Default: 30 s.
  void write_stall_max(std::chrono::nanoseconds limit);

  // Completes when the peer's side ended (false: it may still read, RFC 9112 §9.6) or the connection broke (true), or
  // when cancelled or closed (true). Bytes that wait to be read are left alone and hide the end that stands behind
  // them. After a false, another call waits for the break alone. No deadline applies.
  Task<bool> peer_ended();

  // True if an idle connection may not be used again: its peer ended, reset, or sent what nobody asked for.
  [[nodiscard]] bool stale();

  // Aborts: pending operations fail, the descriptor is gone.
  void close();
  // Aborts so that the peer sees a reset and cannot take what it got for the whole.
  void reset();
  // Ends our side so that the peer reads what was written (TLS close_notify, FIN), bounded in time, then closes.
  Task<> shut_down();

  [[nodiscard]] bool is_open() const;
  [[nodiscard]] Executor executor();
  // "127.0.0.1:51234", "[::1]:51234" or "unix"
  [[nodiscard]] std::string peer_name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Bounded-time death of half-open peers: SO_KEEPALIVE tuned and TCP_USER_TIMEOUT, both within about 60 s; TCP_NODELAY.
void tune(Socket& socket);

}  // namespace freshet::net
