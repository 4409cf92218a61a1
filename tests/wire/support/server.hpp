// A plain server on a loopback port, in the background of a loop.
#pragma once

#include "proxy/net/listener.hpp"
#include "tests/wire/support/loop.hpp"

namespace freshet::test {

class Server {
 public:
  Server(Loop& loop, net::Handler handler, net::HttpServerLimits limits = {})
      : listener_(loop.executor(), net::TcpEndpoint{"127.0.0.1", 0}, nullptr, limits, 1'000) {
    listener_.start(loop.background(), std::move(handler));
  }

  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }
  [[nodiscard]] net::Listener& listener() { return listener_; }

 private:
  net::Listener listener_;
};

}  // namespace freshet::test
