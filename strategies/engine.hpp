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

#include <boost/unordered/unordered_flat_map.hpp>

#include "strategies/budget/breaker.hpp"
#include "strategies/budget/concurrency.hpp"
#include "strategies/budget/limiter.hpp"
#include "strategies/budget/scheduler.hpp"
#include "strategies/effect.hpp"
#include "strategies/event.hpp"
#include "strategies/glob.hpp"
#include "strategies/ledger.hpp"
#include "strategies/list_scan.hpp"
#include "strategies/random.hpp"
#include "strategies/settings.hpp"
#include "strategies/timer_queue.hpp"
#include "strategies/view.hpp"

namespace freshet {

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
  [[nodiscard]] std::size_t notices_under_way() const { return notices_.size(); }
  [[nodiscard]] std::size_t caller_count() const { return callers_.size(); }
  [[nodiscard]] std::size_t errands() const;
  void for_each_subscription(Instant now, const std::function<void(const SubscriptionView&)>& visit) const;
  // The same for one subscriber, the first after `last` (none: the first of all), so that a walk over many can be taken
  // in steps between which the loop serves others. Gives the subscriber; none: there was no further one.
  std::optional<SubscriberId> visit_subscriptions_after(
      std::optional<SubscriberId> last, Instant now, const std::function<void(const SubscriptionView&)>& visit) const;
  void for_each_subscriber(const std::function<void(const SubscriberView&)>& visit) const;
  void for_each_snapshot(Instant now, const std::function<void(const SnapshotView&)>& visit) const;
  [[nodiscard]] std::vector<PartnerView> partners(Instant now) const;
  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  enum class TimerKind : std::uint8_t {
    baseline_wait,
    notify,
    watchdog,
    grace,
    native_wait,
    native_retry,
    reread,
    kept,     // id: of a watch
    absence,  // id: of a subscriber
    check,    // id: of a caller
    list,     // id: of a caller
  };
  struct TimerKey {
    TimerKind kind;
    std::uint64_t id;  // of a subscription, if nothing else is said
    bool operator==(const TimerKey&) const = default;
  };
  struct TimerKeyHash {
    std::size_t operator()(const TimerKey& k) const noexcept {
      return std::hash<std::uint64_t>{}(k.id * 16 + static_cast<std::uint64_t>(k.kind));
    }
  };
  struct Waiting {
    std::uint64_t id;  // of a subscription; of a caller for list pages
    Errand errand;
    Instant since;
  };
  struct Partner {
    Limiter limiter;
    Breaker breaker;
    ConcurrencyLimit concurrency;
    Scheduler schedule;
    std::vector<Watch*> by_handle;
    std::vector<Scheduler::Handle> free_handles;
    // Bounded: a subscription has at most one entry per errand, a caller one list page.
    std::deque<Waiting> waited_for;  // a client waits for its answer
    std::deque<Waiting> background;
    bool paused = false;
    bool held = false;  // by the operator
    bool poll_is_next = false;
  };
  struct Notice {
    std::uint64_t subscription;
    std::uint32_t news;  // up to which it tells
  };
  struct Delivery {
    Digest digest;
    Instant dispatched;  // of the read that it comes from
    std::uint32_t told;  // how far the subscriber had been told when it asked
  };
  using CallerKey = std::pair<UpstreamId, Principal>;

  // engine.cpp: subscribers, client traffic, timers
  void on(const SubscriberOpened&);
  void on(const SessionRenewed&);
  void on(const SubscriberClosed&);
  void on(const StreamAttached&);
  void on(const StreamDetached&);
  void on(const ClientRequestSent&);
  void on(const ClientRequestEnded&);
  void on(const WriteEnded&);
  void on(const Woken&) {}
  void fire(const TimerKey& timer);
  void fire(TimerKind kind, Subscription& sub);
  void absence_over(Subscriber& s);

