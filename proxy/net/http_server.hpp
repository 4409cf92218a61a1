// The HTTP/1.1 server side: one coroutine per connection, one exchange at a time (RFC 9112).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/codec/http_fields.hpp"
#include "proxy/net/task.hpp"
#include "proxy/net/transport.hpp"

namespace freshet::net {

struct HttpServerLimits {
  std::size_t head_bytes_max = 64 * 1024;                      // above: 431, closed (RFC 6585 §5)
  std::chrono::milliseconds head_time_max{10'000};             // from the first byte of a head to its end
  std::chrono::milliseconds idle_time_max{75'000};             // between exchanges
  std::chrono::milliseconds body_stall_max{30'000};            // between two pieces of a request body
  std::chrono::milliseconds write_stall_max{30'000};           // a peer that does not read
};

// One request and its response. Owned by the connection; the handler uses it until it returns.
class ServerExchange {
 public:
  [[nodiscard]] virtual const codec::RequestHead& head() const = 0;
  [[nodiscard]] virtual Transport& transport() = 0;

  // The next piece of the decoded request body; empty at its end. The view lives until the next call.
  // Answers an `Expect: 100-continue` on the first call.
  virtual Task<Result<std::string_view>> read_body_some() = 0;
  // The whole body, or boost::beast::http::error::body_limit as soon as it is known to exceed `bytes_max`.
  virtual Task<Result<std::string>> read_body(std::size_t bytes_max) = 0;

  // A whole response: Content-Length is added (not for 1xx, 204, 304), head and body go in one write.
  virtual Task<Result<>> respond(codec::ResponseHead head, std::string_view body) = 0;

  // A streamed response. Framing: a Content-Length in the head is kept, a body of exactly that length must follow;
  // otherwise chunked for HTTP/1.1 and close-delimited for HTTP/1.0. The head goes out with the first piece, or at
  // once through flush(). An empty piece writes nothing.
  virtual void begin(codec::ResponseHead head) = 0;
  virtual Task<Result<>> write(std::string_view piece) = 0;
  virtual Task<Result<>> flush() = 0;
  virtual Task<Result<>> finish() = 0;

  // After begin() without finish(), or on any error, the connection is closed when the handler returns, so that the
  // peer sees a truncated body and not a complete one (RFC 9112 §8).
  [[nodiscard]] virtual bool begun() const = 0;

  // Completes when the client's side ended or was reset while the response is under way: true if the connection is
  // gone, false if the client only half-closed and may still read. For streams, raced against the writer.
  virtual Task<bool> peer_ended() = 0;

 protected:
  ~ServerExchange() = default;
};

using Handler = std::function<Task<>(ServerExchange&)>;

// Serves one accepted connection until it closes, an error, or `draining()` turns true between two exchanges.
// Malformed requests are answered here (400, 431, 501, 505) and never reach the handler. `handler` and `draining` must
// outlive the task. A draining server answers what has begun and sends `Connection: close`.
Task<> serve_connection(Transport transport, const HttpServerLimits& limits, const Handler& handler,
                        const std::function<bool()>& draining);

}  // namespace freshet::net
