// The mission, whole and pure: events go in with the present time, effects come out, and next_wake() says when the
// engine wants to be called again. It never suspends, reads no clock and draws no randomness but from its seed, so the
// same events give the same effects.
//
// The parts: capability gate (strategy.hpp), ledger (ledger.hpp, subscription_state.hpp), digest (digest.hpp), limiter,
// breaker, change model and poll scheduler (budget/). This class joins them; its members are grouped by the file that
// has them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strategies/budget/breaker.hpp"
#include "strategies/budget/limiter.hpp"
#include "strategies/budget/scheduler.hpp"
#include "strategies/effect.hpp"
#include "strategies/event.hpp"
#include "strategies/ledger.hpp"
#include "strategies/random.hpp"
#include "strategies/settings.hpp"
#include "strategies/timer_queue.hpp"

namespace freshet {

// How one subscription stands, to be shown. Views live until the next apply().
struct SubscriptionView {
  SubscriberId subscriber;
  UpstreamId upstream;
  std::string_view uri;
  std::string_view state;
  Strategy strategy;
  Presence presence;
  bool attached;
  bool degraded;
  bool absent;
  std::optional<Duration> age;             // none: nothing was read yet
  Duration bound;
  std::optional<WallTime> confirmed_at;    // last accepted read
  std::optional<WallTime> changed_at;
  std::optional<Duration> next_read_in;
  double changes_per_s;                    // learned
  std::string version;
};

struct SubscriberView {
  SubscriberId subscriber;
  UpstreamId upstream;
  Strategy strategy;
  bool attached;
  bool absent;
  std::size_t subscriptions;
};

struct PartnerView {
  PartnerId partner;
  double rate_per_s;           // what the budget allows
  double wished_per_s;         // what the present watches would like
  unsigned in_flight;
  std::optional<Duration> paused_for;
  std::string_view pause_reason;
  std::size_t waiting;         // reads that are due and wait for the budget
};

class Engine {
 public:
  Engine(Settings settings, std::uint64_t seed);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Appends to `effects`. `now.instant` never goes back.
  void apply(const Event& event, Now now, Effects& effects);

  [[nodiscard]] Instant next_wake() const;

  // `enforce: all`: takes from the partner's budget for a client's request; how long to wait where there is none.
  [[nodiscard]] std::optional<Duration> admit_client(UpstreamId upstream, Instant now);

  // The raw and canonical digest of what the watch of this read holds, so that an answer of the same bytes need not be
  // parsed.
  [[nodiscard]] std::optional<std::pair<RawDigest, Digest>> known(ReadId read) const;

  [[nodiscard]] std::size_t subscription_count() const { return open_subscriptions_; }
  [[nodiscard]] std::size_t subscriber_count() const { return subscribers_.size(); }
  [[nodiscard]] std::size_t watch_count() const { return watches_.size(); }
  [[nodiscard]] std::size_t reads_in_flight() const { return reads_.size(); }
  [[nodiscard]] std::size_t timers() const { return timers_.size(); }
  void for_each_subscription(Instant now, const std::function<void(const SubscriptionView&)>& visit) const;
  void for_each_subscriber(const std::function<void(const SubscriberView&)>& visit) const;
  [[nodiscard]] std::vector<PartnerView> partners(Instant now) const;
  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  enum class TimerKind : std::uint8_t { baseline_wait, absence, notify, watchdog, grace, native_retry, presence };
  struct TimerKey {
    TimerKind kind;
    std::uint64_t id;
    bool operator==(const TimerKey&) const = default;
  };
  struct TimerKeyHash {
    std::size_t operator()(const TimerKey& k) const noexcept {
      return std::hash<std::uint64_t>{}(k.id * 8 + static_cast<std::uint64_t>(k.kind));
    }
  };
  // A read that goes before polls.
  struct Urgent {
    WatchId watch;
    ReadKind kind;
    std::uint64_t subscription;  // in whose session; 0: whose turn it is
    Generation generation;
    Instant since;
  };
  struct Partner {
    Limiter limiter;
    Breaker breaker;
    Scheduler schedule;
    std::deque<Urgent> urgent;  // bounded: at most one per subscription and one per watch
    bool paused = false;
  };

  // engine.cpp: lifecycle
  void on(const SubscriberOpened&);
  void on(const PrincipalAdopted&);
  void on(const SessionRenewed&);
  void on(const SubscriberClosed&);
  void on(const StreamAttached&);
  void on(const StreamDetached&);
  void on(const ClientRequestSent&);
  void on(const ClientRequestEnded&);
  void on(const Woken&) {}
  void fire(const TimerKey& timer);

