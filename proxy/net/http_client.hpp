// The HTTP/1.1 client side: connections to one origin, kept alive, pooled and bounded.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/codec/http_fields.hpp"
#include "proxy/net/http_error.hpp"
#include "proxy/net/origin.hpp"
#include "proxy/net/task.hpp"

namespace freshet::net {

struct HttpClientLimits {
  std::size_t connections_max = 64;                   // at once, streams apart
  std::size_t streams_max = 20'000;                   // long-lived event streams at once
  std::size_t waiting_max = 1'024;                    // calls that wait for a connection; above: ENOBUFS at once
  std::chrono::milliseconds connect_time_max{5'000};  // resolve, connect (every address, RFC 8305) and TLS together
  std::chrono::milliseconds idle_time_max{4'000};     // below Node's default of 5 s, so that we close first
  std::chrono::milliseconds head_time_max{300'000};   // from the request written to the response's head
  std::chrono::milliseconds body_stall_max{300'000};  // between two pieces of a response body; streams: none
  std::size_t head_bytes_max = 64 * 1024;
};

enum class Lifetime { call, stream };  // a stream does not count against connections_max and has no body stall limit

// An answer whose head has arrived. Dropping it before the body's end closes the connection; reading the body to its
// end gives the connection back to the pool. Ends before its client does.
class ClientResponse {
 public:
  ClientResponse(ClientResponse&&) noexcept;
  ClientResponse& operator=(ClientResponse&&) noexcept;
  ~ClientResponse();

  [[nodiscard]] const codec::ResponseHead& head() const;
  // The next decoded piece of the body, as it arrives; empty at its end. The view lives until the next call.
  // HttpError::partial_message: the peer ended inside the body.
  Task<Result<std::string_view>> read_some();
  // The whole body; HttpError::body_limit as soon as it is known to exceed `bytes_max`.
  Task<Result<std::string>> read_all(std::size_t bytes_max);
  // Aborts a read_some that another coroutine is suspended in: it fails with operation_aborted. The response itself
  // has to live until that call has completed.
  void close();

 private:
  friend class HttpClient;
  struct State;
  explicit ClientResponse(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct ClientRequest {
  // Host, Connection, Content-Length and Transfer-Encoding are set by the client; see next_piece.
  codec::RequestHead head;
  std::string_view body;  // must live until send() completes
  // Set for a body that is streamed instead: gives the next piece, empty at the end. Sent chunked unless the head has a
  // Content-Length. An error that it gives ends the call with that error.
  std::function<Task<Result<std::string_view>>()> next_piece;
  Lifetime lifetime = Lifetime::call;
  bool keep_host = false;  // the Host of `head` goes out as it is, instead of the origin's
  // The semantics are known to be read-only: after a reused connection died before any byte of the response, the
  // request is sent once more on a new one (RFC 9110 §9.2.2). GET, HEAD, OPTIONS are retried in any case; a streamed
  // body never.
  bool safe_to_repeat = false;
  // Overrides HttpClientLimits::head_time_max.
  std::optional<std::chrono::milliseconds> head_time_max;
  // Called when the wait for a free connection is over and the request is about to be written. Returning false drops
  // the call with operation_aborted (it was cancelled while it was queued).
  std::function<bool()> on_dispatch;
};

class HttpClient {
 public:
  // `tls` may be null for plain origins and must outlive the client. Nothing is connected yet.
  HttpClient(Executor executor, Origin origin, HttpClientLimits limits, asio::ssl::context* tls);
  // Requires that no call is under way and no response left.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Interim 1xx responses are skipped. Errors: what connect, write or read reported; asio::error::timed_out;
  // operation_aborted; an HttpError; no_buffer_space when too many calls wait. A final response that comes before the
  // request was written whole counts, and the rest of the request is not sent.
  Task<Result<ClientResponse>> send(ClientRequest request);

  [[nodiscard]] const Origin& origin() const;
  [[nodiscard]] std::size_t open_connections() const;  // busy and idle, streams included
  void close_idle();

 private:
  friend class ClientResponse;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace freshet::net