  // engine_operator.cpp, engine_reconfigure.cpp
  void on(const RefreshAsked&);
  void on(const PartnerHoldAsked&);
  void on(const Reconfigured&);
  void weigh_upstreams();
  void replan(Watch& watch);
  void keep_phase(const TimerKey& timer, Duration before, Duration after);

  // engine_callers.cpp: what the sessions of one principal share
  void on(const PrincipalAdopted&);
  Caller& caller_for(UpstreamId upstream, const Principal& principal);
  void enter(Subscriber& s, Caller& caller);
  void exit(Subscriber& s);
  Watch& watch_for(Caller& caller, const WatchKey& key);
  [[nodiscard]] const Freshness& freshness_of(UpstreamId id, std::string_view uri) const;
  void join(Subscription& sub, Watch& watch);
  void leave(Subscription& sub);
  void rejoin(Subscription& sub, Watch& watch);
  void suspend(Caller& caller, SubscriberId via);
  void tell_refusal(Subscription& sub);
  void lift_suspension(Caller& caller);
  void begin_checks(const Caller& caller);
  void check_credential(Caller& caller);
  [[nodiscard]] static Subscription* carrier(Watch& watch);
  [[nodiscard]] static Subscription* reader(const Watch& watch);
  [[nodiscard]] Subscription* holder(const Watch& watch, SubscriberId subscriber);
  [[nodiscard]] bool costs_nothing(const Caller& caller) const;

  // engine_agree.cpp: sessions of one principal that see a resource differently
  [[nodiscard]] bool doubtful(const Watch& watch, const Read& read, const Content& content);
  [[nodiscard]] static bool compared(const Subscription& sub, const std::optional<Version>& before);
  void doubt(Watch& watch, const Read& read, const Content& content, bool delivered);
  void weigh_doubts(Watch& watch, const Read& read, Digest digest);
  void settle_doubts(Watch& watch, SubscriberId seen_by);
  void lose_witness(Watch& watch);
  void split(Watch& watch, const Doubt& doubted);
  void follow(Watch& watch, const Read& read, Digest digest);

  // engine_subscribe.cpp
  void on(const SubscribeAsked&);
  void on(const UnsubscribeAsked&);
  Subscription& open(Subscriber& s, const std::string& uri);
  void forget_closed(Subscriber& s);
  void begin(Subscription& sub);
  void activate(Subscription& sub);
  void activate_degraded(Subscription& sub);
  void answer(Subscription& sub, const RefusalPtr& refusal);
  void refuse(Subscription& sub, const RefusalPtr& refusal);
  void close(Subscription& sub);
  void fence(Subscription& sub);
  void drop(Subscription& sub);

  // engine_native.cpp: the upstream's half of a subscription
  void on(const NativeSubscribeEnded&);
  void on(const NativeUnsubscribeEnded&);
  void ask_native(Subscription& sub, Errand errand);
  void native_subscribed(Subscription& sub, const NativeOutcome& outcome);
  void native_slow(Subscription& sub);
  void native_settled(Subscription& sub);
  void retry_native(Subscription& sub);
  void native_traffic(UpstreamId upstream, const NativeOutcome& outcome);
  void renew(Subscription& sub);
  void settle_reconciled(Subscription& sub);
  void move(Subscription& sub, Strategy to, StrategyReason reason);

