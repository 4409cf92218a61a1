// Which watch of one partner is read next, and when. O(log n) per read; no scan, no sweep, no timer of its own.
//
// Each watch has a wished interval by its policy. While the sum of the wishes fits the rate, each is read at its wish,
// jittered, from a random first phase. What has no wish (`budget`), and everything once the wishes exceed the rate, is
// planned by value instead (see value.hpp): at the moment when the value of reading it crosses a threshold λ, the
// marginal value, which follows the reads that the budget really granted. A watch is never read sooner than its wish,
// and later than its longest interval only where the longest intervals alone exceed the rate: then all of them are
// stretched alike, and bound() says so.
//
// Fairness: watches belong to a payer (a principal, or one session of it) on an upstream. Each payer has its own λ and
// heap, and ready payers are served by start-time fair queueing (Goyal, Vin, Cheng 1996): upstreams share the rate
// by their weight, the payers of one upstream equally, and what a share leaves over goes to the others. So a payer with
// many watches delays only its own.
//
// The caller asks its limiter first, then take(now); the read's outcome comes back by observed or postpone.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "strategies/budget/change_model.hpp"
#include "strategies/budget/indexed_heap.hpp"
#include "strategies/random.hpp"
#include "strategies/time.hpp"

namespace freshet {

enum class PollPolicy {
  fixed,     // wish: `interval`
  adaptive,  // wish: from the learned rate, within interval_min..interval_max
  budget,    // no wish: what the budget gives
};

struct WatchPlan {
  PollPolicy policy = PollPolicy::fixed;
  Duration interval = from_seconds(30.0);       // > 0; fixed only
  Duration interval_min = from_seconds(5.0);    // > 0; adaptive and budget: never sooner
  Duration interval_max = from_seconds(600.0);  // the longest interval; at least the interval or interval_min
  double weight = 1.0;                          // > 0
  double jitter = 0.1;                          // 0..0.5, fraction of the interval
  bool operator==(const WatchPlan&) const = default;
};

// Who a watch's reads are charged to.
struct Payer {
  std::uint32_t upstream = 0;  // small: state is kept in an array by it
  std::uint64_t principal = 0;
  auto operator<=>(const Payer&) const = default;
};

class Scheduler {
 public:
  // Small integers, given out by the caller, dense and reused after remove: state is kept in arrays by handle.
  using Handle = std::uint32_t;

  // `rate`: reads per second that the budget grants, > 0. `seed`: for phases and jitter.
  Scheduler(double rate, std::uint64_t seed);

  // The budget's rate changed (Limiter::own_rate). Plans follow as their watches are read.
  void set_rate(double rate) { rate_ = rate; }
  // Default 1.
  void set_upstream_weight(std::uint32_t upstream, double weight);

  // A watch whose content was read at `read_at`. Requires that the handle is not in use.
  void add(Handle, const WatchPlan&, const Payer&, Instant read_at);
  // Also while its read is out.
  void remove(Handle);
  // A changed plan. What was learnt stays, and of the wait for the next read the same part remains: watches that were
  // spread over the old interval are spread over the new one.
  void set_plan(Handle, const WatchPlan&, Instant now);
  // The upstream says how long its content will hold (`ttlMs`): wished no sooner than that, but never later than the
  // longest interval. Zero: no hint.
  void set_hint(Handle, Duration ttl);

  // The next watch to read, or none if none should be read yet. It is out of the schedule until observed or postpone.
  std::optional<Handle> take(Instant now);
  // The earliest moment at which take gives one: may be in the past; never if there is nothing to read.
  [[nodiscard]] Instant next_due() const;

  // A read that was dispatched at `at`, whoever caused it, did (not) differ from the one before: learnt, and planned
  // anew. Older news than the last teaches nothing, but the watch is planned. A watch whose own read is still out is
  // in the schedule again by this: joining concurrent reads is the caller's.
  void observed(Handle, Instant at, bool changed);
  // A change was announced, not read: learnt, without moving the next read.
  void announced(Handle, Instant at);
  // Read at `at` instead, be it later (a failure's backoff) or sooner (an announcement): no plan, one exception.
  void postpone(Handle, Instant at);

  // The longest age that the present schedule allows, answer times apart: the planned interval and the present delay.
  [[nodiscard]] Duration bound(Handle, Instant now) const;
  // The interval until the watch's next planned read.
  [[nodiscard]] Duration planned_interval(Handle h) const { return watch(h).planned_at - watch(h).base; }
  // The longest interval that its plan asks for while nothing is in the way: failures, pauses, too small a budget.
  [[nodiscard]] Duration asked_interval(Handle h) const {
    const Watch& w = watch(h);
    const WatchPlan& plan = plan_of(w);
    return from_seconds(seconds(plan.policy == PollPolicy::budget ? w.longest : w.wish) * (1.0 + plan.jitter));
  }
  // Changes per second that the watch is believed to have.
  [[nodiscard]] double change_rate(Handle) const;

