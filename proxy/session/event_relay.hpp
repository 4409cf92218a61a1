// Relays an event stream of the upstream to one client as it arrives: byte for byte, with a comment between two events
// where the upstream has been silent for long, and an end on the client's side that reaches the upstream.
#pragma once

#include <functional>
#include <string>

#include "proxy/codec/sse.hpp"
#include "proxy/net/http_client.hpp"
#include "proxy/net/http_server.hpp"
#include "proxy/session/reply.hpp"

namespace freshet::session {

class EventRelay {
 public:
  // One message, after it was written to the client, or could not be.
  using OnMessage = std::function<void(std::string data, bool delivered)>;

  // The exchange has begun. All must outlive the relay; `tap` may be null, the interval may change meanwhile.
  EventRelay(net::ServerExchange& client, net::ClientResponse& upstream, ReplyCollector* tap,
             const std::chrono::nanoseconds& keepalive_interval);
  // To be called before run(): tells of messages up to that size.
  void tell(std::size_t bytes_max, OnMessage on_message);

  // True if the whole stream went through; false if one of the two sides broke.
  net::Task<bool> run(net::Executor executor);

 private:
  net::Task<bool> pump();
  net::Task<> keep_alive(net::Executor executor);
  net::Task<> watch_client();
  net::Task<net::Result<>> write(std::string_view bytes);

  net::ServerExchange& client_;
  net::ClientResponse& upstream_;
  ReplyCollector* tap_;
  const std::chrono::nanoseconds& keepalive_interval_;
  codec::SseDecoder events_;
  OnMessage on_message_;
  net::Clock::time_point last_write_;
  bool writing_ = false;
  net::Timer turn_;  // waits while the other one writes
};

}  // namespace freshet::session