  // engine_reads.cpp: asked, issued, served, ended
  void on(const ReadAsked&);
  void on(const ReadEnded&);
  void on(const ServedDelivered&);
  void on(const ReadDelivered&);
  Read& issue(Watch* watch, ReadKind kind, Subscriber& via, const std::string& uri);
  [[nodiscard]] bool may_serve(const Watch& watch, const Subscriber& s, const Subscription* sub);
  [[nodiscard]] Read* joinable(const Watch& watch, const Subscriber& s, const Subscription* sub);
  void keep_result(Watch& watch, const ResultPtr& result);
  void forget_result(Watch& watch);
  [[nodiscard]] static bool fresh_enough(const Watch& watch, const Subscriber& s, const Subscription* sub,
                                         Instant dispatched);
  [[nodiscard]] bool sees_the_same(const Watch& watch, const Subscriber& s, SubscriberId via);
  void release_joined(Read& read, const Content* content);
  [[nodiscard]] static std::string reader_key(const Principal& principal, const std::string& uri);
  [[nodiscard]] std::optional<Digest> read_before(const Subscriber& s, const std::string& uri) const;
  void somebody_holds(Subscription& sub, Digest digest);
  void deliver(Subscriber& s, const std::string& uri, const Delivery& delivery);
  void delivered_to(const Read& read, Digest digest);

  // engine_judge.cpp: what an outcome means
  void judge(Watch* watch, Read& read, const Content& content, bool delivered);
  void judge(Watch* watch, Read& read, const NotFound& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Unauthorized& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Forbidden& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Rejected& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Throttled& outcome, bool delivered);
  void judge(Watch* watch, Read& read, const Failed& outcome, bool delivered);
  bool refuse_baseline(const Read& read, Verdict verdict, const RefusalPtr& refusal);
  void judge_content(Watch& watch, const Read& read, const Content& content, bool delivered);
  void too_late(Watch& watch, const Read& read, Digest digest);
  void credential_works(const Read& read);
  [[nodiscard]] static bool in_order(const Watch& watch, const Read& read);
  [[nodiscard]] bool overtaken(const Watch& watch, const Read& read, Digest digest);
  void stale(const Read& read);
  void late(const Read& read);
  void not_found(Watch& watch, const Read& read);
  void refused(Watch& watch, SubscriberId via);
  void accept(Watch& watch, const Read& read, const Content& content, bool delivered);
  void share(const Watch& watch, const Read& read, const Content& content);
  void take(Watch& watch, const Read& read, const Content& content, bool delivered);
  [[nodiscard]] const std::string* mime_type(const std::string& reported);
  void mark_public(Watch& watch, bool is_public);
  void learn(Subscription& sub, const Read& read, const std::optional<Version>& before, bool delivered);
  void baseline_accepted(Subscription& sub, const Read& read, Digest digest);
  void passing_failure(Watch* watch, const Read& read, Verdict verdict);
  [[nodiscard]] Subscription* baseline_of(const Read& read);
  [[nodiscard]] bool baseline_under_way(const Subscription& sub);

  // engine_notices.cpp
  void on(const NoticeSettled&);
  void on(const UpdateArrived&);
  void found(Subscription& sub, Origin origin, std::optional<Instant> old_version_read);
  void tell(Subscription& sub);
  void native_update(Subscription& sub, const MessagePtr& exact, bool news);
  void progress(Subscription& sub);

  // engine_watchdog.cpp
  void on(const UpstreamStreamRefused&);
  void on(const UpstreamStreamLost&);
  void on(const UpstreamStreamRestored&);
  [[nodiscard]] static Duration silence_limit(const Subscription& sub, const Freshness& freshness);
  void watch_silence(Subscription& sub);
  void silence_over(Subscription& sub);
  void alive(Subscription& sub);
  void weigh_promptness(Subscription& sub, const std::optional<Version>& before);
  void check_native(Subscription& sub, const Read& read);
  void suspect(Subscription& sub, const Read& read);
  void grace_over(Subscription& sub);
  void fall_back(Subscriber& s, StrategyReason reason);

  // engine_lists.cpp: what resources/list says of what was not found, and list polling
  void on(const ListPageEnded&);
  void on(const ListChangeArrived&);
  void review(Caller& caller);
  void drop_review(Caller& caller);
  void ask_page(Caller& caller);
  [[nodiscard]] bool wants_page(const Caller& caller) const;
  void send_page(Partner& p, Caller& caller);
  void list_due(Caller& caller);
  void page_ended(Caller& caller, const ListOutcome& outcome);
  void step_review(Caller& caller, const ListScan::Step& step);
  void review_done(Caller& caller);
  void review_failed(Caller& caller, ListResult result);
  void next_review(Caller& caller);
  void confirm_absent(Watch& watch);
  [[nodiscard]] bool polls_lists(const Caller& caller) const;
  [[nodiscard]] static bool pending_tombstone(const Caller& caller);

