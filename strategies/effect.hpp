// All that the engine can want. The shell performs effects in the order given; an outcome comes back as an event,
// never inside the call that performs.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strategies/event.hpp"
#include "strategies/ids.hpp"
#include "strategies/time.hpp"

namespace freshet {

enum class ReadKind : std::uint8_t { client, baseline, poll, watchdog, catchup };

[[nodiscard]] constexpr std::string_view to_string(ReadKind k) {
  switch (k) {
    case ReadKind::client:
      return "client";
    case ReadKind::baseline:
      return "baseline";
    case ReadKind::poll:
      return "poll";
    case ReadKind::watchdog:
      return "watchdog";
    case ReadKind::catchup:
      return "catchup";
  }
  return "";
}

// Who found a change.
enum class Origin : std::uint8_t { poll, upstream, watchdog, client };

[[nodiscard]] constexpr std::string_view to_string(Origin o) {
  switch (o) {
    case Origin::poll:
      return "poll";
    case Origin::upstream:
      return "upstream";
    case Origin::watchdog:
      return "watchdog";
    case Origin::client:
      return "client";
  }
  return "";
}

// Who found what this read found.
[[nodiscard]] constexpr Origin origin_of(ReadKind kind) {
  switch (kind) {
    case ReadKind::client:
      return Origin::client;
    case ReadKind::watchdog:
      return Origin::watchdog;
    case ReadKind::baseline:
    case ReadKind::poll:
    case ReadKind::catchup:
      return Origin::poll;
  }
  return Origin::poll;
}

// --- towards the upstream ---

struct SendRead {
  ReadId read;
  SubscriberId via;  // in whose session and with whose credentials it travels
  UpstreamId upstream;
  std::string uri;
  ReadKind kind;
  Duration timeout;
};
struct SendNativeSubscribe {
  SubscriberId subscriber;
  std::string uri;
  Generation generation;
};
struct SendNativeUnsubscribe {
  SubscriberId subscriber;
  std::string uri;
  Generation generation;
};

struct SendListPage {
  PageId page;
  SubscriberId via;
  UpstreamId upstream;
  std::optional<std::string> cursor;  // none: the first page
  Duration timeout;
};

// --- towards the client ---

inline constexpr int server_error = -32000;  // JSON-RPC's code of Freshet's own refusals

struct AnswerSubscribe {
  RequestId request;
  RefusalPtr refusal;     // null: accepted
  bool degraded = false;  // accepted without a baseline
};
struct AnswerUnsubscribe {
  RequestId request;
};
// A refusal that is Freshet's own. `code` is a JSON-RPC error code.
struct RefuseRequest {
  RequestId request;
  int code;
  std::string message;
};
struct ForwardRead {
  RequestId request;
  ReadId read;
};
struct ServeRead {
  RequestId request;
  ResultPtr result;
  Digest digest;
  Instant dispatched;  // of the read that it is served from
};
struct Notify {
  NoticeId notice;
  SubscriberId subscriber;
  UpstreamId upstream;
  std::string uri;
  Origin origin;
  Strategy strategy;
  MessagePtr verbatim;  // the upstream's own message, handed on as it came; null: Freshet makes one
  std::string version;  // hexadecimal digest; empty where nothing was read
  WallTime observed_at{};
  Duration bound{};
};
// A notification that is still queued must not go out: its subscription was closed. It is not settled any more.
struct Withdraw {
  NoticeId notice;
  SubscriberId subscriber;
};
// A synthesised notifications/resources/list_changed.
struct NotifyListChanged {
  SubscriberId subscriber;
};
// A message from the upstream's stream that is nobody's subscription: handed on as it came.
struct Relay {
  SubscriberId subscriber;
  MessagePtr message;
};

// --- facts, for metrics, log and the admin page ---

enum class Verdict : std::uint8_t { changed, unchanged, not_found, refused, error, stale, throttled };

[[nodiscard]] constexpr std::string_view to_string(Verdict v) {
  switch (v) {
    case Verdict::changed:
      return "changed";
    case Verdict::unchanged:
      return "unchanged";
    case Verdict::not_found:
      return "not_found";
    case Verdict::refused:
      return "refused";
    case Verdict::error:
      return "error";
    case Verdict::stale:
      return "stale";
    case Verdict::throttled:
      return "throttled";
  }
  return "";
}

struct ReadJudged {
  UpstreamId upstream;
  ReadKind kind;
  Verdict verdict;
  std::optional<Duration> age_resolved;      // age of the picture that this read replaced
  std::optional<Duration> since_modified{};  // of a change, since the upstream's own lastModified: a hint
};
struct NoticeDelivered {
  UpstreamId upstream;
  Origin origin;
  Duration lag;                              // found to handed to the socket
  std::optional<Duration> change_lag_bound;  // dispatch of the last read of the old version to handed to the socket
};
struct NoticeCoalesced {
  UpstreamId upstream;
};
struct StrategyChanged {
  UpstreamId upstream;
  SubscriberId subscriber;
  std::string uri;  // empty: the whole connection
  Strategy from;
  Strategy to;
  StrategyReason reason;
};
enum class WatchdogResult : std::uint8_t { unchanged, rebased, prompt, broken, failed };

[[nodiscard]] constexpr std::string_view to_string(WatchdogResult r) {
  switch (r) {
    case WatchdogResult::unchanged:
      return "unchanged";
    case WatchdogResult::rebased:
      return "rebased";
    case WatchdogResult::prompt:
      return "prompt";
    case WatchdogResult::broken:
      return "broken";
    case WatchdogResult::failed:
      return "failed";
  }
  return "";
}
struct WatchdogChecked {
  UpstreamId upstream;
  WatchdogResult result;
};
// One complete scan of a principal's resources/list, or the reason why it is none.
enum class ListResult : std::uint8_t { proven, unproven, differing, overtaken, bad_cursor, looping, too_long, failed };

[[nodiscard]] constexpr std::string_view to_string(ListResult r) {
  switch (r) {
    case ListResult::proven:
      return "proven";
    case ListResult::unproven:
      return "unproven";
    case ListResult::differing:
      return "differing";
    case ListResult::overtaken:
      return "overtaken";
    case ListResult::bad_cursor:
      return "bad_cursor";
    case ListResult::looping:
      return "looping";
    case ListResult::too_long:
      return "too_long";
    case ListResult::failed:
      return "failed";
  }
  return "";
}
struct ListScanned {
  UpstreamId upstream;
  ListResult result;
};
// Two sessions of one principal see this resource differently: it is watched apart for this one from now on.
struct SessionsDisagreed {
  UpstreamId upstream;
  SubscriberId subscriber;
  std::string uri;
};
// In shadow: what would have been told.
struct NoticeWithheld {
  UpstreamId upstream;
  Origin origin;
};
struct PartnerPaused {
  PartnerId partner;
  Duration length;
  bool throttled;  // false: repeated failure opened the breaker
};
struct PartnerResumed {
  PartnerId partner;
};
struct PrincipalRefused {
  UpstreamId upstream;
};
struct ResourceRefused {
  UpstreamId upstream;
  std::string uri;
};
struct LateAfterClose {
  UpstreamId upstream;
};
struct BudgetWaited {
  PartnerId partner;
  Duration wait;  // from due to dispatch
};

using Effect = std::variant<SendRead, SendNativeSubscribe, SendNativeUnsubscribe, AnswerSubscribe, AnswerUnsubscribe,
                            RefuseRequest, ForwardRead, ServeRead, Notify, Withdraw, Relay, ReadJudged, NoticeDelivered,
                            NoticeCoalesced, StrategyChanged, WatchdogChecked, PartnerPaused, PartnerResumed,
                            PrincipalRefused, ResourceRefused, LateAfterClose, BudgetWaited, SendListPage,
                            NotifyListChanged, ListScanned, SessionsDisagreed, NoticeWithheld>;
using Effects = std::vector<Effect>;

}  // namespace freshet
