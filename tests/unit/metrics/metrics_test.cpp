#include "metrics/metrics.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "metrics/catalogue.hpp"

namespace freshet {

using namespace std::chrono_literals;

namespace {

constexpr UpstreamId upstream{0};
constexpr PartnerId partner{0};
constexpr SubscriberId subscriber{7};

Settings settings(const std::string& partner_name = "acme", const std::string& upstream_name = "files") {
  Settings out;
  out.partners.emplace_back().name = partner_name;
  out.upstreams.emplace_back().name = upstream_name;
  return out;
}

// The samples that are not 0, without buckets: what an operator would notice.
std::string told(const Metrics& metrics) {
  std::istringstream in(metrics.expose());
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const bool idle = line.ends_with(" 0") || line.find("build_info") != std::string::npos;
    if (line.starts_with('#') || idle || line.find("_bucket{") != std::string::npos) continue;
    out += line + '\n';
  }
  return out;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

SubscriptionView view(std::string_view state, Strategy strategy, Duration age, Duration bound, bool absent = false) {
  SubscriptionView out{};
  out.upstream = upstream;
  out.state = state;
  out.strategy = strategy;
  out.age = age;
  out.bound = bound;
  out.absent = absent;
  return out;
}

}  // namespace

TEST_CASE("what is exposed is what the catalogue declares, and all of it from the start") {
  const Metrics metrics(settings(), "1.2.3");
  std::istringstream in(metrics.expose());
  std::string declared;
  for (const auto& info : catalogue()) {
    declared.append("# TYPE ").append(info.name).append(" ").append(to_string(info.type)).append("\n");
  }
  std::string exposed;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# TYPE ")) exposed += line + '\n';
  }
  CHECK(exposed == declared);
  CHECK(metrics.expose().find("\nfreshet_build_info{version=\"1.2.3\"} 1\n") != std::string::npos);
}

TEST_CASE("every series carries the labels that its metric declares") {
  const Metrics metrics(settings(), "1");
  std::istringstream in(metrics.expose());
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const auto& info = *std::ranges::find_if(catalogue(), [&line](const MetricInfo& m) {
      return line.starts_with(m.name) && std::string_view("{ _").find(line[m.name.size()]) != std::string_view::npos &&
             (m.type == MetricType::histogram || line[m.name.size()] != '_');
    });
    INFO(line);
    for (const auto& label : info.labels) {
      CHECK(line.find(std::string(label.name) + "=\"") != std::string::npos);
    }
    const bool bucket = line.find("le=\"") != std::string::npos;
    CHECK(static_cast<std::size_t>(std::ranges::count(line, '=')) == info.labels.size() + (bucket ? 1 : 0));
  }
}

TEST_CASE("events and effects give the numbers of what happened") {
  Metrics metrics(settings(), "1");
  metrics.observe(Event{ClientRequestSent{upstream}});
  metrics.observe(Event{Woken{}});
  metrics.observe(Effect{SendRead{ReadId{1}, subscriber, upstream, "r://a", ReadKind::baseline, 30s}});
  metrics.observe(Effect{SendRead{ReadId{2}, subscriber, upstream, "r://a", ReadKind::poll, 30s}});
  metrics.observe(Effect{BudgetWaited{partner, 250ms}});
  metrics.observe(Effect{ReadJudged{upstream, ReadKind::poll, Verdict::changed, 30s}});
  metrics.observe(Effect{NoticeCoalesced{upstream}});
  metrics.observe(Effect{NoticeDelivered{upstream, Origin::poll, 2ms, 31s}});
  metrics.observe(Effect{WatchdogChecked{upstream, WatchdogResult::broken}});
  metrics.observe(Effect{
      StrategyChanged{upstream, subscriber, "r://a", Strategy::subscribe, Strategy::poll, StrategyReason::silent}});
  metrics.observe(Effect{LateAfterClose{upstream}});
  CHECK(told(metrics) == R"(freshet_budget_wait_seconds_count{partner="acme"} 1
freshet_budget_wait_seconds_sum{partner="acme"} 0.25
freshet_change_lag_bound_seconds_count{partner="acme",upstream="files"} 1
freshet_change_lag_bound_seconds_sum{partner="acme",upstream="files"} 31
freshet_notification_lag_seconds_count{origin="poll",partner="acme",upstream="files"} 1
freshet_notification_lag_seconds_sum{origin="poll",partner="acme",upstream="files"} 0.002
freshet_notifications_coalesced_total{partner="acme",upstream="files"} 1
freshet_notifications_total{origin="poll",partner="acme",upstream="files"} 1
freshet_polls_total{outcome="changed",partner="acme",upstream="files"} 1
freshet_stale_after_close_total{partner="acme",upstream="files"} 1
freshet_staleness_seconds_count{partner="acme",upstream="files"} 1
freshet_staleness_seconds_sum{partner="acme",upstream="files"} 30
freshet_strategy_changes_total{from="subscribe",partner="acme",reason="silent",to="poll",upstream="files"} 1
freshet_upstream_requests_total{kind="baseline",partner="acme",upstream="files"} 1
freshet_upstream_requests_total{kind="client",partner="acme",upstream="files"} 1
freshet_upstream_requests_total{kind="poll",partner="acme",upstream="files"} 1
freshet_watchdog_checks_total{partner="acme",result="broken",upstream="files"} 1
)");
}

