#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "proxy/net/transport.hpp"

namespace freshet::net {

namespace {

// The first probe after 30 s, then three more 10 s apart: dead after about 60 s, whether idle or with data on the way.
constexpr int keepalive_idle_s = 30;
constexpr int keepalive_interval_s = 10;
constexpr int keepalive_probes_max = 3;
constexpr int unacknowledged_ms_max = 60'000;

void set(Socket& socket, int level, int name, int value) {
  // A refusal leaves the system's default in force.
  (void)::setsockopt(socket.native_handle(), level, name, &value, sizeof(value));
}

}  // namespace

void tune(Socket& socket) {
  error_code ec;
  const auto local = socket.local_endpoint(ec);
  if (ec || local.data()->sa_family == AF_UNIX) return;
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_s);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes_max);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, unacknowledged_ms_max);
}

}  // namespace freshet::net
