#include "metrics/metrics.hpp"

#include <algorithm>
#include <variant>

#include <prometheus/text_serializer.h>

namespace freshet {

namespace {

RequestKind request_kind(ReadKind kind) {
  switch (kind) {
    case ReadKind::client:
      return RequestKind::client;
    case ReadKind::baseline:
      return RequestKind::baseline;
    case ReadKind::poll:
      return RequestKind::poll;
    case ReadKind::watchdog:
      return RequestKind::watchdog;
    case ReadKind::catchup:
      return RequestKind::catchup;
  }
  return RequestKind::client;
}

}  // namespace

// No fallback for what has no overload: that is the point.
struct Metrics::CountEvent {
  Metrics& to;

  void operator()(const ClientRequestSent& e) const {
    to.upstreams_.at(index(e.upstream)).requests[RequestKind::client]->Increment();
  }

  // Counted by what the engine makes of them.
  void operator()(const SubscriberOpened&) const {}
  void operator()(const PrincipalAdopted&) const {}
  void operator()(const SessionRenewed&) const {}
  void operator()(const SubscriberClosed&) const {}
  void operator()(const StreamAttached&) const {}
  void operator()(const StreamDetached&) const {}
  void operator()(const SubscribeAsked&) const {}
  void operator()(const UnsubscribeAsked&) const {}
  void operator()(const ReadAsked&) const {}
  void operator()(const WriteEnded&) const {}
  void operator()(const ReadDelivered&) const {}
  void operator()(const ServedDelivered&) const {}
  void operator()(const ReadEnded&) const {}
  void operator()(const NativeSubscribeEnded&) const {}
  void operator()(const NativeUnsubscribeEnded&) const {}
  void operator()(const ListPageEnded&) const {}
  void operator()(const NoticeSettled&) const {}
  void operator()(const UpdateArrived&) const {}
  void operator()(const ListChangeArrived&) const {}
  void operator()(const UpstreamStreamRefused&) const {}
  void operator()(const UpstreamStreamLost&) const {}
  void operator()(const UpstreamStreamRestored&) const {}
  void operator()(const ClientRequestEnded&) const {}
  void operator()(const RefreshAsked&) const {}
  void operator()(const PartnerHoldAsked&) const {}
  void operator()(const Reconfigured&) const {}
  void operator()(const Woken&) const {}
};

struct Metrics::CountEffect {
  Metrics& to;

  [[nodiscard]] UpstreamSeries& of(UpstreamId id) const { return to.upstreams_.at(index(id)); }

  void operator()(const SendRead& e) const {
    if (e.kind != ReadKind::client) of(e.upstream).requests[request_kind(e.kind)]->Increment();
  }
  void operator()(const SendListPage& e) const { of(e.upstream).requests[RequestKind::list]->Increment(); }
  void operator()(const ReadJudged& e) const {
    auto& series = of(e.upstream);
    if (e.kind == ReadKind::poll) series.polls[e.verdict]->Increment();
    if (e.verdict == Verdict::stale) series.stale_reads->Increment();
    if (e.age_resolved) series.staleness->Observe(seconds(*e.age_resolved));
  }
  void operator()(const NoticeDelivered& e) const {
    auto& series = of(e.upstream);
    series.notifications[e.origin]->Increment();
    series.notification_lag[e.origin]->Observe(seconds(e.lag));
    if (e.change_lag_bound) series.change_lag_bound->Observe(seconds(*e.change_lag_bound));
  }
  void operator()(const NoticeCoalesced& e) const { of(e.upstream).coalesced->Increment(); }
  void operator()(const StrategyChanged& e) const {
    if (auto* counter = of(e.upstream).moves[e.from][e.to][e.reason]) counter->Increment();
  }
  void operator()(const WatchdogChecked& e) const { of(e.upstream).watchdog_checks[e.result]->Increment(); }
  void operator()(const LateAfterClose& e) const { of(e.upstream).stale_after_close->Increment(); }
  void operator()(const BudgetWaited& e) const {
    to.partners_.at(index(e.partner)).budget_wait->Observe(seconds(e.wait));
  }

