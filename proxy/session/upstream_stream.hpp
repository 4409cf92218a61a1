// The upstream's event stream of one session (2025-11-25 transports, Listening for Messages from the Server): opened,
// read, and opened again when it ends, until it is stopped or the upstream says that there is none.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/sse.hpp"
#include "proxy/net/http_client.hpp"
#include "proxy/net/one_shot.hpp"
#include "proxy/net/task_group.hpp"
#include "proxy/session/sessions.hpp"
#include "proxy/session/shell.hpp"

namespace freshet::session {

class OwnCalls;

class UpstreamStream {
 public:
  // Belongs to its own task from then on; the session points to it until it has ended.
  static void start(Shell& shell, Sessions& sessions, OwnCalls& calls, Session& session);

  UpstreamStream(Shell& shell, Sessions& sessions, OwnCalls& calls, Session& session);
  ~UpstreamStream();
  UpstreamStream(const UpstreamStream&) = delete;
  UpstreamStream& operator=(const UpstreamStream&) = delete;

  void stop();
  [[nodiscard]] bool stopping() const { return stopping_; }
  // `opened` is set true once the stream is there, false once it is known that there will be none.
  void tell_when_open(net::OneShot<bool>& opened);
  void forget(net::OneShot<bool>& opened) { waiting_.remove(&opened); }

 private:
  enum class Ending { stopped, broken, refused, session_lost };

  static net::Task<> run(std::unique_ptr<UpstreamStream> self);
  net::Task<> keep_open();
  net::Task<Ending> open_and_read();
  net::Task<Ending> read(net::ClientResponse& response);
  net::Task<> wait_before_retry();
  void take(codec::SseEvent event);
  [[nodiscard]] bool take_listen(Session& session, const codec::Message& message, const std::string& data);
  [[nodiscard]] static Ending ending_of(const codec::ResponseHead& head, bool modern);
  void report(Ending ending);
  void opened();
  void settle_waiting(bool open);

  Shell& shell_;
  Sessions& sessions_;
  OwnCalls& calls_;
  Upstream& upstream_;
  const SubscriberId subscriber_;
  const bool modern_;
  net::TaskGroup work_;  // what stop() gives up, also while the upstream has not answered
  std::unique_ptr<net::ClientResponse> response_;
  net::Timer retry_;
  std::list<net::OneShot<bool>*> waiting_;
  std::optional<std::string> opened_in_;  // the upstream's id of the session that it was asked for in
  std::string last_event_id_;
  std::chrono::milliseconds retry_after_{0};    // as the upstream asked
  std::chrono::milliseconds throttled_for_{0};  // Retry-After of the last refusal
  bool brought_event_ = false;                  // by the present stream
  unsigned flaps_ = 0;                          // openings in a row that brought nothing
  bool open_ = false;
  bool was_open_ = false;
  bool lost_ = false;  // the engine was told so
  bool stopping_ = false;
};

}  // namespace freshet::session
