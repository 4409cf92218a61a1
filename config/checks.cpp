#include "config/checks.hpp"

#include <functional>
#include <map>

#include "config/types.hpp"

namespace freshet::config {
namespace {

class Checker {
 public:
  Checker(const Settings& settings, Problems& problems, Problems& warnings)
      : settings_(settings), problems_(problems), warnings_(warnings) {}

  void check(bool needs_upstream) {
    check_listen();
    const Limits& limits = settings_.limits;
    if (limits.subscriptions_per_session_max > limits.subscriptions_max) {
      not_above("limits.", "subscriptions_per_session_max", "subscriptions_max",
                std::to_string(limits.subscriptions_per_session_max), std::to_string(limits.subscriptions_max));
    }
    check_plan("plan.", settings_.plan);
    if (needs_upstream && settings_.upstreams.empty()) {
      problems_.add_at("upstreams",
                       "no upstream: give --upstream URL, FRESHET_UPSTREAM, or upstreams in --config FILE");
    }
    for (std::size_t i = 0; i < settings_.upstreams.size(); ++i) check_upstream(i);
    check_unique_upstreams();
    check_partners();
  }

 private:
  static std::string item(const std::string& list, std::size_t i) { return list + "[" + std::to_string(i) + "]"; }

  void check_listen() {
    const Listen& listen = settings_.listen;
    if (listen.tls.cert_file.empty() != listen.tls.key_file.empty()) {
      const bool key_missing = listen.tls.key_file.empty();
      problems_.add_at(key_missing ? "listen.tls.cert_file" : "listen.tls.key_file",
                       key_missing ? "needs listen.tls.key_file beside it" : "needs listen.tls.cert_file beside it");
    }
    const auto* tcp = std::get_if<TcpAddress>(&listen.address);
    if (listen.address == settings_.admin.address && (!tcp || tcp->port != 0)) {
      problems_.add_at("admin.address", "must differ from listen.address");
    }
  }

  // Reported where the operator set one of the two; the other may be a default.
  void not_above(const std::string& path, const std::string& low, const std::string& high, const std::string& low_text,
                 const std::string& high_text) {
    const bool at_high = !problems_.has_place(path + low) && problems_.has_place(path + high);
    problems_.add_at(path + (at_high ? high : low),
                     low + " (" + low_text + ") must not exceed " + high + " (" + high_text + ")");
  }

  void check_order(const std::string& path, const std::string& low, Duration low_value, const std::string& high,
                   Duration high_value) {
    if (low_value > high_value) not_above(path, low, high, to_string(low_value), to_string(high_value));
  }

  void check_plan(const std::string& path, const Workload& plan) {
    if (plan.resources_per_session <= plan.distinct_resources) return;
    not_above(path, "resources_per_session", "distinct_resources", std::to_string(plan.resources_per_session),
              std::to_string(plan.distinct_resources));
  }

  // A contradiction that a rule only inherits is the upstream's: `inherited` is null there.
  void check_freshness(const std::string& path, const Freshness& f, const Freshness* inherited) {
    struct Order {
      Duration Freshness::* low;
      std::string low_name;
      Duration Freshness::* high;
      std::string high_name;
    };
    std::vector<Order> orders{
        {&Freshness::interval_min, "interval_min", &Freshness::interval_max, "interval_max"},
        {&Freshness::watchdog_grace, "watchdog_grace", &Freshness::watchdog_silence, "watchdog_silence"}};
    if (f.policy != Policy::fixed) {
      orders.push_back({&Freshness::interval, "interval", &Freshness::interval_max, "interval_max"});
      orders.push_back({&Freshness::interval_min, "interval_min", &Freshness::interval, "interval"});
    }
    for (const auto& [low, low_name, high, high_name] : orders) {
      const bool same =
          inherited && inherited->policy == f.policy && inherited->*low == f.*low && inherited->*high == f.*high;
      if (!same) check_order(path, low_name, f.*low, high_name, f.*high);
    }
  }