  // The session that sends them counts them.
  void operator()(const SendNativeSubscribe&) const {}
  void operator()(const SendNativeUnsubscribe&) const {}
  // A client's request that travels is counted by ClientRequestSent; one that is answered here costs the upstream
  // nothing.
  void operator()(const AnswerSubscribe&) const {}
  void operator()(const AnswerUnsubscribe&) const {}
  void operator()(const RefuseRequest&) const {}
  void operator()(const ForwardRead&) const {}
  void operator()(const ServeRead&) const {}
  // Counted once it reached the socket: NoticeDelivered.
  void operator()(const Notify&) const {}
  void operator()(const Withdraw&) const {}
  void operator()(const Relay&) const {}
  void operator()(const NotifyListChanged&) const {}
  // Shown as /status has it.
  void operator()(const ListScanned&) const {}
  void operator()(const SessionsDisagreed&) const {}
  void operator()(const NoticeWithheld&) const {}
  // The gauge follows the partner's view; the refused answer was judged.
  void operator()(const PartnerPaused&) const {}
  void operator()(const PartnerResumed&) const {}
  void operator()(const PrincipalRefused&) const {}
  void operator()(const ResourceRefused&) const {}
};

Metrics::Metrics(const Settings& settings, std::string_view version)
    : config_(SeriesMaker(registry_, {})), process_(SeriesMaker(registry_, {})) {
  const SeriesMaker make(registry_, {});
  make.with("version", version).gauge("freshet_build_info")->Set(1);
  for (const auto& partner : settings.partners) partners_.emplace_back(make.with("partner", partner.name));
  for (const auto& upstream : settings.upstreams) {
    const auto& partner = settings.partners.at(index(upstream.partner)).name;
    upstreams_.emplace_back(make.with("partner", partner).with("upstream", upstream.name));
  }
}

void Metrics::observe(const Event& event) {
  std::visit(CountEvent{*this}, event);
}
void Metrics::observe(const Effect& effect) {
  std::visit(CountEffect{*this}, effect);
}

void Metrics::session_request(UpstreamId upstream) {
  upstreams_.at(index(upstream)).requests[RequestKind::session]->Increment();
}

void Metrics::heal(UpstreamId upstream, HealResult result) {
  upstreams_.at(index(upstream)).heals[result]->Increment();
}

void Metrics::message_dropped(UpstreamId upstream) {
  upstreams_.at(index(upstream)).dropped->Increment();
}

void Metrics::set_sessions(UpstreamId upstream, std::size_t sessions) {
  upstreams_.at(index(upstream)).sessions->Set(static_cast<double>(sessions));
}

void Metrics::set_streams(UpstreamId upstream, std::size_t streams) {
  upstreams_.at(index(upstream)).streams->Set(static_cast<double>(streams));
}

void Metrics::configured(WallTime now) {
  config_.successful->Set(1);
  config_.taken_on_s->Set(seconds(now.time_since_epoch()));
}

void Metrics::reloaded(ReloadResult result, WallTime now) {
  config_.reloads[result]->Increment();
  if (result == ReloadResult::applied) return configured(now);
  config_.successful->Set(0);
}

void Metrics::set(const SubscriptionTotals& totals) {
  for (std::size_t u = 0; u < upstreams_.size(); ++u) {
    const auto& from = totals.of_upstream.at(u);
    auto& series = upstreams_[u];
    series.staleness_age->Set(seconds(from.worst_age));
    series.staleness_bound->Set(seconds(from.worst_bound));
    series.overdue->Set(static_cast<double>(from.overdue));
    for (std::size_t i = 0; i < from.count.size(); ++i) {
      const auto strategy = static_cast<Strategy>(i);
      for (std::size_t s = 0; s < state_names.size(); ++s) {
        series.subscriptions[strategy][s]->Set(static_cast<double>(from.count[strategy][s]));
      }
    }
  }
}

void Metrics::set(const PartnerView& partner) {
  auto& series = partners_.at(index(partner.partner));
  series.budget->Set(partner.rate_per_s);
  series.planned->Set(partner.wished_per_s);
  series.paused->Set(partner.paused_for || !partner.pause_reason.empty() ? 1 : 0);
}

void Metrics::set_reads_in_flight(std::size_t reads) {
  process_.reads_in_flight->Set(static_cast<double>(reads));
}

void Metrics::set(const ProcessStats& process) {
  process_.cpu_s->Increment(process.cpu_s - process_.cpu_s->Value());
  process_.start_s->Set(process.start_s);
  process_.resident_bytes->Set(process.resident_bytes);
  process_.virtual_bytes->Set(process.virtual_bytes);
  process_.open_fds->Set(process.open_fds);
  process_.max_fds->Set(process.max_fds);
}

std::string Metrics::expose() const {
  auto families = registry_.Collect();
  std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
  for (auto& family : families) {
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace freshet
