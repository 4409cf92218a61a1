// The HTTP/1.1 server side: one coroutine per connection, one exchange at a time (RFC 9112).
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <string_view>

#include "proxy/codec/http_fields.hpp"
#include "proxy/net/http_error.hpp"
#include "proxy/net/task.hpp"
#include "proxy/net/transport.hpp"

namespace freshet::net {

struct HttpServerLimits {
  std::size_t head_bytes_max = 64 * 1024;             // above: 431, closed (RFC 6585 §5)
  std::chrono::milliseconds head_time_max{10'000};    // from the first byte of a head to its end
  std::chrono::milliseconds idle_time_max{75'000};    // between exchanges
  std::chrono::milliseconds body_stall_max{30'000};   // between two pieces of a request body
  std::chrono::milliseconds write_stall_max{30'000};  // a peer that does not read
};

// One request and its response. Owned by the connection; the handler uses it until it returns.
class ServerExchange {
 public:
  [[nodiscard]] virtual const codec::RequestHead& head() const = 0;
  [[nodiscard]] virtual Transport& transport() = 0;

  // The next piece of the decoded request body; empty at its end. The view lives until the next call.
  // Answers an `Expect: 100-continue` on the first call that finds no body yet.
  virtual Task<Result<std::string_view>> read_body_some() = 0;
  // The whole body, or HttpError::body_limit as soon as it is known to exceed `bytes_max`.
  virtual Task<Result<std::string>> read_body(std::size_t bytes_max) = 0;

  // A whole response: Content-Length is added (not for 204, 304), head and body go in one write. To a HEAD request the
  // body is left out and a Content-Length in the head is kept. Connection and Transfer-Encoding in `head` are replaced.
  virtual Task<Result<>> respond(codec::ResponseHead head, std::string_view body) = 0;

  // A streamed response. Framing: a Content-Length in the head is kept, a body of exactly that length must follow;
  // otherwise chunked for HTTP/1.1 and close-delimited for HTTP/1.0. The head goes out with the first piece, or at
  // once through flush(). An empty piece writes nothing. Where no body is allowed (HEAD, 204, 304) pieces are dropped.
  virtual void begin(codec::ResponseHead head) = 0;
  virtual Task<Result<>> write(std::string_view piece) = 0;
  virtual Task<Result<>> flush() = 0;
  virtual Task<Result<>> finish() = 0;

  // After begin() without finish(), or on any error, the connection is closed when the handler returns, so that the
  // peer sees a truncated body and not a complete one (RFC 9112 §8).
  [[nodiscard]] virtual bool begun() const = 0;

  // See Transport::peer_ended: true if the connection is gone, false if the client only half-closed and may still read.
  // For streams, run beside the writer; whoever runs it ends it before the handler returns.
  virtual Task<bool> peer_ended() = 0;

 protected:
  ~ServerExchange() = default;
};

using Handler = std::function<Task<>(ServerExchange&)>;

// The connections of one server, so that a drain reaches those that are idle.
class ServerConnections {
 public:
  // Idle connections close now; busy ones answer what has begun with `Connection: close`.
  void drain();
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] std::size_t size() const { return busy_.size() + idle_.size(); }

  // One connection's place here, from its first byte to its end.
  class Membership {
   public:
    Membership(ServerConnections& all, Transport& transport);
    ~Membership();
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;
    void idle();
    void busy();

   private:
    ServerConnections& all_;
    std::list<Transport*>* in_;
    std::list<Transport*>::iterator place_;
  };

 private:
  std::list<Transport*> busy_;
  std::list<Transport*> idle_;
  bool draining_ = false;
};

// Serves one accepted connection until it closes, an error, or a drain between two exchanges. Malformed requests are
// answered here (400, 431, 501, 505) and never reach the handler. What is passed by reference must outlive the task.
Task<> serve_connection(Transport transport, const HttpServerLimits& limits, const Handler& handler,
                        ServerConnections& connections);

}  // namespace freshet::net
