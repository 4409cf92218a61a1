// TLS contexts and handshakes. TLS 1.2 and later.
#pragma once

#include <string>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream_base.hpp>

#include "proxy/net/alarm.hpp"
#include "proxy/net/task.hpp"
#include "proxy/net/transport.hpp"

namespace freshet::net {

// Trusts the certificates in `ca_file`, or the system's where it is empty. `verify` false: any certificate will do.
// Throws boost::system::system_error naming the file: this is start-up.
asio::ssl::context make_client_context(const std::string& ca_file, bool verify);

// The chain and the key as PEM files. Throws likewise.
asio::ssl::context make_server_context(const std::string& certificate_file, const std::string& key_file);

// The client's side names `host` (SNI) and verifies it. asio::error::timed_out at `until`.
Task<Result<Transport>> handshake_as_client(Socket socket, asio::ssl::context& context, const std::string& host,
                                            Clock::time_point until);
Task<Result<Transport>> handshake_as_server(Socket socket, asio::ssl::context& context, Clock::time_point until);

}  // namespace freshet::net