TEST_CASE("polls are polls, but stale reads are counted whoever sent them") {
  Metrics metrics(settings(), "1");
  metrics.observe(Effect{ReadJudged{upstream, ReadKind::client, Verdict::stale, std::nullopt}});
  metrics.observe(Effect{ReadJudged{upstream, ReadKind::poll, Verdict::stale, std::nullopt}});
  metrics.observe(Effect{ReadJudged{upstream, ReadKind::baseline, Verdict::unchanged, std::nullopt}});
  CHECK(told(metrics) ==
        "freshet_polls_total{outcome=\"stale\",partner=\"acme\",upstream=\"files\"} 1\n"
        "freshet_stale_reads_total{partner=\"acme\",upstream=\"files\"} 2\n");
}

TEST_CASE("a client's own read is counted once") {
  Metrics metrics(settings(), "1");
  metrics.observe(Event{ClientRequestSent{upstream}});
  metrics.observe(Effect{ForwardRead{RequestId{1}, ReadId{1}}});
  metrics.observe(Effect{SendRead{ReadId{1}, subscriber, upstream, "r://a", ReadKind::client, 30s}});
  CHECK(told(metrics) == "freshet_upstream_requests_total{kind=\"client\",partner=\"acme\",upstream=\"files\"} 1\n");
}

TEST_CASE("the shell tells what only it knows") {
  Metrics metrics(settings(), "1");
  metrics.session_request(upstream);
  metrics.heal(upstream, HealResult::failed);
  metrics.set_sessions(upstream, 3);
  metrics.set_sessions(upstream, 2);
  metrics.set_streams(upstream, 1);
  CHECK(told(metrics) ==
        "freshet_heals_total{partner=\"acme\",result=\"failed\",upstream=\"files\"} 1\n"
        "freshet_sessions{partner=\"acme\",upstream=\"files\"} 2\n"
        "freshet_streams{partner=\"acme\",upstream=\"files\"} 1\n"
        "freshet_upstream_requests_total{kind=\"session\",partner=\"acme\",upstream=\"files\"} 1\n");
}

TEST_CASE("the worst age and bound are those of active subscriptions") {
  SubscriptionTotals totals(1);
  totals.add(view("active", Strategy::poll, 12s, 33s));
  totals.add(view("read_pending", Strategy::poll, 5s, 63s));
  totals.add(view("active", Strategy::poll, 1h, 2h, true));
  totals.add(view("unsubscribing", Strategy::subscribe, 1h, 2h));
  Metrics metrics(settings(), "1");
  metrics.set(totals);
  CHECK(
      told(metrics) ==
      "freshet_staleness_age_seconds{partner=\"acme\",upstream=\"files\"} 12\n"
      "freshet_staleness_bound_seconds{partner=\"acme\",upstream=\"files\"} 63\n"
      "freshet_subscriptions{partner=\"acme\",state=\"active\",strategy=\"poll\",upstream=\"files\"} 2\n"
      "freshet_subscriptions{partner=\"acme\",state=\"read_pending\",strategy=\"poll\",upstream=\"files\"} 1\n"
      "freshet_subscriptions{partner=\"acme\",state=\"unsubscribing\",strategy=\"subscribe\",upstream=\"files\"} 1\n");
  metrics.set(SubscriptionTotals(1));
  CHECK(told(metrics).empty());
}

TEST_CASE("overdue are active subscriptions that are older than their settings ask for") {
  SubscriptionTotals totals(1);
  const auto add = [&totals](std::optional<Duration> age, std::optional<Duration> overdue_after, bool absent) {
    SubscriptionView shown = view("active", Strategy::poll, {}, 2h, absent);
    shown.age = age;
    shown.overdue_after = overdue_after;
    totals.add(shown);
  };
  add(64s, 63s, false);
  add(63s, 63s, false);
  add(64s, 63s, true);
  add(64s, {}, false);
  add({}, 63s, false);
  CHECK(totals.of_upstream[0].overdue == 1);
}

