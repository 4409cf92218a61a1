#include "proxy/net/client_exchange.hpp"

#include <array>
#include <utility>

#include "proxy/net/chunk_size.hpp"

namespace freshet::net {

namespace {

constexpr int interim_responses_max = 32;

bool is_set_here(std::string_view name) {
  for (const std::string_view own : {"Host", "Connection", "Content-Length", "Transfer-Encoding"})
    if (codec::names_equal(name, own)) return true;
  return false;
}

// A body is expected with these even when it is empty (RFC 9110 §8.6).
bool announces_length(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

std::string format_head(const ClientRequest& request, std::string_view origin_name) {
  std::string out;
  out.reserve(512);
  out += request.head.method;
  out += ' ';
  out += request.head.target;
  out += " HTTP/1.1\r\n";
  append_field(out, "Host", request.keep_host ? request.head.fields.find("Host").value_or(origin_name) : origin_name);
  for (const auto& field : request.head.fields)
    if (!is_set_here(field.name)) append_field(out, field.name, field.value);
  if (!request.next_piece) {
    if (!request.body.empty() || announces_length(request.head.method))
      append_field(out, "Content-Length", std::to_string(request.body.size()));
  } else if (const auto length = request.head.fields.find("Content-Length")) {
    append_field(out, "Content-Length", *length);
  } else {
    append_field(out, "Transfer-Encoding", "chunked");
  }
  out += "\r\n";
  return out;
}

// The peer stopped reading; it may have said why before it did.
bool peer_stopped_reading(const error_code& ec) {
  return ec == asio::error::broken_pipe || ec == asio::error::connection_reset;
}

}  // namespace

ClientExchange::ClientExchange(ConnectionPool& pool, ConnectionPool::Slot slot, const HttpClientLimits& limits)
    : pool_(pool), slot_(std::move(slot)), limits_(limits) {}

Task<Result<>> ClientExchange::run(Transport transport, ClientRequest& request, std::string_view origin_name) {
  transport_ = std::move(transport);
  reusable_ = true;
  lifetime_ = request.lifetime;
  const auto head_time_max = request.head_time_max.value_or(limits_.head_time_max);
  transport_->write_stall_max(head_time_max);
  const auto written = co_await write_request(request, origin_name);
  if (!written && !peer_stopped_reading(written.error())) co_return written.error();
  if (!written) reusable_ = false;
  const auto read = co_await read_head(request.head.method == "HEAD", after(head_time_max));
  if (!read && !written && !answered_) co_return written.error();
  co_return read;
}

Task<Result<>> ClientExchange::write_request(const ClientRequest& request, std::string_view origin_name) {
  auto head = format_head(request, origin_name);
  if (request.next_piece) co_return co_await write_streamed(request, std::move(head));
  co_return co_await transport_->write(std::array<std::string_view, 2>{head, request.body});
}

Task<Result<>> ClientExchange::write_streamed(const ClientRequest& request, std::string head) {
  const bool chunked = !request.head.fields.contains("Content-Length");
  for (;;) {
    const auto piece = co_await request.next_piece();
    if (!piece) co_return piece.error();
    // Whatever the peer says before it has everything is its final word.
    if (transport_->stale()) {
      reusable_ = false;
      co_return Result<>();
    }
    const ChunkSize size(piece->size());
    std::array<std::string_view, 4> parts{head, size.view(), *piece, "\r\n"};
    if (!chunked) parts = {head, *piece};
    if (piece->empty()) parts = {head, chunked ? last_chunk : ""};
    const auto sent = co_await transport_->write(parts);
    if (!sent || piece->empty()) co_return sent;
    head.clear();
  }
}

Task<Result<>> ClientExchange::read_head(bool to_head, Clock::time_point until) {
  transport_->deadline(until);
  for (int interim = 0; interim <= interim_responses_max; ++interim) {
    auto& parser = response_.emplace(limits_.head_bytes_max, to_head);
    for (;;) {
      const auto used = parser.put_head(buffer_.view());
      if (!used) co_return used.error();
      buffer_.consume(*used);
      if (parser.head_done()) break;
      const auto filled = co_await fill_soon(*transport_, buffer_);
      const bool cut = !filled && filled.error() == asio::error::eof && answered_;
      if (cut) co_return HttpError::partial_message;
      if (!filled) co_return filled.error();
      answered_ = true;
    }
    if (parser.head().status >= 200) {
      reusable_ = reusable_ && parser.keep_alive();
      if (parser.done()) end_of_body();
      co_return Result<>();
    }
    // Nobody asked for another protocol (RFC 9110 §15.2.2).
    if (parser.head().status == 101) break;
  }
  co_return HttpError::bad_message;
}

Task<Result<std::string_view>> ClientExchange::read_some() {
  if (!transport_) co_return std::string_view();
  for (;;) {
    const auto step = response_->put_body(buffer_.view());
    if (!step) co_return step.error();
    buffer_.consume(step->used);
    if (!step->piece.empty()) co_return step->piece;
    if (response_->done()) break;
    if (lifetime_ == Lifetime::call) transport_->deadline(after(limits_.body_stall_max));
    if (lifetime_ == Lifetime::stream) transport_->no_deadline();
    const auto filled = co_await fill(*transport_, buffer_);
    if (filled) continue;
    if (filled.error() != asio::error::eof) co_return filled.error();
    if (const auto ended = response_->end(); !ended) co_return ended.error();
  }
  end_of_body();
  co_return std::string_view();
}

// The connection is free for the next call; bytes that nobody asked for make it useless.
void ClientExchange::end_of_body() {
  if (reusable_ && buffer_.view().empty() && transport_->is_open()) pool_.give_back(std::move(*transport_));
  transport_.reset();
  buffer_ = ReadBuffer();
  slot_.reset();
}

void ClientExchange::close() {
  if (transport_) transport_->close();
}

}  // namespace freshet::net
