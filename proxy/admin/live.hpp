// The live page's stream of server-sent events: how things stand, about once a second, to a bounded number of viewers.
#pragma once

#include <functional>
#include <string>

#include "proxy/net/http_server.hpp"
#include "strategies/time.hpp"

namespace freshet::admin {

class Live {
 public:
  static constexpr std::size_t viewers_max = 16;  // above: 503
  static constexpr Duration interval = std::chrono::seconds(1);
  // A picture is taken at most so rarely that taking pictures costs one part in so many of the loop's time.
  static constexpr int thrift = 20;

  // `picture` gives one line of JSON. Both must outlive every stream.
  Live(std::function<net::Task<std::string>()> picture, std::function<Instant()> clock);

  // Answers with the stream and goes on until the viewer leaves or the task is cancelled.
  net::Task<> serve(net::ServerExchange& client);

 private:
  net::Task<> refresh();

  std::function<net::Task<std::string>()> picture_;
  bool taking_ = false;
  std::function<Instant()> clock_;
  std::string event_;  // shared by all viewers
  Instant stale_at_ = Instant::min();
  std::size_t viewers_ = 0;
};

}  // namespace freshet::admin