TEST_CASE("a refresh shows the engine and the process as they stand") {
  Engine engine(settings(), 1);
  Metrics metrics(engine.settings(), "1");
  const Now now{Instant{1h}, WallTime{}};
  Effects effects;
  engine.apply(SubscriberOpened{.subscriber = subscriber,
                                .upstream = upstream,
                                .principal = {},
                                .declared = {.resources = true, .server_name = {}, .server_version = {}}},
               now, effects);
  engine.apply(StreamAttached{subscriber}, now, effects);
  engine.apply(SubscribeAsked{subscriber, RequestId{1}, "r://a"}, now, effects);
  SubscriptionTotals totals(1);
  engine.for_each_subscription(now.instant, [&totals](const SubscriptionView& view) { totals.add(view); });
  metrics.refresh(totals, engine, now.instant);
  const auto text = metrics.expose();
  CHECK(text.find(
            "freshet_subscriptions{partner=\"acme\",state=\"subscribing\",strategy=\"poll\",upstream=\"files\"} 1\n") !=
        std::string::npos);
  CHECK(text.find("freshet_budget_requests_per_second{partner=\"acme\"} 10\n") != std::string::npos);
  CHECK(text.find("\nprocess_resident_memory_bytes 0\n") == std::string::npos);
}

TEST_CASE("ten thousand sessions and their resources add no series", "[B95]") {
  Metrics metrics(settings(), "1");
  const auto before = lines(metrics.expose());
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const std::string uri = "odd://\"\n\\\xff\x80/" + std::to_string(i);
    const SubscriberId session{i};
    metrics.observe(Event{SubscribeAsked{session, RequestId{i}, uri}});
    metrics.observe(Effect{SendRead{ReadId{i}, session, upstream, uri, ReadKind::poll, 1s}});
    metrics.observe(Effect{Notify{.notice = NoticeId{i},
                                  .subscriber = session,
                                  .upstream = upstream,
                                  .uri = uri,
                                  .origin = Origin::poll,
                                  .strategy = Strategy::poll,
                                  .verbatim = {},
                                  .version = {}}});
    metrics.observe(Effect{ResourceRefused{upstream, uri}});
    metrics.observe(Effect{
        StrategyChanged{upstream, session, uri, Strategy::poll, Strategy::subscribe, StrategyReason::prompt_again}});
  }
  const auto after = metrics.expose();
  CHECK(lines(after) == before);
  CHECK(after.find("odd://") == std::string::npos);
  CHECK(after.find("kind=\"poll\",partner=\"acme\",upstream=\"files\"} 10000\n") != std::string::npos);
}

TEST_CASE("names from the configuration are escaped", "[B95]") {
  const Metrics metrics(settings("a\"b\\c\nd"), "1");
  CHECK(metrics.expose().find(R"(freshet_partner_paused{partner="a\"b\\c\nd"} 0)") != std::string::npos);
}

TEST_CASE("a refused reload is shown as such until one is applied") {
  Metrics metrics(settings(), "1");
  metrics.configured(WallTime(1'000s));
  metrics.reloaded(ReloadResult::refused, WallTime(2'000s));
  CHECK(told(metrics) ==
        "freshet_config_last_reload_success_timestamp_seconds 1000\n"
        "freshet_config_reloads_total{result=\"refused\"} 1\n");
  metrics.reloaded(ReloadResult::applied, WallTime(3'000s));
  CHECK(told(metrics) ==
        "freshet_config_last_reload_success_timestamp_seconds 3000\n"
        "freshet_config_last_reload_successful 1\n"
        "freshet_config_reloads_total{result=\"applied\"} 1\n"
        "freshet_config_reloads_total{result=\"refused\"} 1\n");
}

TEST_CASE("a paused partner is shown as paused until it is not") {
  Metrics metrics(settings(), "1");
  metrics.set(PartnerView{.partner = partner,
                          .rate_per_s = 2.5,
                          .wished_per_s = {},
                          .in_flight = {},
                          .paused_for = 3s,
                          .pause_reason = {},
                          .waiting = {},
                          .polled = {}});
  CHECK(told(metrics) ==
        "freshet_budget_requests_per_second{partner=\"acme\"} 2.5\n"
        "freshet_partner_paused{partner=\"acme\"} 1\n");
  metrics.set(PartnerView{.partner = partner,
                          .rate_per_s = 2.5,
                          .wished_per_s = {},
                          .in_flight = {},
                          .paused_for = {},
                          .pause_reason = {},
                          .waiting = {},
                          .polled = {}});
  CHECK(told(metrics) == "freshet_budget_requests_per_second{partner=\"acme\"} 2.5\n");
}

}  // namespace freshet
