// What waits to go to one client on its event stream, and what went out last, for a stream that resumes.
//
// Messages keep their order and are never dropped: past the limit push() refuses, and the stream must end.
// Notifications need no limit of their own: the engine has at most one under way per subscription.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strategies/ids.hpp"

namespace freshet::session {

// Streams of Freshet's are named so in event ids, and the upstream's are not.
inline constexpr std::string_view stream_prefix = "freshet";

struct OutboxLimits {
  std::size_t queued_bytes_max = 1024 * 1024;
  std::size_t replay_events_max = 100;
  std::size_t replay_bytes_max = 64 * 1024;
};

class Outbox {
 public:
  // `stream`: names the stream in event ids, stream_prefix and [A-Za-z0-9]+, unlike any other of the client; empty:
  // events have no ids and nothing is kept for replay.
  Outbox(std::string stream, OutboxLimits limits) : stream_(std::move(stream)), limits_(limits) {}

  // A message from the upstream, handed on as it came. False: the limit is reached and nothing was queued.
  [[nodiscard]] bool push(std::string data, std::string event_type);
  void push(NoticeId notice, std::string data);
  // A queued notification that must not go out any more.
  void withdraw(NoticeId notice);

  struct Item {
    std::optional<NoticeId> notice;
    std::string frame;  // as it goes on the wire
  };
  // The next event, its id given out now; it is kept for replay.
  [[nodiscard]] std::optional<Item> pop();
  [[nodiscard]] bool empty() const { return queue_.empty(); }

  // The stream is gone: these never went out. Queued messages stay for the next stream.
  [[nodiscard]] std::vector<NoticeId> drop_notices();

  // True if `last_event_id` was given out by this outbox and everything after it is still there: those events are
  // queued again, in front.
  [[nodiscard]] bool replay_after(std::string_view last_event_id);
  // Whether an id is Freshet's, of this client's stream or another's; others belong to the upstream.
  [[nodiscard]] static bool made_here(std::string_view event_id);

 private:
  struct Queued {
    std::optional<NoticeId> notice;
    std::string data;
    std::string event_type;
    std::uint64_t replayed_as = 0;  // 0: new
  };
  struct Sent {
    std::uint64_t sequence;
    std::string data;
    std::string event_type;
  };
  void keep(Sent sent);

  std::string stream_;
  OutboxLimits limits_;
  std::deque<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  std::deque<Sent> sent_;
  std::size_t sent_bytes_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace freshet::session
