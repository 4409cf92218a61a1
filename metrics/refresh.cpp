#include "metrics/metrics.hpp"

namespace freshet {

void Metrics::refresh(const Engine& engine, Instant now) {
  SubscriptionTotals totals(upstreams_.size());
  engine.for_each_subscription(now, [&totals](const SubscriptionView& view) { totals.add(view); });
  set(totals);
  for (const auto& partner : engine.partners(now)) set(partner);
  set_reads_in_flight(engine.reads_in_flight());
  set(read_process_stats());
}

}  // namespace freshet
