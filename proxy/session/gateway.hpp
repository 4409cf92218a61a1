// The proxy's front door: who may knock (Origin, Host), and which upstream a path leads to.
#pragma once

#include <memory>
#include <vector>

#include "proxy/net/http_server.hpp"
#include "proxy/session/endpoint.hpp"

namespace freshet::session {

class Gateway {
 public:
  // `loopback`: the listener is bound to a loopback address, so Host must name one (DNS rebinding).
  Gateway(Shell& shell, Sessions& sessions, OwnCalls& calls, bool loopback);

  net::Task<> handle(net::ServerExchange& client);

 private:
  struct Route {
    Endpoint* endpoint;
    bool is_mcp_path;
  };
  [[nodiscard]] Route route(std::string_view target) const;
  [[nodiscard]] const char* refusal(const codec::RequestHead& head) const;

  const config::Listen& listen_;
  bool loopback_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace freshet::session
