// What strategies/ needs to know of the configuration, as plain values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "strategies/budget/breaker.hpp"
#include "strategies/budget/limiter.hpp"
#include "strategies/budget/scheduler.hpp"
#include "strategies/ids.hpp"
#include "strategies/time.hpp"

namespace freshet {

enum class Mode : std::uint8_t {
  active,
  shadow,  // decide, poll and measure; deliver nothing, change no byte
  off,     // pass through
};

inline constexpr std::size_t list_pages_max = 200;  // of one scan of resources/list

// How fresh one kind of resource shall be kept.
struct Freshness {
  WatchPlan plan;
  Duration watchdog_silence = std::chrono::minutes(10);
  Duration watchdog_grace = std::chrono::seconds(5);
};

// The first rule whose glob matches the URI counts; none: the upstream's own freshness.
struct Rule {
  std::string match;
  Freshness freshness;
};

struct UpstreamSettings {
  std::string name;
  PartnerId partner{};
  double share = 1.0;  // of the partner's budget, beside its other upstreams
  Mode mode = Mode::active;
  Freshness freshness;
  std::vector<Rule> rules;
  Duration baseline_wait = std::chrono::seconds(2);               // a subscribe is answered after at most this
  Duration read_timeout = std::chrono::seconds(30);               // of reads that Freshet originates
  Duration absent_grace = std::chrono::seconds(60);               // polls go on this long without a stream
  Duration reads_max_age = std::chrono::seconds(2);               // 0: every client read travels
  Duration notify_min_interval = std::chrono::milliseconds(100);  // per subscription; the last change is never lost
  // A principal with watches makes some read at least this often, so that a revoked credential is noticed; 0: off.
  Duration principal_check = std::chrono::seconds(20);
  bool list_polling = false;
  Duration list_interval = std::chrono::minutes(5);
};

struct PartnerSettings {
  std::string name;
  BudgetSettings budget;
  BreakerSettings breaker;
};

struct EngineLimits {
  std::size_t subscriptions_max = 200'000;
  std::size_t subscriptions_per_subscriber_max = 1'000;
  std::size_t seen_per_subscriber_max = 1'000;  // digests remembered of resources that are read but not watched
  std::size_t seen_by_principals_max = 20'000;  // the same for one upstream's modern clients, which have no sessions
};

struct Settings {
  std::vector<UpstreamSettings> upstreams;
  std::vector<PartnerSettings> partners;
  EngineLimits limits;
};

}  // namespace freshet
