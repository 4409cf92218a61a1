#include "proxy/admin/status.hpp"

namespace freshet::admin {

namespace {

std::string_view to_string(config::Mode mode) {
  switch (mode) {
    case config::Mode::active:
      return "active";
    case config::Mode::shadow:
      return "shadow";
    case config::Mode::off:
      return "off";
  }
  return "";
}

template <class E>
Json counts_json(const PerValue<E, std::size_t>& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto value = static_cast<E>(i);
    json[std::string(freshet::to_string(value))] = counts[value];
  }
  return json;
}

Json requests_json(const Requests& r) {
  return {{"client", rounded(r.client)},
          {"poll", rounded(r.poll)},
          {"other", rounded(r.other)},
          {"total", rounded(r.total())}};
}

Json partners_json(const StatusInput& input) {
  Json all = Json::array();
  for (const PartnerView& view : input.engine.partners(input.now.instant)) {
    const RequestHistory& history = input.activity.history(view.partner);
    Json paused = nullptr;
    if (!view.pause_reason.empty()) {
      paused = {{"reason", view.pause_reason}, {"seconds_left", shown_seconds(view.paused_for)}};
    }
    all.push_back({{"name", input.settings.partners[index(view.partner)].name},
                   {"rate_per_s", rounded(view.rate_per_s)},
                   {"wished_per_s", rounded(view.wished_per_s)},
                   {"requests_per_s", requests_json(history.per_second())},
                   {"requests_per_s_last_hour", requests_json(history.per_second_last_hour())},
                   {"in_flight", view.in_flight},
                   {"waiting", view.waiting},
                   {"polled", view.polled},
                   {"paused", std::move(paused)}});
  }
  return all;
}

// What the sessions of one upstream add up to.
struct SessionSums {
  std::size_t sessions = 0;
  std::size_t attached = 0;
  std::size_t absent = 0;
  PerValue<Strategy, std::size_t> by_strategy{};
  PerValue<Era, std::size_t> by_era{};
  const Declaration* latest = nullptr;

