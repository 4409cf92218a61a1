// Listen streams (2026-07-28) on resources that change: how long a change takes from the upstream's answer to the last
// subscriber, and how much the proxy's memory grew for each stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/codec/sse.hpp"
#include "proxy/net/alarm.hpp"
#include "tests/bench/connection.hpp"
#include "tests/bench/load.hpp"

namespace freshet::bench {

class Listens {
 public:
  Listens(net::Executor executor, Options options);

  // Prints one JSON object.
  net::Task<> run();

 private:
  struct Stream {
    std::unique_ptr<Connection> connection;
    codec::SseDecoder events;
    net::Clock::time_point told;  // when the last update came
  };

  net::Task<> open_streams(std::size_t count);
  net::Task<> open_some(std::size_t until);
  net::Task<bool> read_some(Stream& stream, std::string_view wanted);
  net::Task<> read_until(Stream& stream, std::string_view wanted);
  // From the answer that brought the change to the last of its subscribers.
  net::Task<double> change(Connection& upstream, std::size_t resource);
  void require_silence();

  net::Executor executor_;
  Options options_;
  std::vector<Stream> streams_;  // that at `i` is of the resource i % options.resources
  std::size_t opened_ = 0;
};

}  // namespace freshet::bench
