#include "tests/wire/support/scripted_peer.hpp"

#include <array>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>

namespace freshet::test {

using net::asio::ip::tcp;

Task<ScriptedPeer> ScriptedPeer::connect(net::Executor executor, std::uint16_t port) {
  net::Socket socket(executor);
  const tcp::endpoint to(net::asio::ip::address_v4::loopback(), port);
  net::error_code ec;
  co_await socket.async_connect(to, net::asio::redirect_error(net::use_task, ec));
  REQUIRE(!ec);
  net::tune(socket);
  co_return ScriptedPeer(std::move(socket));
}

Task<> ScriptedPeer::send(std::string_view bytes) {
  net::error_code ec;
  co_await net::asio::async_write(socket_, net::asio::buffer(bytes), net::asio::redirect_error(net::use_task, ec));
  REQUIRE(!ec);
}

Task<bool> ScriptedPeer::more() {
  std::array<char, 4096> piece;
  net::error_code ec;
  const auto n =
      co_await socket_.async_read_some(net::asio::buffer(piece), net::asio::redirect_error(net::use_task, ec));
  got_.append(piece.data(), n);
  co_return !ec;
}

Task<std::string> ScriptedPeer::read_until(std::string_view end) {
  for (;;) {
    const auto at = got_.find(end);
    if (at != std::string::npos) co_return co_await read_exactly(at + end.size());
    const bool came = co_await more();
    INFO("got so far: " << got_);
    REQUIRE(came);
  }
}

Task<std::string> ScriptedPeer::read_exactly(std::size_t n) {
  while (got_.size() < n) {
    const bool came = co_await more();
    INFO("got so far: " << got_);
    REQUIRE(came);
  }
  auto bytes = got_.substr(0, n);
  got_.erase(0, n);
  co_return bytes;
}

Task<std::string> ScriptedPeer::read_to_end() {
  while (co_await more()) {
  }
  co_return std::exchange(got_, {});
}

Task<std::string> ScriptedPeer::read_message() {
  auto message = co_await read_until("\r\n\r\n");
  const std::string_view name = "Content-Length: ";
  const auto at = message.find(name);
  if (at != std::string::npos) message += co_await read_exactly(std::stoul(message.substr(at + name.size())));
  co_return message;
}

void ScriptedPeer::half_close() {
  socket_.shutdown(net::Socket::shutdown_send);
}

void ScriptedPeer::reset() {
  socket_.set_option(net::asio::socket_base::linger(true, 0));
  socket_.close();
}

ScriptedServer::ScriptedServer(net::Executor executor, const std::string& host)
    : acceptors_(net::listen_on_tcp(executor, host, 0)) {}

Task<ScriptedPeer> ScriptedServer::accept() {
  net::Socket socket(acceptors_.front().get_executor());
  net::error_code ec;
  co_await acceptors_.front().async_accept(socket, net::asio::redirect_error(net::use_task, ec));
  REQUIRE(!ec);
  net::tune(socket);
  co_return ScriptedPeer(std::move(socket));
}

}  // namespace freshet::test
