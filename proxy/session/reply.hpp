// From an HTTP response to what it says of a request: the JSON-RPC answer in it, and its meaning for the ledger.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/codec/http_fields.hpp"
#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/sse.hpp"
#include "strategies/outcome.hpp"

namespace freshet::session {

// Picks the answer to one request out of a response body, JSON or event stream, as its pieces pass by.
class ReplyCollector {
 public:
  // `id_json`: of the request. Bodies, or events, above `bytes_max` are given up.
  ReplyCollector(const codec::ResponseHead& head, std::string id_json, std::size_t bytes_max);

  void feed(std::string_view piece);
  // The body ended.
  void end();

  // An event stream has carried the answer: nothing after it concerns the request.
  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] bool too_large() const { return too_large_; }
  // Meaningful once found() or after end(). Malformed where there was no answer.
  [[nodiscard]] const codec::Reply& reply() const { return reply_; }
  // The JSON text that holds it.
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  void take(std::string text);

  std::string id_json_;
  std::size_t bytes_max_;
  bool event_stream_;
  bool json_;
  codec::SseDecoder events_;
  std::string message_;
  codec::Reply reply_;
  bool found_ = false;
  bool too_large_ = false;
};

// One answer to a request: everything that its meaning is read from.
struct Answer {
  int status = 0;
  codec::Fields fields;
  bool too_large = false;
  std::string message;
  codec::Reply reply;
};

[[nodiscard]] Answer answer_of(const codec::ResponseHead& head, const ReplyCollector& collected);

// The upstream does not know the session (2025-11-25 transports, Session Management 3), in the forms that servers use:
// 404, or 400, 500 or 200 with an error that speaks of the session.
[[nodiscard]] bool session_refused(const Answer& answer);

using KnownDigests = std::optional<std::pair<RawDigest, Digest>>;

// `known`: what the watch holds, so that an answer of the same bytes is not parsed.
[[nodiscard]] ReadOutcome read_outcome(const Answer& answer, const KnownDigests& known, const VolatileParts& parts,
                                       std::chrono::sys_seconds wall_now);
[[nodiscard]] NativeOutcome native_outcome(const Answer& answer, std::chrono::sys_seconds wall_now);
[[nodiscard]] ListOutcome list_outcome(const Answer& answer, bool had_cursor, std::chrono::sys_seconds wall_now);
[[nodiscard]] std::optional<Duration> retry_after_of(const codec::Fields& fields, std::chrono::sys_seconds wall_now);

}  // namespace freshet::session
