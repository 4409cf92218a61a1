// The TLS stream itself; apart from transport.hpp because it is dear to compile.
#pragma once

#include <boost/asio/ssl/stream.hpp>

#include "proxy/net/transport.hpp"

namespace freshet::net {

struct TlsSocket : asio::ssl::stream<Socket> {
  using asio::ssl::stream<Socket>::stream;
};

}  // namespace freshet::net
