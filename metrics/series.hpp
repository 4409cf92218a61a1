// The series of one upstream and of one partner, made at start: counting is then one step through a pointer. All belong
// to the registry that they were made in.
#pragma once

#include <array>
#include <string>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

#include "metrics/label_values.hpp"
#include "strategies/effect.hpp"
#include "strategies/strategy.hpp"

namespace freshet {

// Makes series that the catalogue declares, with these labels among others.
class SeriesMaker {
 public:
  SeriesMaker(prometheus::Registry& registry, prometheus::Labels labels)
      : registry_(registry), labels_(std::move(labels)) {}

  [[nodiscard]] SeriesMaker with(std::string_view label, std::string_view value) const;
  [[nodiscard]] prometheus::Counter* counter(std::string_view name) const;
  [[nodiscard]] prometheus::Gauge* gauge(std::string_view name) const;
  [[nodiscard]] prometheus::Histogram* histogram(std::string_view name) const;

 private:
  prometheus::Registry& registry_;
  prometheus::Labels labels_;
};

struct UpstreamSeries {
  explicit UpstreamSeries(const SeriesMaker& make);

  PerValue<RequestKind, prometheus::Counter*> requests;
  PerValue<Verdict, prometheus::Counter*> polls;
  prometheus::Counter* stale_reads;
  prometheus::Counter* stale_after_close;
  prometheus::Histogram* staleness;
  prometheus::Gauge* staleness_age;
  prometheus::Gauge* staleness_bound;
  PerValue<Origin, prometheus::Counter*> notifications;
  PerValue<Origin, prometheus::Histogram*> notification_lag;
  prometheus::Histogram* change_lag_bound;
  prometheus::Counter* coalesced;
  PerValue<Strategy, std::array<prometheus::Gauge*, state_names.size()>> subscriptions;
  prometheus::Gauge* overdue;
  PerValue<Strategy, PerValue<Strategy, PerValue<StrategyReason, prometheus::Counter*>>> moves;  // null: no move
  PerValue<WatchdogResult, prometheus::Counter*> watchdog_checks;
  PerValue<HealResult, prometheus::Counter*> heals;
  prometheus::Counter* dropped;
  prometheus::Gauge* sessions;
  prometheus::Gauge* streams;
};

struct PartnerSeries {
  explicit PartnerSeries(const SeriesMaker& make);

  prometheus::Gauge* budget;
  prometheus::Gauge* planned;
  prometheus::Histogram* budget_wait;
  prometheus::Gauge* paused;
};

struct ConfigSeries {
  explicit ConfigSeries(const SeriesMaker& make);

  PerValue<ReloadResult, prometheus::Counter*> reloads;
  prometheus::Gauge* successful;
  prometheus::Gauge* taken_on_s;
};

struct ProcessSeries {
  explicit ProcessSeries(const SeriesMaker& make);

  prometheus::Gauge* reads_in_flight;
  prometheus::Counter* cpu_s;
  prometheus::Gauge* start_s;
  prometheus::Gauge* resident_bytes;
  prometheus::Gauge* virtual_bytes;
  prometheus::Gauge* open_fds;
  prometheus::Gauge* max_fds;
};

}  // namespace freshet
