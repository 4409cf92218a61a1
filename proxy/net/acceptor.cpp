#include "proxy/net/acceptor.hpp"

#include <cstring>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace freshet::net {

namespace {

using asio::ip::tcp;
using LocalEndpoint = asio::local::stream_protocol::endpoint;

constexpr int backlog = asio::socket_base::max_listen_connections;
constexpr int free_port_tries_max = 16;  // a port free for one address may be taken for the next

std::vector<tcp::endpoint> addresses_of(Executor executor, const std::string& host, std::uint16_t port,
                                        error_code& ec) {
  const auto address = asio::ip::make_address(host, ec);
  if (!ec) return {{address, port}};
  // Loopback whatever the system's files say, which may not even exist (RFC 6761 §6.3).
  if (host == "localhost") {
    ec.clear();
    return {{asio::ip::address_v4::loopback(), port}, {asio::ip::address_v6::loopback(), port}};
  }
  std::vector<tcp::endpoint> found;
  asio::ip::basic_resolver<tcp, Executor> resolver(executor);
  for (const auto& entry : resolver.resolve(host, std::to_string(port), tcp::resolver::passive, ec))
    found.push_back(entry.endpoint());
  return found;
}

Acceptor bind_one(Executor executor, const asio::generic::stream_protocol::endpoint& at, error_code& ec) {
  Acceptor acceptor(executor);
  acceptor.open(at.protocol(), ec);
  if (!ec) acceptor.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) acceptor.bind(at, ec);
  if (!ec) acceptor.listen(backlog, ec);
  return acceptor;
}

// The loopback of a family that this system lacks is no failure while the other works.
bool family_is_missing(const error_code& ec) {
  return ec == asio::error::address_family_not_supported || ec == boost::system::errc::address_not_available;
}

std::vector<Acceptor> bind_all(Executor executor, std::vector<tcp::endpoint> addresses, error_code& ec) {
  std::vector<Acceptor> bound;
  error_code last;
  for (auto& address : addresses) {
    if (!bound.empty()) address.port(port_of(bound.front()));
    auto acceptor = bind_one(executor, address, last);
    if (!last) bound.push_back(std::move(acceptor));
    if (last && !family_is_missing(last)) break;
  }
  ec = bound.empty() || (last && !family_is_missing(last)) ? last : error_code();
  return bound;
}

bool is_socket_file(const std::string& path) {
  struct stat found{};
  return ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

// True if nobody listens behind the socket file any more.
bool is_abandoned(Executor executor, const std::string& path) {
  asio::basic_stream_socket<asio::local::stream_protocol, Executor> probe(executor);
  error_code ec;
  probe.connect(LocalEndpoint(path), ec);
  return ec == asio::error::connection_refused;
}

}  // namespace

std::vector<Acceptor> listen_on_tcp(Executor executor, const std::string& host, std::uint16_t port) {
  error_code ec;
  const auto addresses = addresses_of(executor, host, port, ec);
  std::vector<Acceptor> bound;
  for (int tries = 0; !ec && tries < free_port_tries_max; ++tries) {
    bound = bind_all(executor, addresses, ec);
    if (ec != asio::error::address_in_use || port != 0) break;
    if (tries + 1 < free_port_tries_max) ec.clear();
  }
  if (ec) throw boost::system::system_error(ec, host + ':' + std::to_string(port));
  return bound;
}

Acceptor listen_on_unix(Executor executor, const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) throw boost::system::system_error(asio::error::name_too_long, path);
  if (is_socket_file(path) && is_abandoned(executor, path)) ::unlink(path.c_str());
  error_code ec;
  auto acceptor = bind_one(executor, LocalEndpoint(path), ec);
  if (ec) throw boost::system::system_error(ec, path);
  return acceptor;
}

std::uint16_t port_of(const Acceptor& acceptor) {
  error_code ec;
  const auto local = acceptor.local_endpoint(ec);
  if (ec || local.data()->sa_family == AF_UNIX) return 0;
  tcp::endpoint address;
  address.resize(local.size());
  std::memcpy(address.data(), local.data(), local.size());
  return address.port();
}

}  // namespace freshet::net
