// One kept-alive HTTP connection that costs its owner little beside what it measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/net/http_parser.hpp"
#include "proxy/net/read_buffer.hpp"
#include "proxy/net/task.hpp"

namespace freshet::bench {

// Says why on standard error and ends the process: what cannot be measured is broken, not slow.
[[noreturn]] void fail(std::string_view why);

struct Reply {
  codec::ResponseHead head;
  std::string body;
};

// Every failure ends the process.
class Connection {
 public:
  static net::Task<Connection> open(net::Executor executor, std::uint16_t port);

  // Writes a request as it is and reads the response's head; the body has to be read to its end before the next one.
  net::Task<codec::ResponseHead> ask(std::string_view request);
  // The next piece of the body, empty at its end. The view lives until the next call.
  net::Task<std::string_view> read_some();
  // Both, within 30 s.
  net::Task<Reply> call(std::string_view request);

  // Reading fails once this moment has passed, which ends the process.
  void deadline(net::Clock::time_point at) { transport_.deadline(at); }
  void no_deadline() { transport_.no_deadline(); }

  // True if the peer ended, or sent what was not read yet.
  [[nodiscard]] bool stale() { return transport_.stale(); }

 private:
  explicit Connection(net::Transport transport) : transport_(std::move(transport)) {}
  net::Task<> read_more();

  net::Transport transport_;
  net::ReadBuffer buffer_;
  std::optional<net::ResponseParser> response_;
};

}  // namespace freshet::bench
