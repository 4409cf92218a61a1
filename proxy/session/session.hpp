// One legacy session: what the client knows it by, how its upstream half is reached, and what waits to go to it.
#pragma once

#include <list>
#include <optional>
#include <string>

#include "proxy/codec/http_fields.hpp"
#include "proxy/codec/mcp.hpp"
#include "proxy/net/alarm.hpp"
#include "proxy/net/http_client.hpp"
#include "proxy/net/log.hpp"
#include "proxy/net/one_shot.hpp"
#include "proxy/session/heal_backoff.hpp"
#include "proxy/session/outbox.hpp"
#include "proxy/session/upstream.hpp"
#include "strategies/ids.hpp"
#include "strategies/strategy.hpp"

namespace freshet::session {

// A client's request that waits for a connection to the upstream, or for the end of its answer. Lives in the coroutine
// that forwards it. `notifications/cancelled` drops it in the queue, and ends it where the upstream does not.
class CallInFlight {
 public:
  explicit CallInFlight(std::string id_json) : id_json_(std::move(id_json)) {}

  // Empty for an event stream.
  [[nodiscard]] const std::string& id_json() const { return id_json_; }
  [[nodiscard]] bool cancelled() const { return cancelled_; }
  // The answer has begun; it must outlive the call, or answer_ended() be called.
  void answered(net::Executor executor, net::ClientResponse& response) {
    give_up_.emplace(executor, [&response] { response.close(); });
    if (cancelled_) give_up_->at(net::Clock::now());
  }
  void answer_ended() { give_up_.reset(); }
  // The upstream has been told; its answer may end by itself within `grace` (2025-11-25 utilities/cancellation).
  void cancel(std::chrono::nanoseconds grace) {
    cancelled_ = true;
    if (give_up_) give_up_->at(net::after(grace));
  }

 private:
  std::string id_json_;
  bool cancelled_ = false;
  std::optional<net::Alarm> give_up_;
};

class UpstreamStream;

// What of a client's request own requests in its name carry: all that is end to end and says who asks, nothing that
// describes that one request.
struct Carried {
  codec::Fields fields;
  std::string query;  // of the target, with its '?'; empty: none
};

// What makes a subscriber a modern listen stream (2026-07-28 subscriptions) and not a legacy session.
struct Listen {
  std::string id_json;  // of the listen request: the subscription id of every frame
  codec::ListenFilter asked;
  codec::ListenFilter native;        // what is asked of the upstream itself: list changes, and URIs if it can subscribe
  codec::ListenFilter acknowledged;  // what the upstream said that it honours
};

struct Session {
  Session(net::Executor executor, std::string session_id, Upstream& behind, SubscriberId subscriber_id, Outbox waiting)
      : id(std::move(session_id)),
        subscriber(subscriber_id),
        upstream(behind),
        outbox(std::move(waiting)),
        wake(executor, net::Clock::time_point::max()),
        expiry(executor) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string id;  // the client's
  const SubscriberId subscriber;
  Upstream& upstream;
  std::optional<std::string> upstream_id;  // none: the upstream has no sessions and must not see ours
  Principal principal;
  Carried carried;
  std::string protocol_version;    // negotiated
  std::string initialize_request;  // to be sent again when the upstream forgot the session
  Strategy strategy = Strategy::off;
  std::optional<Listen> listen;  // set: modern

  Outbox outbox;
  std::uint64_t attachment = 0;  // grows with each stream of the client
  bool attached = false;
  bool acts = true;         // false: shadow, or outside the rollout: its bytes pass unchanged
  bool probe = false;       // a comment is wanted now, to see whether the client still reads
  bool overflowed = false;  // the outbox could not take a message: the stream must end
  log::Repeated overflows;
  net::Timer wake;                            // cancelled when the attached stream has something to do
  UpstreamStream* upstream_stream = nullptr;  // lives in its coroutine, which clears this
  std::list<CallInFlight*> calls;
  std::list<net::OneShot<bool>*> healing;  // those who wait for the healing that is under way
  bool heals = false;
  bool made_anew = false;  // by a healing, at least once
  HealBackoff heal_backoff;

  net::Clock::time_point last_used;
  net::Clock::time_point detached_at;
  bool used = false;  // by any request after initialize
  net::Timer expiry;
};

}  // namespace freshet::session
