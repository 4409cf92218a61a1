// Where connections of the client side go, and how they are made.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "proxy/net/task.hpp"
#include "proxy/net/transport.hpp"

namespace freshet::net {

// `unix_path` set: a Unix socket, host and port only name it (Host header).
struct Origin {
  bool tls = false;
  std::string host;  // a name, an IPv4 address or an IPv6 address without brackets
  std::uint16_t port = 80;
  std::string unix_path;

  // The Host field: brackets round IPv6, zone left out, the default port left out (RFC 9112 §3.2, RFC 6874).
  [[nodiscard]] std::string authority() const;
};

// Resolves, tries every address in turn of families, the next after 250 ms or a failure (RFC 8305), and shakes hands
// where the origin wants TLS: the name is sent (SNI) and verified as the context says. All within `time_max`:
// asio::error::timed_out. `origin` and `tls` must outlive the call; `tls` may be null for a plain origin.
Task<Result<Transport>> connect(Executor executor, const Origin& origin, asio::ssl::context* tls,
                                std::chrono::nanoseconds time_max);

}  // namespace freshet::net
