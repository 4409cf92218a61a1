// What the sidecar has done of late, as far as the page shows it. A fixed amount of memory per upstream and partner.
#pragma once

#include <vector>

#include "metrics/metrics.hpp"
#include "proxy/admin/recent_events.hpp"
#include "proxy/admin/request_history.hpp"
#include "strategies/effect.hpp"
#include "strategies/settings.hpp"

namespace freshet::admin {

// How an upstream answered what Freshet asked.
struct UpstreamHealth {
  Instant last_success = Instant::min();  // Instant::min(): none yet
  Instant last_failure = Instant::min();

  [[nodiscard]] bool known() const { return last_success != Instant::min() || last_failure != Instant::min(); }
  [[nodiscard]] bool failing() const { return last_failure > last_success; }
};

class Activity {
 public:
  // `settings`, the engine's, must outlive it.
  explicit Activity(const Settings& settings);

  void observe(const Effect& effect, Now now);
  // About each RequestHistory::sample_interval.
  void sample(const Metrics& metrics, Now now);

  [[nodiscard]] const RequestHistory& history(PartnerId partner) const { return histories_[index(partner)]; }
  [[nodiscard]] const UpstreamHealth& health(UpstreamId upstream) const { return health_[index(upstream)]; }
  [[nodiscard]] const RecentEvents& events() const { return events_; }
  RecentEvents& events() { return events_; }

 private:
  struct Watcher;
  void note_heals(const Metrics& metrics, UpstreamId upstream, WallTime now);

  const Settings& settings_;
  std::vector<RequestHistory> histories_;            // by PartnerId
  std::vector<UpstreamHealth> health_;               // by UpstreamId
  std::vector<PerValue<HealResult, double>> heals_;  // by UpstreamId: as last sampled
  RecentEvents events_;
};

}  // namespace freshet::admin
