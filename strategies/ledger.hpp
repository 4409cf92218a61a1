// What is known of every watch and owed to every subscriber. Plain records with the rules that concern one record
// alone; the engine moves them.
#pragma once

#include <algorithm>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "strategies/effect.hpp"
#include "strategies/ids.hpp"
#include "strategies/list_scan.hpp"
#include "strategies/outcome.hpp"
#include "strategies/settings.hpp"
#include "strategies/strategy.hpp"
#include "strategies/subscription_state.hpp"

namespace freshet {

// What an accepted read saw.
struct Version {
  Digest digest;
  RawDigest raw;
  Ordinal ordinal = 0;           // of the last read that saw it
  Instant dispatched{};          // of that read
  Ordinal issued = 0;            // up to this one, reads had been sent when it was accepted
  WallTime observed_at{};        // when it was accepted
  WallTime changed_at{};         // when the first read that saw it was accepted
  SubscriberId via;              // in whose session it travelled
  const std::string* mime_type;  // the engine keeps each once
};

// Within one principal's view of one upstream.
struct WatchKey {
  std::string uri;       // byte for byte: never parsed, never normalised
  SubscriberId apart{};  // 0: shared by the principal's sessions; else the one session that sees it differently
  auto operator<=>(const WatchKey&) const = default;
};

struct Caller;
struct Subscriber;
struct Watch;

// What waits for the partner's budget, for one subscription (list pages: for one caller).
enum class Errand : std::uint8_t { baseline, catchup, watchdog, poll, subscribe, unsubscribe, list_page };

// What is known of an upstream that notifies a subscription by itself. Most are polled and have none.
struct Watchdog {
  Instant last_update = Instant::min();  // last native update for this URI or below it
  Duration update_gap{};                 // between native updates, smoothed; 0: not learned
  std::optional<Digest> base;            // what a read dispatched after the last native update saw
  std::optional<Digest> suspect;         // a change seen, not notified yet: grace runs
  Origin suspected_by = Origin::watchdog;
  unsigned prompt_updates = 0;  // while demoted: changes in a row that an update announced before a poll found them
};

// What one subscriber must be told of one watch. `news` counts what there was to tell, `told` how far the present
// stream was told, `answered` how far the subscriber has read since. answered <= told or answered == news.
struct Subscription {
  std::uint64_t id = 0;
  Subscriber* subscriber = nullptr;
  Watch* watch = nullptr;            // null once fenced
  const std::string* uri = nullptr;  // its key in Subscriber::subscriptions
  Generation generation = 0;
  Ordinal opened_at = 0;                // ordinals up to this one were issued before the subscribe
  Ordinal close_ordinal = 0;            // frozen by the fence
  std::forward_list<RequestId> asking;  // subscribe requests that wait for the answer

  std::optional<Digest> seen;  // the content last delivered to the subscriber, whole
  std::optional<Digest> own;   // what the last read in its own session saw
  Instant delivered_at = Instant::min();
  std::optional<Instant> catch_up_from;  // the first read since is compared with `seen`, whatever the strategy

  std::uint32_t news = 0;
  std::uint32_t told = 0;
  std::uint32_t answered = 0;
  std::uint32_t told_at_serve = 0;          // when it asked for what was served last without travelling
  Instant found{};                          // of the latest news
  std::optional<Instant> old_version_read;  // dispatch of the last read before the latest news
  MessagePtr verbatim;                      // the upstream's message, where that was the latest news
  std::optional<NoticeId> notice;           // on its way to the socket
  Instant quiet_until = Instant::min();     // not told again before this

  std::unique_ptr<Watchdog> watchdog;
  std::uint32_t retries = 0;  // of an upstream subscribe or unsubscribe
  state::Any state = state::Discovered{};
  Strategy strategy = Strategy::poll;  // how changes are found for this subscription at present
  Origin origin = Origin::poll;        // of the latest news
  std::uint8_t unsure = 0;             // rounds in which neither it nor another session was confirmed
  std::uint8_t queued = 0;             // errands that wait for the budget, a bit each
  bool degraded = false;               // accepted without a baseline
  bool delivered = false;              // `seen` was delivered, not only taken from the baseline
  bool agrees = false;                 // its session was seen to follow the shared version through a change
  bool native = false;                 // the upstream holds a subscription for it
  bool native_busy = false;            // an upstream subscribe or unsubscribe is on its way: one at a time
  bool demoted = false;                // the watchdog found it silent: polled until its updates prove prompt

