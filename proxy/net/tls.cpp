#include "proxy/net/tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

#include "proxy/net/tls_socket.hpp"

namespace freshet::net {

namespace {

namespace ssl = asio::ssl;

ssl::context make_context(ssl::context::method method) {
  ssl::context context(method);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION);
  // Many connections are idle most of the time.
  SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  return context;
}

void require(const error_code& ec, const std::string& file) {
  if (ec) throw boost::system::system_error(ec, file);
}

Task<Result<Transport>> handshake(std::unique_ptr<TlsSocket> socket, ssl::stream_base::handshake_type side,
                                  Clock::time_point until) {
  if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return asio::error::operation_aborted;
  bool timed_out = false;
  const auto give_up = [&timed_out, raw = socket.get()] {
    error_code ignored;
    timed_out = true;
    raw->next_layer().close(ignored);
  };
  Alarm alarm(socket->get_executor(), give_up);
  alarm.at(until);
  error_code ec;
  co_await socket->async_handshake(side, asio::redirect_error(use_task, ec));
  if (timed_out) co_return asio::error::timed_out;
  if (ec) co_return ec;
  co_return Transport(std::move(socket));
}

}  // namespace

ssl::context make_client_context(const std::string& ca_file, bool verify) {
  auto context = make_context(ssl::context::tls_client);
  error_code ec;
  if (ca_file.empty()) {
    context.set_default_verify_paths(ec);
  } else {
    context.load_verify_file(ca_file, ec);
  }
  require(ec, ca_file);
  context.set_verify_mode(verify ? ssl::verify_peer : ssl::verify_none);
  return context;
}

ssl::context make_server_context(const std::string& certificate_file, const std::string& key_file) {
  auto context = make_context(ssl::context::tls_server);
  error_code ec;
  context.use_certificate_chain_file(certificate_file, ec);
  require(ec, certificate_file);
  context.use_private_key_file(key_file, ssl::context::pem, ec);
  require(ec, key_file);
  return context;
}

Task<Result<Transport>> handshake_as_client(Socket socket, ssl::context& context, const std::string& host,
                                            Clock::time_point until) {
  auto secure = std::make_unique<TlsSocket>(std::move(socket), context);
  error_code not_an_address;
  (void)asio::ip::make_address(host, not_an_address);
  // An address is no name to be sent (RFC 6066 §3).
  if (not_an_address) SSL_set_tlsext_host_name(secure->native_handle(), host.c_str());
  secure->set_verify_callback(ssl::host_name_verification(host));
  co_return co_await handshake(std::move(secure), ssl::stream_base::client, until);
}

Task<Result<Transport>> handshake_as_server(Socket socket, ssl::context& context, Clock::time_point until) {
  auto secure = std::make_unique<TlsSocket>(std::move(socket), context);
  co_return co_await handshake(std::move(secure), ssl::stream_base::server, until);
}

}  // namespace freshet::net