  void check_upstream(std::size_t i) {
    const Upstream& upstream = settings_.upstreams[i];
    const std::string path = item("upstreams", i);
    // A url that was written and is wrong has its problem already.
    if (upstream.url.host.empty() && !problems_.has_place(path + ".url")) problems_.add_at(path, "needs a url");
    check_order(path + ".reads.", "baseline_wait", upstream.reads.baseline_wait, "timeout", upstream.reads.timeout);
    check_freshness(path + ".freshness.", upstream.freshness, nullptr);
    const Workload& all = settings_.plan;
    const bool same_plan = upstream.plan.resources_per_session == all.resources_per_session &&
                           upstream.plan.distinct_resources == all.distinct_resources;
    if (!same_plan) check_plan(path + ".plan.", upstream.plan);
    double planned = 0;
    for (const Rule& rule : upstream.rules) planned += rule.plan_share.value_or(0);
    if (planned > 1 + 1e-9) problems_.add_at(path + ".rules", "the plan_share of all must not exceed 100% together");
    const bool plain = !upstream.url.tls && !upstream.url.host.empty();
    if (plain && (!upstream.tls.ca_file.empty() || !upstream.tls.verify)) {
      warnings_.add(problems_.place_of(path + ".tls"), path + ".tls", "has no effect: the url is not https");
    }
    std::map<std::string, std::size_t> matches;
    for (std::size_t r = 0; r < upstream.rules.size(); ++r) {
      const std::string rule_path = item(path + ".rules", r);
      const std::string& match = upstream.rules[r].match;
      if (match.empty() && !problems_.has_place(rule_path + ".match")) problems_.add_at(rule_path, "needs a match");
      check_freshness(rule_path + ".", upstream.rules[r].freshness, &upstream.freshness);
      const auto [first, fresh] = matches.emplace(match, r);
      if (!fresh && !match.empty()) {
        problems_.add_at(rule_path + ".match",
                         "is the match of " + item("rules", first->second) + " too, which counts");
      }
    }
  }

  // `key` gives what must differ between the upstreams; empty does not count.
  void check_unique(const std::string& list, std::size_t size, const std::function<std::string(std::size_t)>& key,
                    const std::string& field, const std::string& advice) {
    std::map<std::string, std::size_t> first_with;
    for (std::size_t i = 0; i < size; ++i) {
      const auto [first, fresh] = first_with.emplace(key(i), i);
      if (fresh || key(i).empty()) continue;
      problems_.add_at(item(list, i) + "." + field,
                       "\"" + key(i) + "\" is the " + field + " of " + item(list, first->second) + " too" + advice);
    }
  }

  void check_unique_upstreams() {
    const auto& all = settings_.upstreams;
    check_unique("upstreams", all.size(), [&](std::size_t i) { return all[i].name; }, "name", "; give each a name");
    const auto path = [&](std::size_t i) { return all[i].url.host.empty() ? std::string() : all[i].path; };
    check_unique("upstreams", all.size(), path, "path", "; give each its own path");
  }

  void check_partners() {
    const auto& all = settings_.partners;
    check_unique("partners", all.size(), [&](std::size_t i) { return all[i].name; }, "name", "");
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string path = item("partners", i);
      const Partner& partner = all[i];
      if (partner.name.empty() && problems_.has_place(path) && !problems_.has_place(path + ".name")) {
        problems_.add_at(path, "needs a name");
      }
      check_order(path + ".pause.", "backoff_min", partner.pause.backoff_min, "backoff_max", partner.pause.backoff_max);
      if (partner.poll_burst > partner.burst) {
        not_above(path + ".", "poll_burst", "burst", std::to_string(partner.poll_burst), std::to_string(partner.burst));
      }
      warn_if_unused(path, i);
    }
  }

  void warn_if_unused(const std::string& path, std::size_t i) {
    std::vector<std::string> used;
    for (const Upstream& upstream : settings_.upstreams) {
      if (index(upstream.partner) == i) return;
      used.push_back(upstream.partner_name);
    }
    const std::string& name = settings_.partners[i].name;
    if (name.empty() || used.empty()) return;
    warnings_.add(problems_.place_of(path + ".name"), path + ".name",
                  "no upstream is of the partner \"" + name + "\"" + suggestion(name, used));
  }

  const Settings& settings_;
  Problems& problems_;
  Problems& warnings_;
};

}  // namespace

void check_settings(const Settings& settings, bool needs_upstream, Problems& problems, Problems& warnings) {
  Checker(settings, problems, warnings).check(needs_upstream);
}

}  // namespace freshet::config