  [[nodiscard]] Instant last_update() const { return watchdog ? watchdog->last_update : Instant::min(); }
  Watchdog& guard() {
    if (!watchdog) watchdog = std::make_unique<Watchdog>();
    return *watchdog;
  }
  // Nothing is expected of the upstream any more, nor suspected: what is read next is the new base.
  void trust_anew() {
    if (!watchdog) return;
    watchdog->base.reset();
    watchdog->suspect.reset();
  }
  // A read that was dispatched after the last native update saw this. Nobody has to notify what follows on no content.
  void rebase(Digest digest) {
    if (watchdog) watchdog->base = is_content(digest) ? std::optional(digest) : std::nullopt;
  }
  [[nodiscard]] bool owes() const { return news > told; }
  [[nodiscard]] bool owed_or_told() const { return news > answered; }
  // What is accepted now need not be told besides: the subscriber reads after it, because of what it is owed.
  [[nodiscard]] bool will_be_told() const;
  void add_news(Origin o, Instant now) {
    ++news;
    origin = o;
    found = now;
  }
  void was_told(Origin o, Instant now) {
    add_news(o, now);
    told = news;
  }
  void nothing_owed() { told = answered = news; }
  // A new stream that continues nothing: what was told and not answered is owed again.
  void stream_lost() { told = answered; }
  [[nodiscard]] bool waits(Errand e) const { return (queued & bit(e)) != 0; }
  [[nodiscard]] static std::uint8_t bit(Errand e) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(e)); }
};

// Digests of what was read and is not watched, so that "read, change, subscribe" is not silent. The one remembered
// longest ago goes first.
class SeenMemory {
 public:
  explicit SeenMemory(std::size_t capacity) : capacity_(capacity) {}
  SeenMemory(SeenMemory&&) = default;
  SeenMemory& operator=(SeenMemory&&) = default;

  void remember(const std::string& uri, Digest digest) {
    take(uri);
    by_age_.emplace_back(uri, digest);
    places_.emplace(by_age_.back().first, std::prev(by_age_.end()));
    if (by_age_.size() > capacity_) take(std::string(by_age_.front().first));
  }
  [[nodiscard]] std::optional<Digest> find(const std::string& uri) const {
    const auto place = places_.find(uri);
    return place == places_.end() ? std::nullopt : std::optional(place->second->second);
  }
  std::optional<Digest> take(const std::string& uri) {
    const auto place = places_.find(uri);
    if (place == places_.end()) return std::nullopt;
    const auto entry = place->second;
    const Digest digest = entry->second;
    places_.erase(place);
    by_age_.erase(entry);
    return digest;
  }

 private:
  using Entries = std::list<std::pair<std::string, Digest>>;
  std::size_t capacity_;
  Entries by_age_;
  std::unordered_map<std::string_view, Entries::iterator> places_;  // by the entries' own text
};

struct Subscriber {
  SubscriberId id;
  UpstreamId upstream;
  Caller* caller = nullptr;
  Declaration declared;
  Strategy strategy = Strategy::off;
  bool shadow = false;
  bool listen = false;          // a modern stream: which client of its principal reads cannot be known
  bool attached = false;        // a stream to the client is there
  bool absent = false;          // none for longer than the grace period: costs nothing
  bool native_refused = false;  // resources/subscribe is declared and not there: do not ask again for every URI
  Instant write_ended = Instant::min();
  std::size_t open = 0;  // subscriptions that are not fenced
  std::map<std::string, Subscription, std::less<>> subscriptions;
  SeenMemory seen;
};

inline bool Subscription::will_be_told() const {
  return subscriber->listen ? owes() && !notice : owed_or_told();
}

enum class Presence : std::uint8_t { unknown, present, tombstone_pending, absent };

