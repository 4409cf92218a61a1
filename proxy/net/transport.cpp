#include "proxy/net/transport.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/assert.hpp>
#include <sys/socket.h>
#include <sys/uio.h>

#include "proxy/net/tls_socket.hpp"

namespace freshet::net {

namespace {

constexpr std::chrono::seconds write_stall_default{30};
constexpr std::chrono::seconds shut_down_time_max{2};
constexpr std::size_t lingering_bytes_max = 16 * 1024 * 1024;  // read and dropped while the peer still sends
constexpr std::size_t tls_slice_max = 64 * 1024;               // between two looks at the time

error_code system_error(int number) {
  return {number, boost::system::system_category()};
}

bool would_block(const error_code& ec) {
  return ec == asio::error::would_block || ec == asio::error::try_again;
}

Result<std::size_t> receive(Socket& socket, asio::mutable_buffer into, int flags) {
  for (;;) {
    const auto n = ::recv(socket.native_handle(), into.data(), into.size(), flags | MSG_DONTWAIT);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) return error_code(asio::error::eof);
    if (errno != EINTR) return system_error(errno);
  }
}

Result<std::size_t> transmit(Socket& socket, std::span<const std::string_view> pieces) {
  std::array<iovec, Transport::pieces_max> vectors{};
  BOOST_ASSERT(pieces.size() <= vectors.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = pieces.size();
  for (;;) {
    const auto n = ::sendmsg(socket.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return system_error(errno);
  }
}

// What of `pieces` is left behind the first `sent` bytes, in place.
std::span<std::string_view> unsent(std::span<std::string_view> pieces, std::size_t sent) {
  while (!pieces.empty() && sent >= pieces.front().size()) {
    sent -= pieces.front().size();
    pieces = pieces.subspan(1);
  }
  if (!pieces.empty()) pieces.front().remove_prefix(sent);
  return pieces;
}

// What a read would find now.
enum class Waiting { nothing, bytes, end, broken };

}  // namespace

struct Transport::State {
  std::variant<Socket, std::unique_ptr<TlsSocket>> stream;
  Alarm alarm;
  Clock::time_point read_due = Clock::time_point::max();
  Clock::time_point write_due = Clock::time_point::max();
  std::chrono::nanoseconds write_stall = write_stall_default;
  int readers = 0;  // suspended under read_due
  int writers = 0;
  bool timed_out = false;
  bool peer_half_closed = false;
  // TLS: what a look for bytes had to take out of the engine.
  std::optional<char> peeked;
  error_code peeked_error;

  explicit State(Socket socket) : stream(std::move(socket)), alarm(executor(), [this] { check_time(); }) {}
  explicit State(std::unique_ptr<TlsSocket> socket)
      : stream(std::move(socket)), alarm(executor(), [this] { check_time(); }) {
    error_code ignored;
    // A read of the TLS stream outside the loop's operations returns when its socket has nothing.
    this->socket().non_blocking(true, ignored);
  }

  TlsSocket* tls() {
    auto* held = std::get_if<std::unique_ptr<TlsSocket>>(&stream);
    return held ? held->get() : nullptr;
  }
  Socket& socket() {
    auto* secure = tls();
    return secure ? secure->next_layer() : std::get<Socket>(stream);
  }
  Executor executor() { return socket().get_executor(); }

  // The earliest limit that anything is suspended under.
  Clock::time_point due() const {
    const auto read = readers > 0 ? read_due : Clock::time_point::max();
    const auto write = writers > 0 ? write_due : Clock::time_point::max();
    return std::min(read, write);
  }
  void watch_time() {
    if (const auto next = due(); next != Clock::time_point::max()) alarm.at(next);
  }
  void check_time() {
    if (due() > after(std::chrono::nanoseconds(0))) return watch_time();
    timed_out = true;
    close();
  }

  void close() {
    error_code ignored;
    socket().close(ignored);
  }
  error_code closed_reason() const { return timed_out ? asio::error::timed_out : asio::error::operation_aborted; }
  Result<> outcome(const error_code& ec) {
    if (!socket().is_open()) return closed_reason();
    if (ec) return ec;
    return {};
  }

  Result<std::size_t> try_read(asio::mutable_buffer into);
  Result<std::size_t> try_read_tls(TlsSocket& secure, asio::mutable_buffer into);
  Waiting look();
  Task<Result<>> wait(Socket::wait_type what, int* under_limit);
  Task<Result<>> write_plain(std::span<std::string_view> pieces);
  Task<Result<>> write_tls(TlsSocket& secure, std::span<const std::string_view> pieces);
  Task<> shut_down_tls(TlsSocket& secure);
};

Result<std::size_t> Transport::State::try_read(asio::mutable_buffer into) {
  if (!socket().is_open()) return closed_reason();
  if (auto* secure = tls()) return try_read_tls(*secure, into);
  return receive(socket(), into, 0);
}

Result<std::size_t> Transport::State::try_read_tls(TlsSocket& secure, asio::mutable_buffer into) {
  if (peeked_error) return peeked_error;
  std::size_t got = 0;
  if (peeked) {
    *static_cast<char*>(into.data()) = *std::exchange(peeked, std::nullopt);
    into += 1;
    got = 1;
    if (into.size() == 0) return got;
  }
  error_code ec;
  got += secure.read_some(asio::mutable_buffer(into), ec);
  if (got > 0) return got;
  return ec;
}

Waiting Transport::State::look() {
  char byte = 0;
  auto* secure = tls();
  if (secure && peeked) return Waiting::bytes;
  auto found = peeked_error;
  if (!found) {
    const auto got =
        secure ? try_read_tls(*secure, asio::buffer(&byte, 1)) : receive(socket(), asio::buffer(&byte, 1), MSG_PEEK);
    if (got && secure) peeked = byte;
    if (got) return Waiting::bytes;
    found = got.error();
  }
  if (would_block(found)) return Waiting::nothing;
  if (secure) peeked_error = found;
  const bool ended = found == asio::error::eof || found == asio::ssl::error::stream_truncated;
  return ended ? Waiting::end : Waiting::broken;
}

Task<Result<>> Transport::State::wait(Socket::wait_type what, int* under_limit) {
  if (!socket().is_open()) co_return closed_reason();
  if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return asio::error::operation_aborted;
  if (under_limit) {
    ++*under_limit;
    watch_time();
  }
  error_code ec;
  co_await socket().async_wait(what, asio::redirect_error(use_task, ec));
  if (under_limit) --*under_limit;
  co_return outcome(ec);
}

Task<Result<>> Transport::State::write_plain(std::span<std::string_view> pieces) {
  pieces = unsent(pieces, 0);
  while (!pieces.empty()) {
    if (!socket().is_open()) co_return closed_reason();
    if (const auto sent = transmit(socket(), pieces)) {
      pieces = unsent(pieces, *sent);
      continue;
    } else if (!would_block(sent.error())) {
      co_return sent.error();
    }
    write_due = after(write_stall);
    const auto ready = co_await wait(Socket::wait_write, &writers);
    if (!ready) co_return ready.error();
  }
  co_return Result<>();
}

Task<Result<>> Transport::State::write_tls(TlsSocket& secure, std::span<const std::string_view> pieces) {
  std::string joined;  // one record each instead of one per piece
  for (const auto piece : pieces) joined += piece;
  std::string_view rest = joined;
  while (!rest.empty()) {
    if (!socket().is_open()) co_return closed_reason();
    if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return asio::error::operation_aborted;
    write_due = after(write_stall);
    ++writers;
    watch_time();
    error_code ec;
    const auto sent = co_await secure.async_write_some(asio::buffer(rest.substr(0, tls_slice_max)),
                                                       asio::redirect_error(use_task, ec));
    --writers;
    const auto done = outcome(ec);
    if (!done) co_return done.error();
    rest.remove_prefix(sent);
  }
  co_return Result<>();
}

Task<> Transport::State::shut_down_tls(TlsSocket& secure) {
  ++readers;
  watch_time();
  error_code ignored;
  co_await secure.async_shutdown(asio::redirect_error(use_task, ignored));
  --readers;
}

Transport::Transport(Socket socket) : state_(std::make_unique<State>(std::move(socket))) {}
Transport::Transport(std::unique_ptr<TlsSocket> socket) : state_(std::make_unique<State>(std::move(socket))) {}
Transport::Transport(Transport&&) noexcept = default;
Transport& Transport::operator=(Transport&&) noexcept = default;
Transport::~Transport() = default;

Result<std::size_t> Transport::try_read(asio::mutable_buffer into) {
  return state_->try_read(into);
}

Task<Result<std::size_t>> Transport::read_some(asio::mutable_buffer into) {
  for (;;) {
    const auto got = state_->try_read(into);
    if (got || !would_block(got.error())) co_return got;
    const auto ready = co_await state_->wait(Socket::wait_read, &state_->readers);
    if (!ready) co_return ready.error();
  }
}

// The loop's own read waits for the edge alone, where its wait has the descriptor armed anew each time.
Task<Result<std::size_t>> Transport::await_some(asio::mutable_buffer into) {
  State& state = *state_;
  if (state.tls()) co_return co_await read_some(into);
  if (!state.socket().is_open()) co_return state.closed_reason();
  if (is_cancelled(co_await asio::this_coro::cancellation_state)) co_return error_code(asio::error::operation_aborted);
  ++state.readers;
  state.watch_time();
  error_code ec;
  const std::size_t got =
      co_await state.socket().async_receive(asio::mutable_buffer(into), asio::redirect_error(use_task, ec));
  --state.readers;
  const auto done = state.outcome(ec);
  if (!done) co_return done.error();
  co_return got;
}

Task<Result<>> Transport::readable() {
  // Bytes inside the TLS engine do not make the socket readable.
  if (!state_->tls()) return state_->wait(Socket::wait_read, &state_->readers);
  return [](State& state) -> Task<Result<>> {
    while (state.socket().is_open() && state.look() == Waiting::nothing) {
      const auto ready = co_await state.wait(Socket::wait_read, &state.readers);
      if (!ready) co_return ready.error();
    }
    co_return state.outcome({});
  }(*state_);
}

Task<Result<>> Transport::write(std::span<const std::string_view> pieces) {
  if (auto* secure = state_->tls()) co_return co_await state_->write_tls(*secure, pieces);
  std::array<std::string_view, pieces_max> left;
  BOOST_ASSERT(pieces.size() <= pieces_max);
  std::ranges::copy(pieces, left.begin());
  co_return co_await state_->write_plain(std::span(left).first(pieces.size()));
}

Task<Result<>> Transport::write(std::string_view data) {
  co_return co_await write(std::span(&data, 1));
}

void Transport::deadline(Clock::time_point at) {
  state_->read_due = at;
  if (state_->readers > 0) state_->watch_time();
}

void Transport::no_deadline() {
  state_->read_due = Clock::time_point::max();
}

void Transport::write_stall_max(std::chrono::nanoseconds limit) {
  state_->write_stall = limit;
}

Task<bool> Transport::peer_ended() {
  auto& state = *state_;
  if (!state.socket().is_open()) co_return true;
  if (!state.peer_half_closed) {
    auto found = state.look();
    while (found == Waiting::nothing) {
      const auto ready = co_await state.wait(Socket::wait_read, nullptr);
      if (!ready) co_return true;
      found = state.look();
    }
    if (found == Waiting::broken) co_return true;
    state.peer_half_closed = found == Waiting::end;
    if (state.peer_half_closed) co_return false;
  }
  (void)co_await state.wait(Socket::wait_error, nullptr);
  co_return true;
}

bool Transport::stale() {
  return !is_open() || state_->look() != Waiting::nothing;
}

void Transport::close() {
  state_->close();
}

void Transport::reset() {
  error_code ignored;
  state_->socket().set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

Task<> Transport::shut_down() {
  auto& state = *state_;
  if (!is_open()) co_return;
  const bool cancelled = is_cancelled(co_await asio::this_coro::cancellation_state);
  deadline(after(shut_down_time_max));
  if (auto* secure = state.tls(); secure && !cancelled) co_await state.shut_down_tls(*secure);
  error_code ec;
  if (is_open()) state.socket().shutdown(Socket::shutdown_send, ec);
  // Closing while the peer still sends would answer it with a reset, which takes away what it has not read yet
  // (RFC 9112 §9.6).
  std::array<char, 4096> dropped;
  for (std::size_t total = 0; is_open() && !ec && total < lingering_bytes_max;) {
    const auto got = receive(state.socket(), asio::buffer(dropped), 0);
    if (got) total += *got;
    if (got) continue;
    if (!would_block(got.error()) || !co_await state.wait(Socket::wait_read, &state.readers)) break;
  }
  close();
}

bool Transport::is_open() const {
  return state_->socket().is_open();
}

Executor Transport::executor() {
  return state_->executor();
}

std::string Transport::peer_name() const {
  error_code ec;
  const auto peer = state_->socket().remote_endpoint(ec);
  const int family = peer.data()->sa_family;
  if (ec || (family != AF_INET && family != AF_INET6)) return "unix";
  asio::ip::tcp::endpoint address;
  address.resize(peer.size());
  std::memcpy(address.data(), peer.data(), peer.size());
  const auto host = address.address().to_string();
  return (family == AF_INET6 ? '[' + host + ']' : host) + ':' + std::to_string(address.port());
}

}  // namespace freshet::net
