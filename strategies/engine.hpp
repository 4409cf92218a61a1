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
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "strategies/budget/breaker.hpp"
#include "strategies/budget/concurrency.hpp"
#include "strategies/budget/limiter.hpp"
#include "strategies/budget/scheduler.hpp"
#include "strategies/effect.hpp"
#include "strategies/event.hpp"
#include "strategies/glob.hpp"
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
  std::optional<Duration> age;  // none: nothing was read yet
  Duration bound;
  std::optional<WallTime> confirmed_at;  // last accepted read
  std::optional<WallTime> changed_at;
  std::optional<Duration> next_read_in;
  double changes_per_s;  // learned
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
  double rate_per_s;    // what the budget allows
  double wished_per_s;  // what the present watches would like
  unsigned in_flight;
  std::optional<Duration> paused_for;
  std::string_view pause_reason;
  std::size_t waiting;  // baselines, catch-ups and watchdog reads that wait for the budget
  std::size_t polled;   // watches in the poll schedule
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
  enum class TimerKind : std::uint8_t { baseline_wait, absence, notify, watchdog, grace, native_retry, reread };
  struct TimerKey {
    TimerKind kind;
    std::uint64_t id;  // of a subscriber for `absence`, else of a subscription
    bool operator==(const TimerKey&) const = default;
  };
  struct TimerKeyHash {
    std::size_t operator()(const TimerKey& k) const noexcept {
      return std::hash<std::uint64_t>{}(k.id * 8 + static_cast<std::uint64_t>(k.kind));
    }
  };
  // A read that goes before polls, in one subscription's session.
  struct Urgent {
    std::uint64_t subscription;
    Generation generation;
    ReadKind kind;
    Instant since;
  };
  struct Partner {
    Limiter limiter;
    Breaker breaker;
    ConcurrencyLimit concurrency;
    Scheduler schedule;
    std::vector<Watch*> by_handle;
    std::vector<Scheduler::Handle> free_handles;
    // Bounded: a subscription has at most one entry in each.
    std::deque<Urgent> waited_for;  // a client waits for its answer
    std::deque<Urgent> background;
    bool paused = false;
  };
  using PrincipalKey = std::pair<UpstreamId, Principal>;

  // engine.cpp: subscribers, client traffic, timers
  void on(const SubscriberOpened&);
  void on(const PrincipalAdopted&);
  void on(const SessionRenewed&);
  void on(const SubscriberClosed&);
  void on(const StreamAttached&);
  void on(const StreamDetached&);
  void on(const ClientRequestSent&);
  void on(const ClientRequestEnded&);
  void on(const ListPageEnded&) {}
  void on(const ListChangeArrived&) {}
  void on(const Woken&) {}
  void fire(const TimerKey& timer);

  // engine_subscribe.cpp
  void on(const SubscribeAsked&);
  void on(const UnsubscribeAsked&);
  void on(const NativeSubscribeEnded&);
  void on(const NativeUnsubscribeEnded&);
  Subscription& open(Subscriber& s, const std::string& uri);
  void forget_closed(Subscriber& s);
  void begin(Subscription& sub);
  void send_native_subscribe(Subscription& sub);
  void send_native_unsubscribe(Subscription& sub);
  void native_settled(Subscription& sub);
  void retry_native(Subscription& sub);
  void reconcile(Subscription& sub);
  void settle_reconciled(Subscription& sub);
  void activate(Subscription& sub);
  void activate_degraded(Subscription& sub);
  void answer(Subscription& sub, const RefusalPtr& refusal);
  void refuse(Subscription& sub, const RefusalPtr& refusal);
  void close(Subscription& sub);
  void fence(Subscription& sub);
  void drop(Subscription& sub);
  Watch& watch_for(const WatchKey& key);
  [[nodiscard]] const Freshness& freshness_of(UpstreamId id, std::string_view uri) const;
  void join(Subscription& sub, Watch& watch);
  void leave(Subscription& sub);
  void move(Subscription& sub, Strategy to, StrategyReason reason);

  // engine_reads.cpp
  void on(const ReadAsked&);
  void on(const ReadEnded&);
  void on(const ServedDelivered&);
  void on(const WriteEnded&);
  Read& issue(Watch* watch, ReadKind kind, Subscriber& via, const std::string& uri);
  [[nodiscard]] bool may_serve(const Watch& watch, const Subscriber& s, const Subscription* sub) const;
  [[nodiscard]] Read* joinable(const Watch& watch, const Subscriber& s);
  void judge(Watch* watch, Read& read, const Content& content, bool delivered);
  void judge(Watch* watch, Read& read, const NotFound& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Unauthorized& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Forbidden& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Rejected& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Throttled& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Failed& outcome, bool delivered);
  void conclude(Watch* watch, Read& read, const RefusalPtr& refusal, Digest digest, bool delivered);
  void accept(Watch& watch, const Read& read, const Content& content, bool delivered);
  void learn(Subscription& sub, const Read& read, const std::optional<Version>& before, bool delivered);
  void baseline_accepted(Subscription& sub);
  void deliver(Subscriber& s, const std::string& uri, Digest digest, Instant dispatched);
  void delivered_to(const Read& read, Digest digest);
  void late(const Read& read);
  void refuse_unread(Watch& watch, const Read& read);
  void passing_failure(Watch* watch, const Read& read, Verdict verdict);
  void release_joined(Read& read, const Content* content);
  [[nodiscard]] Subscription* baseline_of(const Read& read);
  [[nodiscard]] static Verdict verdict_of(Digest digest, bool differs);

  // engine_notices.cpp
  void on(const NoticeSettled&);
  void on(const UpdateArrived&);
  void found(Subscription& sub, Origin origin, std::optional<Instant> old_version_read);
  void tell(Subscription& sub);
  void native_update(Subscription& sub, const MessagePtr& exact);
  void progress(Subscription& sub);

  // engine_watchdog.cpp
  void on(const UpstreamStreamRefused&);
  void on(const UpstreamStreamLost&);
  void on(const UpstreamStreamRestored&);
  [[nodiscard]] Duration silence_limit(const Subscription& sub) const;
  void watch_silence(Subscription& sub);
  void silence_over(Subscription& sub);
  void alive(Subscription& sub);
  void prove_prompt(Subscription& sub);
  void check_native(Subscription& sub, const Read& read);
  void grace_over(Subscription& sub);
  void fall_back(Subscriber& s, StrategyReason reason);

  // engine_schedule.cpp
  void advance();
  void pump(Partner& p);
  bool send_urgent(Partner& p, std::deque<Urgent>& queue, Urgency urgency);
  bool send_poll(Partner& p);
  void dispatch(Partner& p, Watch& watch, ReadKind kind, Subscriber& via, const Subscription* own);
  void ask_soon(Watch& watch, ReadKind kind, Subscription* own);
  void reschedule(Watch& watch);
  void schedule(Watch& watch);
  void unschedule(Watch& watch);
  void observe(Watch& watch, const Read& read, bool differs);
  void retry_later(Watch& watch, const Read& read);
  void settle_budget(const Read& read, const ReadOutcome& outcome);
  void throttled(UpstreamId id, std::optional<Duration> retry_after);
  void failing(UpstreamId id);
  void note_pause(PartnerId id);
  [[nodiscard]] bool wants_polls(const Watch& watch) const;
  [[nodiscard]] Subscription* carrier(Watch& watch);
  [[nodiscard]] Duration backoff(unsigned failures);
  [[nodiscard]] static bool says_partner_is_ill(const Failed& failed);
  [[nodiscard]] static std::uint8_t bit(ReadKind kind) { return static_cast<std::uint8_t>(1U << index(kind)); }
  [[nodiscard]] Instant next_read_at(const Partner& p) const;
  [[nodiscard]] bool watches_principal(UpstreamId id, const Principal& principal) const;
  [[nodiscard]] std::vector<Watch*> watches_of(UpstreamId id, const Principal& principal) const;

  // engine_view.cpp
  [[nodiscard]] Duration bound(const Subscription& sub) const;

  [[nodiscard]] const UpstreamSettings& upstream(UpstreamId id) const { return settings_.upstreams[index(id)]; }
  [[nodiscard]] Partner& partner_of(UpstreamId id) { return partners_[index(upstream(id).partner)]; }
  [[nodiscard]] const Partner& partner_of(UpstreamId id) const { return partners_[index(upstream(id).partner)]; }
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
  std::set<PrincipalKey> suspended_;  // answered 401: no read until a newer credential or a client's read succeeds
  TimerQueue<TimerKey, TimerKeyHash> timers_;
  std::size_t open_subscriptions_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace freshet