[[nodiscard]] constexpr std::string_view to_string(Presence p) {
  switch (p) {
    case Presence::unknown:
      return "unknown";
    case Presence::present:
      return "present";
    case Presence::tombstone_pending:
      return "tombstone_pending";
    case Presence::absent:
      return "absent";
  }
  return "";
}

struct Read {
  ReadId id;
  std::optional<WatchId> watch;  // none: the URI is not watched
  Ordinal ordinal = 0;
  ReadKind kind = ReadKind::client;
  SubscriberId via;
  std::uint64_t caller = 0;  // whose credentials it carries
  UpstreamId upstream;
  std::uint64_t subscription = 0;  // whose baseline, watchdog or catch-up it is; 0: the watch's
  Generation generation = 0;
  std::string uri;
  Instant dispatched{};
  std::uint32_t told = 0;                                  // how far its subscriber had been told when it asked
  std::vector<std::pair<RequestId, SubscriberId>> joined;  // client reads answered from this one
};

// A read that differs from what another session saw. It counts as soon as a read in another session saw the same.
struct Doubt {
  Read read;
  Content content;
  bool delivered;
  Ordinal issued;  // up to this one, reads had been sent when it arrived
};

struct Watch {
  WatchId id;
  const WatchKey* key = nullptr;
  Caller* caller = nullptr;
  const Freshness* freshness = nullptr;
  boost::container::small_vector<Subscription*, 1> holders;  // in the order of their subscribes
  Ordinal issued = 0;
  Ordinal accepted = 0;
  Instant confirmed{};  // dispatch of the last accepted read, whatever it saw
  std::optional<Version> version;
  Instant missing_since{};                  // dispatch of the read that opened tombstone_pending
  std::optional<ReadId> in_flight;          // the latest read of our own
  Instant updated = Instant::min();         // last native update of this URI, or below it, for any holder
  std::optional<Scheduler::Handle> handle;  // its place in the poll schedule
  ResultPtr result;                         // of the last accepted read, while a subscriber may be served from it
  std::vector<Doubt> doubts;                // at most one per session
  SubscriberId witness{};                   // whom they wait for
  std::uint32_t turn = 0;                   // whose session the next read travels in
  std::uint32_t failures = 0;               // in a row
  std::uint32_t missing = 0;                // reads in a row that did not find it
  Presence presence = Presence::unknown;
  bool listed = false;  // while pending: the list still has it
  bool forbidden = false;
  bool is_public = false;  // the upstream said so of the accepted version: cacheScope

  // The one acceptance point for order: a read that was dispatched before the last accepted one comes too late.
  [[nodiscard]] bool accepts(Ordinal ordinal) const { return ordinal <= issued && ordinal > accepted; }
};

// Where lists cannot confirm an absence, so many reads in a row do.
inline constexpr unsigned missing_reads_to_confirm = 2;

// Whether a read of this session waits for a second opinion.
[[nodiscard]] inline bool in_doubt(const Watch& watch, SubscriberId session) {
  return std::ranges::any_of(watch.doubts, [&](const Doubt& d) { return d.read.via == session; });
}

// The last completed scan of a principal's resources/list.
struct Snapshot {
  SnapshotProof proof;
  WallTime measured_at;
  Duration bound;  // from the start of what it rests on to its end: what happened within may be missing
  Hash128 digest;
  std::size_t resources;
};

// The reconciliation of one principal's resources/list.
struct ListReview {
  std::optional<ListScan> scan;
  SubscriberId via{};          // the session that its cursors belong to
  std::optional<PageId> page;  // on its way
  bool queued = false;         // the next page waits for the budget
  unsigned failures = 0;       // in a row
  bool unreliable = false;     // lists cannot be scanned at present: a second read has to do
  std::optional<Snapshot> snapshot;
};

// One principal on one upstream: what its sessions share, and what ends with the last of them.
struct Caller {
  std::uint64_t id = 0;
  UpstreamId upstream;
  Principal principal;
  std::vector<Subscriber*> sessions;
  std::map<WatchKey, Watch> watches;
  std::optional<Instant> refused_at;  // answered 401: no read of our own until a later read of the client succeeds
  Instant last_read = Instant::min();
  WatchKey checked;  // the watch that was read last so that a revoked credential is noticed
  ListReview list;
};

}  // namespace freshet
