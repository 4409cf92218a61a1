#include "proxy/admin/status.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "metrics/label_values.hpp"

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

// Milliseconds are as fine as anyone looks; more digits would only hide the figure.
double rounded(double value) {
  return std::round(value * 1000.0) / 1000.0;
}
double shown_seconds(Duration d) {
  return rounded(seconds(d));
}

Json optional_seconds(const std::optional<Duration>& d) {
  return d ? Json(shown_seconds(*d)) : Json(nullptr);
}

// RFC 3339, in UTC.
std::string wall_text(WallTime at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  std::array<char, 40> text{};
  const int n =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                    static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(n)};
}

Json optional_wall(const std::optional<WallTime>& at) {
  return at ? Json(wall_text(*at)) : Json(nullptr);
}

// What the subscribers of one upstream add up to.
struct SubscriberTotals {
  std::size_t sessions = 0;
  std::size_t attached = 0;
  std::size_t absent = 0;
  std::size_t subscriptions = 0;
  PerValue<Strategy, std::size_t> by_strategy{};
};

std::vector<SubscriberTotals> subscriber_totals(const Engine& engine) {
  std::vector<SubscriberTotals> totals(engine.settings().upstreams.size());
  engine.for_each_subscriber([&](const SubscriberView& view) {
    SubscriberTotals& of = totals[index(view.upstream)];
    ++of.sessions;
    of.attached += view.attached ? 1 : 0;
    of.absent += view.absent ? 1 : 0;
    of.subscriptions += view.subscriptions;
    ++of.by_strategy[view.strategy];
  });
  return totals;
}

Json subscription_json(const StatusInput& input, const SubscriptionView& view, std::string uri) {
  return {{"uri", std::move(uri)},
          {"upstream", input.settings.upstreams[index(view.upstream)].name},
          {"subscriber", index(view.subscriber)},
          {"state", view.state},
          {"strategy", freshet::to_string(view.strategy)},
          {"presence", freshet::to_string(view.presence)},
          {"attached", view.attached},
          {"absent", view.absent},
          {"degraded", view.degraded},
          {"age_s", optional_seconds(view.age)},
          {"bound_s", shown_seconds(view.bound)},
          {"confirmed_at", optional_wall(view.confirmed_at)},
          {"changed_at", optional_wall(view.changed_at)},
          {"next_read_in_s", optional_seconds(view.next_read_in)},
          {"changes_per_hour", rounded(view.changes_per_s * 3600.0)},
          {"version", view.version}};
}

}  // namespace

Json partners_json(const StatusInput& input) {
  Json all = Json::array();
  for (const PartnerView& view : input.engine.partners(input.now.instant)) {
    Json paused = nullptr;
    if (view.paused_for) paused = {{"reason", view.pause_reason}, {"seconds_left", shown_seconds(*view.paused_for)}};
    all.push_back({{"name", input.settings.partners[index(view.partner)].name},
                   {"rate_per_s", rounded(view.rate_per_s)},
                   {"wished_per_s", rounded(view.wished_per_s)},
                   {"in_flight", view.in_flight},
                   {"waiting", view.waiting},
                   {"polled", view.polled},
                   {"paused", std::move(paused)}});
  }
  return all;
}

Json upstreams_json(const StatusInput& input) {
  const auto totals = subscriber_totals(input.engine);
  Json all = Json::array();
  for (std::size_t i = 0; i < input.settings.upstreams.size(); ++i) {
    const config::Upstream& upstream = input.settings.upstreams[i];
    const SubscriberTotals& of = totals[i];
    Json strategies = Json::object();
    for (std::size_t s = 0; s < of.by_strategy.size(); ++s) {
      const auto strategy = static_cast<Strategy>(s);
      strategies[std::string(freshet::to_string(strategy))] = of.by_strategy[strategy];
    }
    all.push_back({{"name", upstream.name},
                   {"path", upstream.path},
                   {"partner", upstream.partner_name},
                   {"mode", to_string(upstream.mode)},
                   {"interval_s", shown_seconds(upstream.freshness.interval)},
                   {"sessions", of.sessions},
                   {"attached", of.attached},
                   {"absent", of.absent},
                   {"subscriptions", of.subscriptions},
                   {"sessions_by_strategy", std::move(strategies)}});
  }
  return all;
}

Json subscriptions_json(const StatusInput& input, const StatusQuery& query) {
  std::size_t matched = 0;
  Json items = Json::array();
  input.engine.for_each_subscription(input.now.instant, [&](const SubscriptionView& view) {
    if (!query.upstream.empty() && input.settings.upstreams[index(view.upstream)].name != query.upstream) return;
    std::string uri;
    if (!query.search.empty()) {
      // What is masked cannot be searched for either: the answer would give it away.
      uri = input.mask.shown(view.uri);
      if (uri.find(query.search) == std::string::npos) return;
    }
    const std::size_t place = matched++;
    if (place < query.offset || items.size() >= query.limit) return;
    items.push_back(subscription_json(input, view, query.search.empty() ? input.mask.shown(view.uri) : std::move(uri)));
  });
  return {{"total", input.engine.subscription_count()},
          {"matched", matched},
          {"offset", query.offset},
          {"limit", query.limit},
          {"items", std::move(items)}};
}

Json status_json(const StatusInput& input, const StatusQuery& query) {
  return {{"version", input.version},
          {"now", wall_text(input.now.wall)},
          {"started_at", wall_text(input.started.wall)},
          {"uptime_s", shown_seconds(input.now.instant - input.started.instant)},
          {"draining", input.draining},
          {"partners", partners_json(input)},
          {"upstreams", upstreams_json(input)},
          {"subscriptions", subscriptions_json(input, query)}};
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace freshet::admin
