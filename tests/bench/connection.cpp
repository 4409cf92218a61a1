#include "tests/bench/connection.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "proxy/net/origin.hpp"

namespace freshet::bench {

namespace {

constexpr std::size_t head_bytes_max = 64 * 1024;
constexpr auto answer_time_max = std::chrono::seconds(30);

template <class T>
T expect(net::Result<T> result, std::string_view what) {
  if (!result) fail(std::string(what) + ": " + result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace

void fail(std::string_view why) {
  std::fprintf(stderr, "bench_load: %.*s\n", static_cast<int>(why.size()), why.data());
  std::_Exit(1);
}

net::Task<Connection> Connection::open(net::Executor executor, std::uint16_t port) {
  const net::Origin origin{.host = "127.0.0.1", .port = port, .unix_path = {}};
  auto transport = co_await net::connect(executor, origin, nullptr, answer_time_max);
  co_return Connection(expect(std::move(transport), "connecting"));
}

net::Task<codec::ResponseHead> Connection::ask(std::string_view request) {
  const auto written = co_await transport_.write(request);
  expect(written, "writing a request");
  auto& response = response_.emplace(head_bytes_max);
  for (;;) {
    buffer_.consume(expect(response.put_head(buffer_.view()), "reading a response's head"));
    if (response.head_done()) co_return std::move(response.head());
    co_await read_more();
  }
}

net::Task<std::string_view> Connection::read_some() {
  for (;;) {
    if (response_->done()) co_return std::string_view();
    const auto step = expect(response_->put_body(buffer_.view()), "reading a body");
    buffer_.consume(step.used);
    if (!step.piece.empty()) co_return step.piece;
    if (!response_->done()) co_await read_more();
  }
}

net::Task<Reply> Connection::call(std::string_view request) {
  Reply reply;
  transport_.deadline(net::after(answer_time_max));
  reply.head = co_await ask(request);
  for (;;) {
    const std::string_view piece = co_await read_some();
    if (piece.empty()) break;
    reply.body += piece;
  }
  transport_.no_deadline();
  co_return reply;
}

net::Task<> Connection::read_more() {
  const auto filled = co_await net::fill(transport_, buffer_);
  expect(filled, "reading");
}

}  // namespace freshet::bench
