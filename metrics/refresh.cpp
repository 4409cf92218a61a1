#include "metrics/metrics.hpp"

namespace freshet {

void Metrics::refresh(const SubscriptionTotals& totals, const Engine& engine, Instant now) {
  set(totals);
  for (const auto& partner : engine.partners(now)) set(partner);
  set_reads_in_flight(engine.reads_in_flight());
  set(read_process_stats());
}

}  // namespace freshet