  // engine_schedule.cpp
  void advance();
  void pump(Partner& p);
  bool send_waiting(Partner& p, std::deque<Waiting>& queue, Urgency urgency);
  [[nodiscard]] bool moot(const Subscription& sub, const Waiting& entry) const;
  void perform(Partner& p, Subscription& sub, Errand errand);
  void give_up(Subscription& sub, Errand errand);
  bool send_poll(Partner& p);
  void dispatch(Partner& p, Watch& watch, ReadKind kind, Subscriber& via, const Subscription* own);
  void ask_soon(Subscription& sub, Errand errand);
  void reschedule(Watch& watch);
  void schedule(Watch& watch);
  void unschedule(Watch& watch);
  void observe(Watch& watch, const Read& read, bool differs);
  void slow_down(Watch& watch);
  void read_again(Watch& watch, Instant at);
  void settle_budget(UpstreamId upstream, Instant dispatched, const Health& health);
  void throttled(UpstreamId id, std::optional<Duration> retry_after);
  void failing(UpstreamId id);
  void note_pause(PartnerId id);
  [[nodiscard]] bool wants_polls(const Watch& watch) const;
  [[nodiscard]] Duration backoff(unsigned failures, Duration longest = std::chrono::seconds(30));
  [[nodiscard]] Instant next_read_at(const Partner& p) const;

  // engine_view.cpp
  [[nodiscard]] Duration bound(const Subscription& sub, Instant now) const;
  [[nodiscard]] std::optional<Duration> overdue_after(const Subscription& sub) const;

  [[nodiscard]] const UpstreamSettings& upstream(UpstreamId id) const { return settings_.upstreams[index(id)]; }
  [[nodiscard]] Partner& partner_of(UpstreamId id) { return partners_[index(upstream(id).partner)]; }
  [[nodiscard]] const Partner& partner_of(UpstreamId id) const { return partners_[index(upstream(id).partner)]; }
  [[nodiscard]] Subscriber* find(SubscriberId id);
  [[nodiscard]] Watch* find(WatchId id);
  [[nodiscard]] Caller* find_caller(std::uint64_t id);
  [[nodiscard]] Subscription* find_subscription(std::uint64_t id);
  [[nodiscard]] Subscription* find_subscription(SubscriberId subscriber, const std::string& uri);
  void emit(Effect effect) { effects_->push_back(std::move(effect)); }

  Settings settings_;
  Random random_;
  Now now_{};
  Effects* effects_ = nullptr;

  std::vector<Partner> partners_;
  std::map<SubscriberId, Subscriber> subscribers_;
  boost::unordered_flat_map<std::uint64_t, Subscription*> subscriptions_;
  std::map<CallerKey, Caller> callers_;
  std::unordered_map<std::uint64_t, Caller*> callers_by_id_;
  boost::unordered_flat_map<WatchId, Watch*> watches_;
  std::unordered_multimap<std::string, Watch*> public_;  // by URI: those that the upstream said are everybody's
  std::unordered_map<ReadId, Read> reads_;
  std::unordered_map<NoticeId, Notice> notices_;
  struct PageUnderWay {
    UpstreamId upstream;
    std::uint64_t caller;
    Instant dispatched;
  };
  std::unordered_map<PageId, PageUnderWay> pages_;
  std::set<std::string> mime_types_;
  std::vector<SeenMemory> read_by_principals_;  // by upstream
  TimerQueue<TimerKey, TimerKeyHash> timers_;
  std::size_t open_subscriptions_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace freshet
