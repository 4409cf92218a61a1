#include "tests/wire/support/scripted_peer.hpp"

#include <array>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>

namespace freshet::test {

using net::asio::ip::tcp;

namespace {

// Of the message that `bytes` begin with, once its head is there.
std::optional<std::size_t> message_size(const std::string& bytes) {
  const std::string_view head_end = "\r\n\r\n";
  const std::string_view length = "Content-Length: ";
  const auto end = bytes.find(head_end);
  if (end == std::string::npos) return std::nullopt;
  const auto at = bytes.find(length);
  const std::size_t body = at < end ? std::stoul(bytes.substr(at + length.size())) : 0;
  return end + head_end.size() + body;
}

}  // namespace

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

Task<> ScriptedPeer::send_or_end(std::string_view bytes) {
  net::error_code ec;
  co_await net::asio::async_write(socket_, net::asio::buffer(bytes), net::asio::redirect_error(net::use_task, ec));
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
  auto message = co_await read_message_or_end();
  INFO("got so far: " << got_);
  REQUIRE(message.has_value());
  co_return std::move(*message);
}

Task<std::optional<std::string>> ScriptedPeer::read_message_or_end() {
  for (;;) {
    if (const auto size = message_size(got_); size && got_.size() >= *size) co_return co_await read_exactly(*size);
    const bool came = co_await more();
    if (!came) co_return std::nullopt;
  }
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
  auto peer = co_await accept_or_end();
  REQUIRE(peer.has_value());
  co_return std::move(*peer);
}

Task<std::optional<ScriptedPeer>> ScriptedServer::accept_or_end() {
  net::Socket socket(acceptors_.front().get_executor());
  net::error_code ec;
  co_await acceptors_.front().async_accept(socket, net::asio::redirect_error(net::use_task, ec));
  if (ec) co_return std::nullopt;
  net::tune(socket);
  co_return ScriptedPeer(std::move(socket));
}

}  // namespace freshet::test
