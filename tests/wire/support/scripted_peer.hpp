// The other side of a connection, byte by byte: sends exactly what it is told, and shows exactly what came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/acceptor.hpp"
#include "proxy/net/transport.hpp"
#include "tests/wire/support/loop.hpp"

namespace freshet::test {

class ScriptedPeer {
 public:
  explicit ScriptedPeer(net::Socket socket) : socket_(std::move(socket)) {}

  // To a loopback port.
  static Task<ScriptedPeer> connect(net::Executor executor, std::uint16_t port);

  // Each piece leaves by itself. Fails the test if the peer is gone.
  Task<> send(std::string_view bytes);
  // The same for a peer that may leave at any time: what it does not take is lost.
  Task<> send_or_end(std::string_view bytes);
  // The bytes up to and with `end`. Fails the test if the other side ends first.
  Task<std::string> read_until(std::string_view end);
  Task<std::string> read_exactly(std::size_t n);
  // Everything until the other side ended or reset.
  Task<std::string> read_to_end();
  // One whole request or response with a Content-Length body.
  Task<std::string> read_message();
  // The same; none if the other side ended or reset before a whole one came.
  Task<std::optional<std::string>> read_message_or_end();

  // FIN, reading goes on.
  void half_close();
  void close() { socket_.close(); }
  // RST.
  void reset();

 private:
  Task<bool> more();
  net::Socket socket_;
  std::string got_;
};

// A server whose connections the test accepts and plays by hand.
class ScriptedServer {
 public:
  explicit ScriptedServer(net::Executor executor, const std::string& host = "127.0.0.1");
  Task<ScriptedPeer> accept();
  // None once the server is closed, or the task cancelled.
  Task<std::optional<ScriptedPeer>> accept_or_end();
  [[nodiscard]] bool closed() const { return acceptors_.empty(); }
  [[nodiscard]] std::uint16_t port() const { return net::port_of(acceptors_.front()); }
  // Connections that wait to be accepted are refused from here on.
  void close() { acceptors_.clear(); }

 private:
  std::vector<net::Acceptor> acceptors_;
};

}  // namespace freshet::test
