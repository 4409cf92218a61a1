#include "metrics/series.hpp"

#include <cassert>
#include <utility>

#include "metrics/catalogue.hpp"

namespace freshet {

namespace {

// The same family for the same name: a registry merges them.
template <class T>
prometheus::Family<T>& family(prometheus::detail::Builder<T> builder, prometheus::Registry& registry,
                              const MetricInfo& info) {
  return builder.Name(std::string(info.name)).Help(std::string(info.help)).Register(registry);
}

template <class E>
PerValue<E, prometheus::Counter*> counters(const SeriesMaker& make, std::string_view name, std::string_view label) {
  PerValue<E, prometheus::Counter*> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto value = static_cast<E>(i);
    out[value] = make.with(label, to_string(value)).counter(name);
  }
  return out;
}

PerValue<Origin, prometheus::Histogram*> histograms_by_origin(const SeriesMaker& make, std::string_view name) {
  PerValue<Origin, prometheus::Histogram*> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto value = static_cast<Origin>(i);
    out[value] = make.with("origin", to_string(value)).histogram(name);
  }
  return out;
}

auto subscriptions_by_state(const SeriesMaker& make) {
  decltype(UpstreamSeries::subscriptions) out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto strategy = static_cast<Strategy>(i);
    for (std::size_t s = 0; s < state_names.size(); ++s) {
      const auto labelled = make.with("strategy", to_string(strategy)).with("state", state_names[s]);
      out[strategy][s] = labelled.gauge("freshet_subscriptions");
    }
  }
  return out;
}

auto strategy_moves(const SeriesMaker& make) {
  decltype(UpstreamSeries::moves) out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto from = static_cast<Strategy>(i);
    for (std::size_t j = 0; j < out.size(); ++j) {
      if (i == j) continue;
      const auto to = static_cast<Strategy>(j);
      const auto labelled = make.with("from", to_string(from)).with("to", to_string(to));
      out[from][to] = counters<StrategyReason>(labelled, "freshet_strategy_changes_total", "reason");
    }
  }
  return out;
}

}  // namespace

SeriesMaker SeriesMaker::with(std::string_view label, std::string_view value) const {
  auto labels = labels_;
  labels.emplace(label, value);
  return {registry_, std::move(labels)};
}

prometheus::Counter* SeriesMaker::counter(std::string_view name) const {
  const auto& info = metric_info(name);
  assert(info.type == MetricType::counter);
  return &family(prometheus::BuildCounter(), registry_, info).Add(labels_);
}

prometheus::Gauge* SeriesMaker::gauge(std::string_view name) const {
  const auto& info = metric_info(name);
  assert(info.type == MetricType::gauge);
  return &family(prometheus::BuildGauge(), registry_, info).Add(labels_);
}

prometheus::Histogram* SeriesMaker::histogram(std::string_view name) const {
  const auto& info = metric_info(name);
  assert(info.type == MetricType::histogram);
  const prometheus::Histogram::BucketBoundaries buckets(info.buckets.begin(), info.buckets.end());
  return &family(prometheus::BuildHistogram(), registry_, info).Add(labels_, buckets);
}

UpstreamSeries::UpstreamSeries(const SeriesMaker& make)
    : requests(counters<RequestKind>(make, "freshet_upstream_requests_total", "kind")),
      polls(counters<Verdict>(make, "freshet_polls_total", "outcome")),
      stale_reads(make.counter("freshet_stale_reads_total")),
      stale_after_close(make.counter("freshet_stale_after_close_total")),
      staleness(make.histogram("freshet_staleness_seconds")),
      staleness_age(make.gauge("freshet_staleness_age_seconds")),
      staleness_bound(make.gauge("freshet_staleness_bound_seconds")),
      notifications(counters<Origin>(make, "freshet_notifications_total", "origin")),
      notification_lag(histograms_by_origin(make, "freshet_notification_lag_seconds")),
      change_lag_bound(make.histogram("freshet_change_lag_bound_seconds")),
      coalesced(make.counter("freshet_notifications_coalesced_total")),
      subscriptions(subscriptions_by_state(make)),
      overdue(make.gauge("freshet_subscriptions_overdue")),
      moves(strategy_moves(make)),
      watchdog_checks(counters<WatchdogResult>(make, "freshet_watchdog_checks_total", "result")),
      heals(counters<HealResult>(make, "freshet_heals_total", "result")),
      dropped(make.counter("freshet_messages_dropped_total")),
      sessions(make.gauge("freshet_sessions")),
      streams(make.gauge("freshet_streams")) {}

PartnerSeries::PartnerSeries(const SeriesMaker& make)
    : budget(make.gauge("freshet_budget_requests_per_second")),
      planned(make.gauge("freshet_planned_requests_per_second")),
      budget_wait(make.histogram("freshet_budget_wait_seconds")),
      paused(make.gauge("freshet_partner_paused")) {}

ConfigSeries::ConfigSeries(const SeriesMaker& make)
    : reloads(counters<ReloadResult>(make, "freshet_config_reloads_total", "result")),
      successful(make.gauge("freshet_config_last_reload_successful")),
      taken_on_s(make.gauge("freshet_config_last_reload_success_timestamp_seconds")) {}

ProcessSeries::ProcessSeries(const SeriesMaker& make)
    : reads_in_flight(make.gauge("freshet_reads_in_flight")),
      cpu_s(make.counter("process_cpu_seconds_total")),
      start_s(make.gauge("process_start_time_seconds")),
      resident_bytes(make.gauge("process_resident_memory_bytes")),
      virtual_bytes(make.gauge("process_virtual_memory_bytes")),
      open_fds(make.gauge("process_open_fds")),
      max_fds(make.gauge("process_max_fds")) {}

}  // namespace freshet