  // engine_subscribe.cpp: subscribe, unsubscribe, their upstream halves
  void on(const SubscribeAsked&);
  void on(const UnsubscribeAsked&);
  void on(const RequestAbandoned&);
  void on(const NativeSubscribeEnded&);
  void on(const NativeUnsubscribeEnded&);
  void begin(Subscription& sub);
  void request_baseline(Subscription& sub);
  void answer(Subscription& sub, const RefusalPtr& refusal);
  void activate(Subscription& sub);
  void refuse(Subscription& sub, const RefusalPtr& refusal);
  void close(Subscription& sub);
  void drop(Subscription& sub);
  void retry_native(Subscription& sub);
  void move(Subscription& sub, Strategy to, StrategyReason reason);
  Watch& watch_for(const WatchKey& key);
  void join(Subscription& sub, Watch& watch);
  void leave(Subscription& sub);

  // engine_reads.cpp: reads, acceptance, sharing
  void on(const ReadAsked&);
  void on(const ReadEnded&);
  void on(const ServedDelivered&);
  void on(const WriteEnded&);
  void judge(Read& read, const Content& content, bool delivered);
  void judge(Read& read, const NotFound& outcome, bool delivered);
  void judge(Read& read, const Unauthorized& outcome, bool delivered);
  void judge(Read& read, const Forbidden& outcome, bool delivered);
  void judge(Read& read, const Throttled& outcome, bool delivered);
  void judge(Read& read, const Rejected& outcome, bool delivered);
  void judge(Read& read, const Failed& outcome, bool delivered);
  void accept(Watch& watch, const Read& read, const Content& content);
  void changed(Watch& watch, const Read& read, std::optional<Instant> old_read);
  void absent(Watch& watch, const Read& read);
  void deliver(Subscriber& subscriber, const std::string& uri, Digest digest, Instant dispatched);
  void passing_failure(Watch& watch, const Read& read);
  void release_joined(Read& read, const Content* content);
  [[nodiscard]] bool may_serve(const Watch& watch, const Subscriber& subscriber, const Subscription* sub) const;
  Read& issue(Watch* watch, ReadKind kind, Subscriber& via);

  // engine_notices.cpp: what is owed, and when it is told
  void on(const NoticeSettled&);
  void on(const UpdateArrived&);
  void on(const ListChangeArrived&);
  void on(const ListPageEnded&);
  void tell(Subscription& sub);
  void tell_all(Watch& watch);
  void progress(Subscription& sub);

  // engine_watchdog.cpp: is a native subscription alive
  void on(const UpstreamStreamRefused&);
  void on(const UpstreamStreamLost&);
  void on(const UpstreamStreamRestored&);
  void watch_silence(Subscription& sub);
  void check_native(Subscription& sub, Digest found, Instant dispatched, bool by_watchdog);
  void grace_over(Subscription& sub);

  // engine_schedule.cpp: who reads next, within the budget
  void advance();
  void pump(PartnerId partner);
  void dispatch(Watch& watch, ReadKind kind, Subscription* own, Generation generation);
  void ask_soon(Watch& watch, ReadKind kind, Subscription* own);
  void reschedule(Watch& watch);
  [[nodiscard]] bool wants_polls(const Watch& watch) const;
  [[nodiscard]] Subscription* carrier(Watch& watch);
  [[nodiscard]] Duration bound(const Watch& watch, const Subscription& sub) const;
  void throttled(UpstreamId upstream, std::optional<Duration> retry_after);
  void note_pause(PartnerId partner, bool throttled);

  [[nodiscard]] const UpstreamSettings& upstream(UpstreamId id) const { return settings_.upstreams[index(id)]; }
  [[nodiscard]] Partner& partner_of(UpstreamId id) { return partners_[index(upstream(id).partner)]; }
  [[nodiscard]] Subscriber* find(SubscriberId id);
  [[nodiscard]] Watch* find(WatchId id);
  [[nodiscard]] Subscription* find_subscription(SubscriberId subscriber, const std::string& uri);
  void emit(Effect effect) { effects_->push_back(std::move(effect)); }

  Settings settings_;
  Random random_;
  Now now_{};
  Effects* effects_ = nullptr;

  std::vector<Partner> partners_;
  std::map<SubscriberId, Subscriber> subscribers_;
  std::unordered_map<std::uint64_t, Subscription*> subscriptions_;
  std::unordered_map<WatchId, std::unique_ptr<Watch>> watches_;
  std::unordered_map<WatchKey, Watch*, WatchKeyHash> by_key_;
  std::unordered_map<ReadId, Read> reads_;
  std::unordered_map<NoticeId, std::pair<std::uint64_t, std::uint32_t>> notices_;  // subscription, news it told
  TimerQueue<TimerKey, TimerKeyHash> timers_;
  std::size_t open_subscriptions_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace freshet