  // Sum of the wishes of fixed and adaptive watches, reads per second; for budget ones their longest intervals.
  [[nodiscard]] double wished_rate() const { return wished_; }
  // Sum of the longest intervals' reads per second: what the bounds cost.
  [[nodiscard]] double floor_rate() const { return floor_; }
  [[nodiscard]] bool overloaded() const { return wished_ > rate_; }
  [[nodiscard]] std::size_t watches() const { return count_; }

 private:
  using GroupIndex = std::uint32_t;
  using PlanIndex = std::uint32_t;
  static constexpr Handle none = UINT32_MAX;

  struct Watch {
    ChangeState change;
    PlanIndex plan = 0;
    GroupIndex group = 0;
    Duration hint{};
    Duration wish{};          // no sooner than this after the last read
    Duration longest{};       // no later
    Instant planned_at{};     // the next read
    Instant base{};           // the last read
    double wished_per_s = 0;  // its part of wished_
    double floor_per_s = 0;
    Handle older = none;  // in the order of the last reads, within the group; neighbours while `aged`
    Handle newer = none;
    bool aged = false;
    bool in_use = false;
    bool by_value = false;   // planned by λ: may be read sooner when the budget is idle
    bool exception = false;  // postponed
    bool first = true;       // still in its random first phase: its interval tells nothing of λ
  };

  // Few differ: kept once for all watches that have the same.
  struct SharedPlan {
    WatchPlan plan;
    std::size_t users = 0;  // none: free to be another
  };

  // Exponentially fading means over a group's reads, as far as they tell its marginal value.
  struct Marginal {
    double log_value = 0.0;
    double interval_s = 0.0;
    double delay_s = 0.0;  // dispatch minus plan: negative when the budget was idle
    double samples = 0.0;
    double values = 0.0;

    void saw(double interval, double delay, std::optional<double> value, double memory);
    [[nodiscard]] double threshold() const;
  };

  struct Group {
    Payer payer;
    IndexedHeap<Instant> plans;
    Marginal marginal;
    Handle oldest = none;  // ends of the order of last reads
    Handle newest = none;
    std::size_t watches = 0;
    double root_weights = 0.0;  // sum of √weight
    double virtual_time = 0.0;
    bool ready = false;
  };

  struct Upstream {
    ChangeModel model;
    double weight = 1.0;
    std::uint32_t ready_groups = 0;
  };

  Watch& watch(Handle h);
  [[nodiscard]] const Watch& watch(Handle h) const;
  Upstream& upstream_of(const Group& g) { return upstreams_[g.payer.upstream]; }
  [[nodiscard]] const ChangeModel& model_of(const Watch& w) const;
  Upstream& upstream_at(std::uint32_t upstream);
  [[nodiscard]] const WatchPlan& plan_of(const Watch& w) const { return plans_[w.plan].plan; }
  PlanIndex share_plan(const WatchPlan& plan);
  GroupIndex group_for(const Payer& payer);
  void drop_group(GroupIndex index);

  void account(Watch& w, double wished_per_s, double floor_per_s);
  void set_wish(Watch& w);
  [[nodiscard]] double threshold(const Group& g) const;
  [[nodiscard]] double stretch() const;
  [[nodiscard]] double value_interval(const Watch& w, double longest) const;
  Duration plan_interval(Watch& w);
  void plan(Handle h);
  void age(Handle h);
  void unage(Handle h);
  [[nodiscard]] double value(const Watch& w, Instant now) const;
  [[nodiscard]] Handle pick(const Group& g, Instant now) const;
  void learn(const Watch& w, Group& g, Instant now);
  [[nodiscard]] bool sweeping(const Group& g) const;

  [[nodiscard]] Instant allowed_at(const Watch& w) const;
  [[nodiscard]] Instant ready_at(const Group& g) const;
  void place_group(GroupIndex index);
  void unready(Group& g, GroupIndex index);
  void make_ready(Instant now);

  double rate_;
  Random random_;
  std::deque<Watch> watches_;  // not a vector, whose growth would cost as much again
  std::vector<SharedPlan> plans_;
  IndexedHeap<Instant>::Places watch_places_;
  std::vector<Group> groups_;
  std::vector<GroupIndex> free_groups_;
  std::map<Payer, GroupIndex> group_of_;
  std::vector<Upstream> upstreams_;  // by Payer::upstream, dense
  IndexedHeap<Instant> waiting_;     // groups by the moment at which they become ready
  IndexedHeap<double> ready_;        // groups by virtual time
  IndexedHeap<Instant>::Places group_places_;
  double virtual_now_ = 0.0;
  double wished_ = 0.0;
  double floor_ = 0.0;
  std::size_t count_ = 0;
};

}  // namespace freshet