  void add(const SubscriberView& view) {
    ++sessions;
    attached += view.attached ? 1 : 0;
    absent += view.absent ? 1 : 0;
    ++by_strategy[view.strategy];
    ++by_era[view.declared->era];
    latest = view.declared;  // subscribers come in the order of their opening
  }
};

std::vector<SessionSums> session_sums(const Engine& engine) {
  std::vector<SessionSums> sums(engine.settings().upstreams.size());
  engine.for_each_subscriber([&](const SubscriberView& view) { sums[index(view.upstream)].add(view); });
  return sums;
}

// The capabilities as the protocol names them.
std::string declares(const Declaration& declared) {
  if (!declared.resources) return "no resources";
  return std::string("resources") + (declared.subscribe ? ", subscribe" : "") +
         (declared.list_changed ? ", listChanged" : "");
}

// What the newest session's upstream declared, and what follows from it.
Json declared_json(const Declaration* declared) {
  if (declared == nullptr) return nullptr;
  const Strategy strategy = choose_strategy(*declared);
  return {{"server_name", declared->server_name},
          {"server_version", declared->server_version},
          {"era", freshet::to_string(declared->era)},
          {"declares", declares(*declared)},
          {"resources", declared->resources},
          {"subscribe", declared->subscribe},
          {"list_changed", declared->list_changed},
          {"strategy", freshet::to_string(strategy)},
          {"why", strategy == Strategy::off    ? "resources is not declared"
                  : strategy == Strategy::poll ? "subscribe is not declared"
                                               : "subscribe is declared"}};
}

Json health_json(const UpstreamHealth& health, Instant now) {
  const auto ago = [now](Instant at) { return at == Instant::min() ? Json(nullptr) : Json(shown_seconds(now - at)); };
  return {{"state", !health.known()    ? "unknown"
                    : health.failing() ? "failing"
                                       : "ok"},
          {"last_success_s_ago", ago(health.last_success)},
          {"last_failure_s_ago", ago(health.last_failure)}};
}

Json subscription_sums_json(const SubscriptionSums& sums) {
  Json by_state = Json::object();
  std::size_t total = 0;
  for (std::size_t i = 0; i < state_names.size(); ++i) {
    by_state[std::string(state_names[i])] = sums.by_state[i];
    total += sums.by_state[i];
  }
  return {{"total", total},
          {"overdue", sums.overdue},
          {"degraded", sums.degraded},
          {"worst_age_s", shown_seconds(sums.worst_age)},
          {"worst_bound_s", shown_seconds(sums.worst_bound)},
          {"by_strategy", counts_json(sums.by_strategy)},
          {"by_state", std::move(by_state)}};
}

Json upstreams_json(const StatusInput& input, const SubscriptionWalk& walk) {
  const auto sessions = session_sums(input.engine);
  Json all = Json::array();
  for (std::size_t i = 0; i < input.settings.upstreams.size(); ++i) {
    const config::Upstream& upstream = input.settings.upstreams[i];
    const UpstreamId id{static_cast<std::uint32_t>(i)};
    const SessionSums& of = sessions[i];
    all.push_back({{"name", upstream.name},
                   {"path", upstream.path},
                   {"partner", upstream.partner_name},
                   {"mode", to_string(upstream.mode)},
                   {"interval_s", shown_seconds(upstream.freshness.interval)},
                   {"health", health_json(input.activity.health(id), input.now.instant)},
                   {"heals",
                    {{"healed", static_cast<std::uint64_t>(input.metrics.heals(id, HealResult::healed))},
                     {"failed", static_cast<std::uint64_t>(input.metrics.heals(id, HealResult::failed))}}},
                   {"declared", declared_json(of.latest)},
                   {"sessions",
                    {{"total", of.sessions},
                     {"attached", of.attached},
                     {"absent", of.absent},
                     {"by_strategy", counts_json(of.by_strategy)},
                     {"by_era", counts_json(of.by_era)}}},
                   {"subscriptions", subscription_sums_json(walk.of(id))}});
  }
  return all;
}

Json events_json(const StatusInput& input) {
  Json all = Json::array();
  for (const RecentEvent& event : input.activity.events().all()) {
    all.push_back({{"at", wall_text(event.at)},
                   {"first_at", wall_text(event.first_at)},
                   {"count", event.count},
                   {"kind", event.kind},
                   {"level", event.warning ? "warning" : "info"},
                   {"subject", event.subject},
                   {"uri", event.uri.empty() ? "" : input.mask.shown(event.uri)},
                   {"detail", event.detail}});
  }
  return all;
}

}  // namespace

Json status_json(const StatusInput& input, const SubscriptionWalk& walk) {
  return {{"version", input.version},
          {"now", wall_text(input.now.wall)},
          {"started_at", wall_text(input.started.wall)},
          {"uptime_s", shown_seconds(input.now.instant - input.started.instant)},
          {"draining", input.draining},
          {"actions", input.settings.admin.token.has_value()},
          {"last_reload", input.reload ? reload_json(*input.reload) : Json(nullptr)},
          {"partners", partners_json(input)},
          {"upstreams", upstreams_json(input, walk)},
          {"subscriptions",
           {{"total", input.engine.subscription_count()},
            {"matched", walk.matched()},
            {"offset", walk.query().offset},
            {"limit", walk.query().limit},
            {"items", walk.items()}}},
          {"events", events_json(input)}};
}

Json history_json(const StatusInput& input) {
  Json partners = Json::array();
  for (std::size_t i = 0; i < input.settings.partners.size(); ++i) {
    Json client = Json::array();
    Json poll = Json::array();
    Json other = Json::array();
    for (const Requests& point : input.activity.history(PartnerId{static_cast<std::uint32_t>(i)}).points()) {
      client.push_back(rounded(point.client));
      poll.push_back(rounded(point.poll));
      other.push_back(rounded(point.other));
    }
    partners.push_back({{"name", input.settings.partners[i].name},
                        {"rate_per_s", rounded(input.settings.partners[i].rate)},
                        {"client", std::move(client)},
                        {"poll", std::move(poll)},
                        {"other", std::move(other)}});
  }
  return {{"step_s", shown_seconds(RequestHistory::step)}, {"partners", std::move(partners)}};
}

}  // namespace freshet::admin
