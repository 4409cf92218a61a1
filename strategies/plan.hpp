// What a configuration will cost a partner, and how fresh it will keep the picture, before it goes live: the rules of
// the scheduler and the limiter applied to an expected workload, without a clock or chance. Expected values, hour by
// hour; each hour counts as it stands at its end.
//
//   sessions at once   those begun within the last session length (Little's law, M/G/∞)
//   watches            of P principals with D resources each, at L sessions with k of them: P·D·(1 − e^(−Lk/(PD))); the
//                      holders of one watch are Poisson, as the sessions arrive and choose independently. Each
//                      session with its own principal: L·k. A client that leaves without a word costs its grace.
//   own requests       polls (below), one baseline a subscribe, one list a principal and interval, and for each
//   principal
//                      one read in principal_check (DESIGN: a revoked credential is quiet within 30 s)
//   available          what Limiter::own_rate leaves at the clients' rate, for polls less the other own requests
//   interval           the wish while the wishes fit; else, as Scheduler plans by value, T = θ/√w within [wish,
//   longest],
//                      the same θ for all watches of an upstream, which is the value rule where nothing is known of how
//                      they differ in change (value.hpp: V → w·T²/2); upstreams share by weight, max-min fair
//   age                grows from 0 to the interval T between two reads: mean T/2, worst T·(1 + jitter) + read_timeout;
//                      by value: the longest interval, stretched where even those do not fit, + read_timeout
//
// Not in it: what a restart or a returning client costs (one read a watch), failures, and reads that clients spare us.
#pragma once

#include <string>
#include <vector>

#include "strategies/settings.hpp"
#include "strategies/workload.hpp"

namespace freshet {

// What one upstream is used for.
struct UpstreamLoad {
  Workload workload;
  double rollout = 1.0;             // share of the sessions that Freshet acts for, 0..1
  std::vector<double> rule_shares;  // by rule: of the subscribed resources; the rest has the upstream's own freshness
};

// One hour of a day.
struct HourPlan {
  unsigned hour = 0;           // 0..23
  double sessions = 0;         // at once, at its end
  double watches = 0;          // likewise
  double client_per_s = 0;     // the clients' own requests
  double available_per_s = 0;  // what the budget leaves to our own requests
  double wished_per_s = 0;     // our own requests if every watch were read at its wish
  double polls_per_s = 0;      // what the budget makes of it; checks of credentials included
  double baselines_per_s = 0;  //
  double lists_per_s = 0;      //
  double stretch = 1;          // wished over granted polls, >= 1
  double age_mean_s = 0;       // over the watches
  double age_worst_s = 0;      //
  double notifying_per_s = 0;  // our own requests if the upstreams notified by themselves
  [[nodiscard]] double own_per_s() const { return polls_per_s + baselines_per_s + lists_per_s; }
  [[nodiscard]] bool fits() const { return wished_per_s <= available_per_s; }
};

struct Price {
  HourPlan busiest;  // the hour with most wishes and client traffic together
  double reads_per_session = 0;
  double reads_per_day = 0;
  double own_per_s = 0;  // the mean of the day, like the next two
  double client_per_s = 0;
  double age_mean_s = 0;
  double age_worst_s = 0;        // of the worst hour
  unsigned hours_stretched = 0;  // in which the wishes do not fit
};

// Adaptive intervals depend on what the resources do: from all changing all the time to none ever.
struct Estimate {
  Price most;
  Price least;  // as `most` where nothing is adaptive
};

// The watches of one upstream that one rule is for, in the busiest hour.
struct KindPlan {
  std::string upstream;
  std::string match;  // empty: what no rule matches
  PollPolicy policy = PollPolicy::fixed;
  double watches = 0;
  double interval_s = 0;        // expected; of adaptive ones if all change all the time
  double interval_worst_s = 0;  // of adaptive ones if none ever changes
  double age_worst_s = 0;
};

struct PartnerPlan {
  std::string name;
  BudgetSettings budget;
  double sessions_per_day = 0;  // that Freshet acts for
  bool adaptive = false;        // the estimates are ranges
  Estimate half;                // at half of each interval, which for adaptive and budget is their limits
  Estimate configured;
  Estimate twice;
  std::vector<KindPlan> kinds;
};

// `loads` by UpstreamId, one for each upstream of the settings, with a share for each of its rules.
[[nodiscard]] PartnerPlan price(const Settings& settings, PartnerId partner, const std::vector<UpstreamLoad>& loads);

}  // namespace freshet
