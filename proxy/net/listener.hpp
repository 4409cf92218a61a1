// Accepts connections on one address and serves each in the owner's task group.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include <boost/asio/ssl/context.hpp>

#include "proxy/net/http_server.hpp"
#include "proxy/net/task_group.hpp"

namespace freshet::net {

struct TcpEndpoint {
  std::string host;  // an address without brackets, or a name that resolves; every address that it has is bound
  std::uint16_t port = 0;
};
struct UnixEndpoint {
  std::string path;  // a socket file that nobody listens on is replaced, anything else there is an error
};
using ListenAddress = std::variant<TcpEndpoint, UnixEndpoint>;

class Listener {
 public:
  // Binds and listens. Throws boost::system::system_error naming the address: this is start-up. `tls` null: plain; it
  // must outlive the tasks. Connections above `connections_max` wait in the kernel's backlog.
  Listener(Executor executor, const ListenAddress& address, asio::ssl::context* tls, HttpServerLimits limits,
           std::size_t connections_max);
  // Closes. Tasks that still run in the group stay valid.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Accepts until close(). TLS handshakes happen in the connection's own task, bounded in time. `group` must outlive
  // every task.
  void start(TaskGroup& group, Handler handler);
  // Stops accepting; connections drain: idle ones close now, busy ones after their exchange.
  void close();

  // The port that was really bound (for port 0), 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const;
  // Handshakes under way included.
  [[nodiscard]] std::size_t connections() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the tasks that it started
};

}  // namespace freshet::net
