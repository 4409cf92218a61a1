#include "proxy/admin/activity.hpp"

#include <cmath>

namespace freshet::admin {

namespace {

std::string text_of(std::string_view before, std::string_view value) {
  return std::string(before) + std::string(value);
}

std::string duration_text(Duration d) {
  return std::to_string(std::lround(seconds(d))) + " s";
}

Requests requests_of(const Metrics& metrics, UpstreamId upstream) {
  Requests sum;
  for (std::size_t k = 0; k < count_of<RequestKind>(); ++k) {
    const auto kind = static_cast<RequestKind>(k);
    const double sent = metrics.requests(upstream, kind);
    double& part = kind == RequestKind::client ? sum.client : kind == RequestKind::poll ? sum.poll : sum.other;
    part += sent;
  }
  return sum;
}

}  // namespace

// Everything that is not shown falls through to the template: the metrics are where nothing may be left out.
struct Activity::Watcher {
  Activity& to;
  Now now;

  [[nodiscard]] std::string name(UpstreamId id) const { return to.settings_.upstreams[index(id)].name; }
  [[nodiscard]] std::string name(PartnerId id) const { return to.settings_.partners[index(id)].name; }
  void add(RecentEvent event) const { to.events_.add(std::move(event), now.wall); }

  void operator()(const StrategyChanged& e) const {
    if (e.reason == StrategyReason::declared) return;  // every session begins so
    add({.kind = "strategy_changed",
         .warning = e.to != Strategy::subscribe,
         .subject = name(e.upstream),
         .uri = e.uri,
         .detail = text_of("from ", to_string(e.from)) + text_of(" to ", to_string(e.to)) +
                   text_of(": ", to_string(e.reason))});
  }
  void operator()(const WatchdogChecked& e) const {
    if (e.result != WatchdogResult::broken) return;
    add({.kind = "watchdog_broken",
         .warning = true,
         .subject = name(e.upstream),
         .uri = {},
         .detail = "a change was never notified"});
  }
  void operator()(const PartnerPaused& e) const {
    add({.kind = "partner_paused",
         .warning = true,
         .subject = name(e.partner),
         .uri = {},
         .detail = (e.throttled ? "throttled, for " : "failing, for ") + duration_text(e.length)});
  }
  void operator()(const PartnerResumed& e) const {
    add({.kind = "partner_resumed", .subject = name(e.partner), .uri = {}, .detail = "polls go on"});
  }
  void operator()(const PrincipalRefused& e) const {
    add({.kind = "credential_refused",
         .warning = true,
         .subject = name(e.upstream),
         .uri = {},
         .detail = "its reads stop until the client sends a newer one"});
  }
  void operator()(const ResourceRefused& e) const {
    add({.kind = "resource_refused",
         .warning = true,
         .subject = name(e.upstream),
         .uri = e.uri,
         .detail = "not polled any more"});
  }
  void operator()(const SessionsDisagreed& e) const {
    add({.kind = "sessions_disagree",
         .subject = name(e.upstream),
         .uri = e.uri,
         .detail = "watched apart for one session"});
  }
  void operator()(const RefuseRequest& e) const {
    add({.kind = "request_refused", .warning = true, .subject = {}, .uri = {}, .detail = e.message});
  }
  void operator()(const ReadJudged& e) const {
    UpstreamHealth& health = to.health_[index(e.upstream)];
    const bool failed = e.verdict == Verdict::error || e.verdict == Verdict::throttled;
    if (e.verdict == Verdict::stale) return;
    (failed ? health.last_failure : health.last_success) = now.instant;
  }
  template <class Other>
  void operator()(const Other&) const {}
};

Activity::Activity(const Settings& settings)
    : settings_(settings),
      histories_(settings.partners.size()),
      health_(settings.upstreams.size()),
      heals_(settings.upstreams.size()) {}

void Activity::observe(const Effect& effect, Now now) {
  std::visit(Watcher{*this, now}, effect);
}

void Activity::note_heals(const Metrics& metrics, UpstreamId upstream, WallTime now) {
  for (const HealResult result : {HealResult::healed, HealResult::failed}) {
    const double count = metrics.heals(upstream, result);
    double& known = heals_[index(upstream)][result];
    if (count > known) {
      events_.add({.kind = result == HealResult::healed ? "session_healed" : "heal_failed",
                   .warning = result == HealResult::failed,
                   .subject = settings_.upstreams[index(upstream)].name,
                   .uri = {},
                   .detail = result == HealResult::healed ? "made anew after the upstream refused it"
                                                          : "the upstream refused it, and a new one too",
                   .count = static_cast<std::uint64_t>(count - known)},
                  now);
    }
    known = count;
  }
}

void Activity::sample(const Metrics& metrics, Now now) {
  std::vector<Requests> sums(settings_.partners.size());
  for (std::size_t i = 0; i < settings_.upstreams.size(); ++i) {
    const UpstreamId upstream{static_cast<std::uint32_t>(i)};
    const Requests of = requests_of(metrics, upstream);
    Requests& sum = sums[index(settings_.upstreams[i].partner)];
    sum = {sum.client + of.client, sum.poll + of.poll, sum.other + of.other};
    note_heals(metrics, upstream, now.wall);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) histories_[i].sample(sums[i], now.instant);
}

}  // namespace freshet::admin
