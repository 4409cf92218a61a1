#include "proxy/app/plan_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string_view>

#include "config/types.hpp"
#include "proxy/app/engine_settings.hpp"

namespace freshet::app {
namespace {

using admin::Json;
using admin::rounded;

// What a rule does not say of its share, the rules that say nothing and the upstream's own freshness have evenly.
std::vector<double> rule_shares(const config::Upstream& upstream) {
  double said = 0.0;
  double silent = 1.0;
  for (const config::Rule& rule : upstream.rules) {
    said += rule.plan_share.value_or(0.0);
    silent += rule.plan_share ? 0.0 : 1.0;
  }
  std::vector<double> shares;
  for (const config::Rule& rule : upstream.rules) {
    shares.push_back(rule.plan_share.value_or(std::max(0.0, 1.0 - said) / silent));
  }
  return shares;
}

// Three digits that count, without a tail of zeros.
std::string number(double value) {
  std::array<char, 32> text{};
  const int digits = value == 0.0 ? 0 : std::max(0, 2 - static_cast<int>(std::floor(std::log10(value))));
  std::snprintf(text.data(), text.size(), "%.*f", std::min(digits, 4), value);
  std::string shown = text.data();
  if (shown.find('.') != std::string::npos) shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.ends_with('.')) shown.pop_back();
  return shown;
}

std::string time(double s) {
  constexpr double minutes_from = 120.0;
  constexpr double hours_from = 7200.0;
  if (s < minutes_from) return number(s) + " s";
  return s < hours_from ? number(s / 60.0) + " min" : number(s / 3600.0) + " h";
}

std::string percent(double fraction) {
  return number(fraction * 100.0) + " %";
}

std::string clock(unsigned hour) {
  return std::to_string(hour) + "-" + std::to_string(hour + 1) + " h";
}

// Of an estimate, where its ends differ as they are shown: from least to most, or from best to worst.
using Show = std::function<std::string(const Price&)>;
std::string both(const Estimate& estimate, const Show& show) {
  std::string first = show(estimate.least);
  std::string second = show(estimate.most);
  if (first == second) return second;
  return first + " to " + second;
}

std::string verdict(const Price& price) {
  const HourPlan& hour = price.busiest;
  if (!hour.fits()) return "stretched " + number(hour.stretch) + " times";
  return "fits, " + percent(hour.own_per_s() / hour.available_per_s) + " used";
}

using Row = std::vector<std::string>;

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += " " + row[i] + std::string(widths[i] - columns_of(row[i]) + 1, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string prices_table(const PartnerPlan& plan) {
  std::vector<Row> rows{{"", "half the interval", "as configured", "double the interval"}};
  const auto add = [&](std::string title, const Show& show) {
    rows.push_back({std::move(title), both(plan.half, show), both(plan.configured, show), both(plan.twice, show)});
  };
  const std::string busy = "busiest hour (" + clock(plan.configured.most.busiest.hour) + ")";
  add("reads a session", [](const Price& p) { return number(p.reads_per_session); });
  add("reads a day", [](const Price& p) { return number(p.reads_per_day); });
  add("our requests/s, mean of the day", [](const Price& p) { return number(p.own_per_s); });
  add("our requests/s, " + busy, [](const Price& p) { return number(p.busiest.own_per_s()); });
  add("clients' requests/s, busiest hour", [](const Price& p) { return number(p.busiest.client_per_s); });
  add("age of the picture, mean", [](const Price& p) { return time(p.age_mean_s); });
  add("age of the picture, busiest hour", [](const Price& p) { return time(p.busiest.age_mean_s); });
  add("age of the picture, at worst", [](const Price& p) { return time(p.age_worst_s); });
  add("wished requests/s, busiest hour", [](const Price& p) { return number(p.busiest.wished_per_s); });
  add("left by the budget, busiest hour", [](const Price& p) { return number(p.busiest.available_per_s); });
  add("the budget, busiest hour", verdict);
  add("hours a day over the budget", [](const Price& p) { return std::to_string(p.hours_stretched); });
  add("if the server notified, busiest hour", [](const Price& p) { return number(p.busiest.notifying_per_s) + "/s"; });
  return table(rows);
}

std::string_view policy_name(PollPolicy policy) {
  switch (policy) {
    case PollPolicy::fixed:
      return "fixed";
    case PollPolicy::adaptive:
      return "adaptive";
    case PollPolicy::budget:
      return "budget";
  }
  return "";
}

std::string kinds_table(const std::vector<KindPlan>& kinds) {
  std::vector<Row> rows{{"upstream", "resources", "policy", "watched at once", "read each", "age at worst"}};
  for (const KindPlan& kind : kinds) {
    const std::string soonest = time(kind.interval_s);
    const std::string latest = time(kind.interval_worst_s);
    rows.push_back({kind.upstream, kind.match.empty() ? "all others" : kind.match,
                    std::string(policy_name(kind.policy)), number(kind.watches),
                    soonest == latest ? soonest : soonest + " to " + latest, time(kind.age_worst_s)});
  }
  return table(rows);
}

std::string use_text(const config::Upstream& upstream) {
  const Workload& w = upstream.plan;
  const std::string principals = w.principals == 0   ? "each session with its own credentials, nothing shared"
                                 : w.principals == 1 ? "all sessions share their polls"
                                                     : std::to_string(w.principals) + " credentials share theirs";
  std::string text = "  " + upstream.name + ": " + std::to_string(w.sessions_per_day) + " sessions a day of " +
                     config::to_string(w.session_length) + ", " + percent(w.busy_share) + " of them begin in " +
                     config::to_string(w.busy_hours) + " h;\n    each watches " +
                     std::to_string(w.resources_per_session);
  if (w.principals > 0) text += " of " + std::to_string(w.distinct_resources);
  text += " resources, " + principals + ";\n    its client makes " + std::to_string(w.client_requests_per_session) +
          " requests by itself";
  if (upstream.mode == config::Mode::off) text += "; Freshet is off";
  if (upstream.rollout < 1.0) text += "; Freshet acts for " + percent(upstream.rollout) + " of the sessions";
  return text + "\n";
}

std::string budget_text(const BudgetSettings& budget) {
  return "  budget: " + number(budget.rate_per_s) + " requests a second, " + number(budget.burst) + " at once, " +
         std::to_string(budget.concurrency) + " in flight; " + percent(budget.client_reserve) +
         " is kept for clients.\n  Our own requests never exceed " +
         number(budget.rate_per_s * (1.0 - budget.client_reserve)) + " a second plus the burst, in any window.\n";
}

std::string answer_time_text(const PartnerPlan& plan) {
  const HourPlan& hour = plan.configured.most.busiest;
  const double rate = hour.own_per_s() + hour.client_per_s;
  if (rate <= 0.0) return "";
  return "  The requests in flight suffice while an answer takes less than " + time(plan.budget.concurrency / rate) +
         " on average.\n";
}

constexpr std::string_view notes =
    "\nAge: now minus the moment at which the last read was sent. At worst: the longest interval and a read's "
    "time-out;\n"
    "over the budget, resources are read where it removes most age, each at least once in the longest interval.\n"
    "\"half\" and \"double\" apply to each interval, of adaptive and budget policies to the limits. \"a to b\": from\n"
    "resources that never change to ones that always do.\n"
    "Not counted: what a restart or a returning client costs (one read a resource), failures, and the reads that\n"
    "clients' own ones save.\n";

Json price_json(const Price& price) {
  const HourPlan& hour = price.busiest;
  return {{"reads_per_session", rounded(price.reads_per_session)},
          {"reads_per_day", rounded(price.reads_per_day)},
          {"requests_per_s", {{"day", rounded(price.own_per_s)}, {"busy", rounded(hour.own_per_s())}}},
          {"client_requests_per_s", {{"day", rounded(price.client_per_s)}, {"busy", rounded(hour.client_per_s)}}},
          {"staleness_s",
           {{"mean", rounded(price.age_mean_s)},
            {"mean_busy", rounded(hour.age_mean_s)},
            {"worst", rounded(price.age_worst_s)}}},
          {"budget",
           {{"fits", hour.fits()},
            {"available_per_s", rounded(hour.available_per_s)},
            {"wished_per_s", rounded(hour.wished_per_s)},
            {"stretched_by", rounded(hour.stretch)},
            {"longest_bound_s", rounded(price.age_worst_s)},
            {"hours_over_per_day", price.hours_stretched}}},
          {"busy",
           {{"hour", hour.hour},
            {"sessions", rounded(hour.sessions)},
            {"watches", rounded(hour.watches)},
            {"polls_per_s", rounded(hour.polls_per_s)},
            {"baselines_per_s", rounded(hour.baselines_per_s)},
            {"lists_per_s", rounded(hour.lists_per_s)},
            {"if_notified_per_s", rounded(hour.notifying_per_s)}}}};
}

Json estimate_json(const Estimate& estimate, bool adaptive) {
  Json json = price_json(estimate.most);
  json["if_nothing_changes"] = adaptive ? price_json(estimate.least) : Json(nullptr);
  return json;
}

}  // namespace

std::vector<PartnerPlan> plans_of(const config::Settings& settings) {
  std::vector<UpstreamLoad> loads;
  std::vector<bool> used(settings.partners.size());
  for (const config::Upstream& upstream : settings.upstreams) {
    loads.push_back({upstream.plan, upstream.rollout, rule_shares(upstream)});
    used[index(upstream.partner)] = true;
  }
  const Settings engine = engine_settings(settings);
  std::vector<PartnerPlan> plans;
  for (std::uint32_t p = 0; p < settings.partners.size(); ++p) {
    if (used[p]) plans.push_back(price(engine, PartnerId{p}, loads));
  }
  return plans;
}

std::string plan_text(const config::Settings& settings, const std::vector<PartnerPlan>& plans) {
  std::string text;
  for (const PartnerPlan& plan : plans) {
    text +=
        (text.empty() ? "Partner " : "\nPartner ") + plan.name + "\n" + budget_text(plan.budget) + "\nExpected use\n";
    for (const config::Upstream& upstream : settings.upstreams) {
      if (upstream.partner_name == plan.name) text += use_text(upstream);
    }
    text += "\nPrice\n" + prices_table(plan) + answer_time_text(plan);
    text += "\nResources, in the busiest hour\n" + kinds_table(plan.kinds);
  }
  return text + std::string(notes);
}

Json plan_json(const std::vector<PartnerPlan>& plans) {
  Json partners = Json::array();
  for (const PartnerPlan& plan : plans) {
    Json resources = Json::array();
    for (const KindPlan& kind : plan.kinds) {
      resources.push_back({{"upstream", kind.upstream},
                           {"match", kind.match.empty() ? Json(nullptr) : Json(kind.match)},
                           {"policy", policy_name(kind.policy)},
                           {"watches", rounded(kind.watches)},
                           {"interval_s", rounded(kind.interval_s)},
                           {"interval_if_nothing_changes_s", rounded(kind.interval_worst_s)},
                           {"staleness_worst_s", rounded(kind.age_worst_s)}});
    }
    partners.push_back({{"name", plan.name},
                        {"budget",
                         {{"rate_per_s", rounded(plan.budget.rate_per_s)},
                          {"reserve", rounded(plan.budget.client_reserve)},
                          {"burst", rounded(plan.budget.burst)},
                          {"concurrency", plan.budget.concurrency}}},
                        {"sessions_per_day", rounded(plan.sessions_per_day)},
                        {"as_configured", estimate_json(plan.configured, plan.adaptive)},
                        {"half_interval", estimate_json(plan.half, plan.adaptive)},
                        {"double_interval", estimate_json(plan.twice, plan.adaptive)},
                        {"resources", std::move(resources)}});
  }
  return {{"partners", std::move(partners)}};
}

}  // namespace freshet::app
