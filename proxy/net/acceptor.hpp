// Sockets that listen: bound at start-up, for TCP and Unix alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "proxy/net/task.hpp"

namespace freshet::net {

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol, Executor>;

// One acceptor for each address of `host`; port 0 becomes one free port for all of them. Throws
// boost::system::system_error naming host and port.
std::vector<Acceptor> listen_on_tcp(Executor executor, const std::string& host, std::uint16_t port);

// Throws likewise, naming the path.
Acceptor listen_on_unix(Executor executor, const std::string& path);

[[nodiscard]] std::uint16_t port_of(const Acceptor& acceptor);

}  // namespace freshet::net
