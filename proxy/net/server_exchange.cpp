#include "proxy/net/server_exchange.hpp"

#include <array>
#include <charconv>
#include <utility>

#include <boost/assert.hpp>

#include "proxy/net/chunk_size.hpp"

namespace freshet::net {

namespace {

constexpr std::size_t body_reserve_max = 1024 * 1024;   // before the bytes are there
constexpr std::uint64_t drained_bytes_max = 64 * 1024;  // of a request body that the handler did not want

bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

}  // namespace

ConnectionExchange::ConnectionExchange(ServerConnection& connection, RequestParser request)
    : connection_(connection), request_(std::move(request)), keep_alive_(request_.keep_alive()) {
  const auto expect = head().fields.find("Expect");
  continue_owed_ =
      expect && codec::names_equal(*expect, "100-continue") && head().minor_version > 0 && !request_.done();
}

Task<Result<std::string_view>> ConnectionExchange::read_body_some() {
  auto& buffer = connection_.buffer;
  while (!body_error_) {
    const auto step = request_.put_body(buffer.view());
    if (!step) {
      body_error_ = step.error();
      break;
    }
    buffer.consume(step->used);
    if (!step->piece.empty() || request_.done()) {
      continue_owed_ = false;
      co_return step->piece;
    }
    if (std::exchange(continue_owed_, false)) {
      const auto sent = co_await connection_.transport.write("HTTP/1.1 100 Continue\r\n\r\n");
      if (!sent) body_error_ = sent.error();
      if (!sent) break;
    }
    connection_.transport.deadline(after(connection_.limits.body_stall_max));
    const auto filled = co_await fill(connection_.transport, buffer);
    if (!filled) body_error_ = filled.error() == asio::error::eof ? HttpError::partial_message : filled.error();
  }
  co_return body_error_;
}

Task<Result<std::string>> ConnectionExchange::read_body(std::size_t bytes_max) {
  std::string whole;
  if (request_.kind() == BodyKind::length) {
    if (request_.remaining() > bytes_max) co_return HttpError::body_limit;
    whole.reserve(std::min(static_cast<std::size_t>(request_.remaining()), body_reserve_max));
  }
  for (;;) {
    const auto piece = co_await read_body_some();
    if (!piece) co_return piece.error();
    if (piece->empty()) connection_.buffer.release();
    if (piece->empty()) co_return whole;
    if (piece->size() > bytes_max - whole.size()) co_return HttpError::body_limit;
    whole += *piece;
  }
}

bool ConnectionExchange::body_can_be_drained() const {
  if (request_.done()) return true;
  return !body_error_ && !continue_owed_ && request_.kind() == BodyKind::length &&
         request_.remaining() <= drained_bytes_max;
}

// Says what becomes of the connection (RFC 9112 §9.6), in the version that we speak.
void ConnectionExchange::complete_head(codec::ResponseHead& head) {
  head.minor_version = 1;
  head.fields.erase("Connection");
  head.fields.erase("Transfer-Encoding");
  if (delimiting_ == Delimiting::chunked) head.fields.add("Transfer-Encoding", "chunked");
  if (delimiting_ == Delimiting::close || connection_.all.draining() || !body_can_be_drained()) keep_alive_ = false;
  if (!keep_alive_) head.fields.add("Connection", "close");
  if (keep_alive_ && request_.head().minor_version == 0) head.fields.add("Connection", "keep-alive");
}

Task<Result<>> ConnectionExchange::send(std::span<const std::string_view> pieces) {
  const auto sent = co_await connection_.transport.write(pieces);
  if (!sent) response_ = Response::failed;
  co_return sent;
}

Task<Result<>> ConnectionExchange::respond(codec::ResponseHead head, std::string_view body) {
  BOOST_ASSERT(response_ == Response::none);
  const bool to_head = request_.head().method == "HEAD";
  if (has_no_body(head.status)) {
    head.fields.erase("Content-Length");
    body = {};
  } else if (!to_head || !head.fields.contains("Content-Length")) {
    head.fields.set("Content-Length", std::to_string(body.size()));
  }
  if (to_head) body = {};
  complete_head(head);
  response_ = Response::complete;
  const auto bytes = codec::serialize(head);
  co_return co_await send(std::array<std::string_view, 2>{bytes, body});
}

ConnectionExchange::Delimiting ConnectionExchange::choose_delimiting(codec::ResponseHead& head) {
  bodiless_ = has_no_body(head.status) || request_.head().method == "HEAD";
  if (has_no_body(head.status)) return Delimiting::none;
  if (const auto field = head.fields.find("Content-Length")) {
    const auto [end, failure] = std::from_chars(field->data(), field->data() + field->size(), length_left_);
    if (failure == std::errc() && end == field->data() + field->size()) return Delimiting::length;
    length_left_ = 0;
    head.fields.erase("Content-Length");
  }
  return request_.head().minor_version > 0 ? Delimiting::chunked : Delimiting::close;
}

void ConnectionExchange::begin(codec::ResponseHead head) {
  BOOST_ASSERT(response_ == Response::none);
  delimiting_ = choose_delimiting(head);
  complete_head(head);
  unsent_head_ = codec::serialize(head);
  response_ = Response::open;
}

Task<Result<>> ConnectionExchange::write(std::string_view piece) {
  if (response_ != Response::open) co_return asio::error::operation_aborted;
  if (piece.empty() || bodiless_) co_return Result<>();
  const auto head = std::exchange(unsent_head_, {});
  if (delimiting_ == Delimiting::chunked) {
    const ChunkSize size(piece.size());
    co_return co_await send(std::array<std::string_view, 4>{head, size.view(), piece, "\r\n"});
  }
  if (delimiting_ == Delimiting::length && piece.size() > length_left_) {
    response_ = Response::failed;
    co_return HttpError::bad_message;
  }
  length_left_ -= delimiting_ == Delimiting::length ? piece.size() : 0;
  co_return co_await send(std::array<std::string_view, 2>{head, piece});
}

Task<Result<>> ConnectionExchange::flush() {
  if (response_ != Response::open) co_return asio::error::operation_aborted;
  const auto head = std::exchange(unsent_head_, {});
  co_return co_await send(std::array<std::string_view, 1>{head});
}

Task<Result<>> ConnectionExchange::finish() {
  if (response_ != Response::open) co_return asio::error::operation_aborted;
  const auto head = std::exchange(unsent_head_, {});
  const bool truncated = delimiting_ == Delimiting::length && !bodiless_ && length_left_ > 0;
  response_ = truncated ? Response::failed : Response::complete;
  if (truncated) co_return HttpError::partial_message;
  const std::string_view last = delimiting_ == Delimiting::chunked && !bodiless_ ? last_chunk : "";
  co_return co_await send(std::array<std::string_view, 2>{head, last});
}

Task<bool> ConnectionExchange::settle() {
  if (response_ == Response::none) {
    // The handler gave up: it was cancelled, or it is wrong. The client must not wait.
    keep_alive_ = false;
    co_await respond({.status = 500, .reason = "Internal Server Error", .minor_version = 1, .fields = {}}, "");
  }
  if (response_ != Response::complete) {
    // Where only the connection's end delimits the body, an orderly end would make it look whole.
    if (delimiting_ == Delimiting::close) connection_.transport.reset();
    co_return false;
  }
  while (keep_alive_ && !request_.done()) {
    const auto piece = co_await read_body_some();
    if (!piece) co_return false;
  }
  co_return keep_alive_;
}

}  // namespace freshet::net
