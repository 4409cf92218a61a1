#include "metrics/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "metrics/label_values.hpp"
#include "strategies/effect.hpp"
#include "strategies/strategy.hpp"

namespace freshet {

namespace {

constexpr Label partner{"partner", {}};
constexpr Label upstream{"upstream", {}};

constexpr std::array per_partner{partner};
constexpr std::array per_upstream{partner, upstream};
constexpr std::array by_kind{partner, upstream, Label{"kind", values_of<RequestKind>}};
constexpr std::array by_outcome{partner, upstream, Label{"outcome", values_of<Verdict>}};
constexpr std::array by_origin{partner, upstream, Label{"origin", values_of<Origin>}};
constexpr std::array by_state{partner, upstream, Label{"strategy", values_of<Strategy>}, Label{"state", state_names}};
constexpr std::array by_check{partner, upstream, Label{"result", values_of<WatchdogResult>}};
constexpr std::array by_heal{partner, upstream, Label{"result", values_of<HealResult>}};
constexpr std::array by_move{partner, upstream, Label{"from", values_of<Strategy>}, Label{"to", values_of<Strategy>},
                             Label{"reason", values_of<StrategyReason>}};
constexpr std::array build{Label{"version", {}}};
constexpr std::array by_reload{Label{"result", values_of<ReloadResult>}};

// Ages move on the scale of poll intervals. 35 lies just above the default interval with its jitter (30 s ± 10 %) and a
// read's way, 720 above the default watchdog's silence (10 min) with its grace: "in time" is a bucket of its own.
constexpr std::array age_s{0.1,  0.5,   1.0,   2.0,   5.0,    10.0,   20.0,  35.0,
                           60.0, 120.0, 300.0, 720.0, 1800.0, 3600.0, 7200.0};

// From a queue's way to the socket (below 1 ms) past the spacing of one subscription's notifications (100 ms) to a
// client that was away.
constexpr std::array lag_s{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.15,
                           0.25,   0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0};

// Places in the queue of a budget: 10 a second by default, 1 to 2 a second under contract, up to the 30 s that client
// traffic may hold polls up, and pauses of minutes.
constexpr std::array wait_s{0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0};

using enum MetricType;

constexpr std::array table{
    MetricInfo{"freshet_budget_requests_per_second", gauge, per_partner,
               "Requests per second that the partner's budget allows."},
    MetricInfo{"freshet_budget_wait_seconds", histogram, per_partner,
               "Time from a read's being due to its dispatch, spent waiting for the partner's budget.", wait_s},
    MetricInfo{"freshet_build_info", gauge, build, "Always 1; the label tells the running version."},
    MetricInfo{"freshet_change_lag_bound_seconds", histogram, per_upstream,
               "Upper bound of the time from a change to its notification: from the last read of the old version until "
               "the notification was handed to the socket.",
               age_s},
    MetricInfo{"freshet_config_last_reload_success_timestamp_seconds",
               gauge,
               {},
               "When the running configuration was taken on, in seconds since the epoch."},
    MetricInfo{"freshet_config_last_reload_successful",
               gauge,
               {},
               "1 if the configuration that was read last is the running one, 0 if it was refused."},
    MetricInfo{"freshet_config_reloads_total", counter, by_reload,
               "Reloads of the configuration, by what became of them."},
    MetricInfo{"freshet_heals_total", counter, by_heal,
               "Sessions that the upstream refused, and whether they were made anew; held_back: not tried, since it "
               "refused the one made last."},
    MetricInfo{"freshet_messages_dropped_total", counter, per_upstream,
               "Messages of the upstream that a client was not given, since more than streams.outbox_bytes_max waited "
               "for it."},
    MetricInfo{"freshet_notification_lag_seconds", histogram, by_origin,
               "Time from finding a change until its notification was handed to the socket, by who found it.", lag_s},
    MetricInfo{"freshet_notifications_coalesced_total", counter, per_upstream,
               "Changes that were merged into a notification that was still to be delivered."},
    MetricInfo{"freshet_notifications_total", counter, by_origin,
               "Notifications of a changed resource handed to a socket, by who found the change."},
    MetricInfo{"freshet_partner_paused", gauge, per_partner,
               "1 while all polls to the partner are paused (throttled or failing), else 0."},
    MetricInfo{"freshet_planned_requests_per_second", gauge, per_partner,
               "Reads per second that the present watches plan for, before the budget: compare with what is sent."},
    MetricInfo{"freshet_polls_total", counter, by_outcome, "Polls answered, by outcome."},
    MetricInfo{"freshet_reads_in_flight",
               gauge,
               {},
               "Reads of watched resources that have not ended, the clients' own included."},
    MetricInfo{"freshet_sessions", gauge, per_upstream, "Sessions of clients."},
    MetricInfo{"freshet_stale_after_close_total", counter, per_upstream,
               "Contents, updates and errors that came after their subscription was closed, and were dropped."},
    MetricInfo{"freshet_stale_reads_total", counter, per_upstream,
               "Reads of any kind that came after a later one had been accepted, and were dropped."},
    MetricInfo{"freshet_staleness_age_seconds", gauge, per_upstream,
               "Greatest age of the picture that an active subscription has at present; 0 without one."},
    MetricInfo{"freshet_staleness_bound_seconds", gauge, per_upstream,
               "Greatest age that the present schedule allows an active subscription; 0 without one."},
    MetricInfo{"freshet_staleness_seconds", histogram, per_upstream,
               "Age of the picture that each accepted read replaced.", age_s},
    MetricInfo{"freshet_strategy_changes_total", counter, by_move,
               "Moves of a connection or a subscription from one strategy to another."},
    MetricInfo{"freshet_streams", gauge, per_upstream, "Event streams open to clients."},
    MetricInfo{"freshet_subscriptions", gauge, by_state, "Subscriptions, by strategy and state."},
    MetricInfo{"freshet_subscriptions_overdue", gauge, per_upstream,
               "Active subscriptions whose picture is older than their settings ask for, whatever their bound says."},
    MetricInfo{"freshet_upstream_requests_total", counter, by_kind,
               "Requests sent to the upstream, by what caused them."},
    MetricInfo{"freshet_watchdog_checks_total", counter, by_check,
               "Checks of silent native subscriptions, by result; broken means that a change was not notified."},
    MetricInfo{"process_cpu_seconds_total", counter, {}, "User and system CPU time spent, in seconds."},
    MetricInfo{"process_max_fds", gauge, {}, "File descriptors that the process may open."},
    MetricInfo{"process_open_fds", gauge, {}, "File descriptors that are open."},
    MetricInfo{"process_resident_memory_bytes", gauge, {}, "Resident memory, in bytes."},
    MetricInfo{"process_start_time_seconds", gauge, {}, "Start of the process, in seconds since the epoch."},
    MetricInfo{"process_virtual_memory_bytes", gauge, {}, "Virtual memory, in bytes."},
};

static_assert(std::ranges::is_sorted(table, {}, &MetricInfo::name));

}  // namespace

std::span<const MetricInfo> catalogue() {
  return table;
}

const MetricInfo& metric_info(std::string_view name) {
  const auto found = std::ranges::lower_bound(table, name, {}, &MetricInfo::name);
  assert(found != table.end() && found->name == name);
  return *found;
}

std::string catalogue_markdown() {
  std::string out = "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n";
  for (const auto& info : table) {
    out.append("| `").append(info.name).append("` | ").append(to_string(info.type)).append(" | ");
    std::string_view separator;
    for (const auto& label : info.labels) {
      out.append(separator).append("`").append(label.name).append("`");
      separator = ", ";
      std::string_view before = ": ";
      for (const auto value : label.values) {
        out.append(before).append(value);
        before = "\\|";
      }
    }
    out.append(" | ").append(info.help).append(" |\n");
  }
  return out;
}

}  // namespace freshet
