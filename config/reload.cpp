#include "config/reload.hpp"

#include <algorithm>

#include "config/fields.hpp"

namespace freshet::config {
namespace {

template <class Named>
std::size_t place_of(const std::vector<Named>& all, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(all, name, &Named::name) - all.begin());
}

// Ids are places in these lists and outlive a reload: what runs keeps its place, what is new comes last.
template <class Named>
void put_in_order_of(const std::vector<Named>& running, std::vector<Named>& next) {
  std::ranges::stable_sort(next, {}, [&](const Named& one) { return place_of(running, one.name); });
}

Settings in_running_order(const Settings& running, Settings next) {
  put_in_order_of(running.upstreams, next.upstreams);
  put_in_order_of(running.partners, next.partners);
  for (Upstream& upstream : next.upstreams) {
    upstream.partner = PartnerId{static_cast<std::uint32_t>(place_of(next.partners, upstream.partner_name))};
  }
  return next;
}

class Comparison {
 public:
  template <class S>
  void compare(const S& running, const S& next, const Fields<S>& fields, const std::string& prefix) {
    for (const Field<S>& field : fields) {
      if (field.show(running) != field.show(next)) note(field, prefix + field.path);
    }
  }

  template <class Named>
  void compare_names(const std::vector<Named>& running, const std::vector<Named>& next, const std::string& list) {
    for (const Named& one : running) {
      if (place_of(next, one.name) == next.size()) needs_restart(list + "[" + one.name + "]", "leaving it out");
    }
    for (const Named& one : next) {
      if (place_of(running, one.name) == running.size()) needs_restart(list + "[" + one.name + "]", "adding it");
    }
  }

  // What a rule only has from its upstream is no change of the rule.
  void compare_rules(const Upstream& running, const Upstream& next, const std::string& prefix) {
    if (!std::ranges::equal(running.rules, next.rules, {}, &Rule::match, &Rule::match)) {
      result_.changed.push_back(prefix + "rules");
      if (digests_apart(running) || digests_apart(next)) {
        needs_restart(prefix + "rules",
                      "changing which rule is for which URI, where one has volatile parts of its own,");
      }
      return;
    }
    for (std::size_t i = 0; i < running.rules.size(); ++i) {
      compare_rule({running, running.rules[i]}, {next, next.rules[i]}, prefix + "rules[" + std::to_string(i) + "].");
    }
  }

  [[nodiscard]] Difference take() { return std::move(result_); }

 private:
  struct RuleOf {
    const Upstream& upstream;
    const Rule& rule;

    [[nodiscard]] bool inherits(const Field<Rule>& field) const {
      Rule plain;
      plain.freshness = upstream.freshness;
      return field.show(rule) == field.show(plain);
    }
  };

  void compare_rule(const RuleOf& running, const RuleOf& next, const std::string& prefix) {
    for (const Field<Rule>& field : rule_fields()) {
      if (field.show(running.rule) == field.show(next.rule)) continue;
      if (!running.inherits(field) || !next.inherits(field)) note(field, prefix + field.path);
    }
  }

  // Contents are compared by digests whose definition must not change under what was read already.
  static bool digests_apart(const Upstream& upstream) {
    return std::ranges::any_of(upstream.rules, [&](const Rule& rule) {
      return rule.freshness.volatile_pointers != upstream.freshness.volatile_pointers ||
             rule.freshness.volatile_lines != upstream.freshness.volatile_lines;
    });
  }

  void note(const FieldInfo& field, const std::string& path) {
    if (field.reload == Reload::restart) return needs_restart(path, "changing it");
    result_.changed.push_back(path);
  }

  void needs_restart(const std::string& path, const std::string& doing) {
    result_.restart.push_back(path + ": " + doing + " needs a restart");
  }

  Difference result_;
};

}  // namespace

Difference difference(const Settings& running, const Settings& next) {
  Comparison comparison;
  comparison.compare(running, next, global_fields(), "");
  comparison.compare_names(running.upstreams, next.upstreams, "upstreams");
  comparison.compare_names(running.partners, next.partners, "partners");
  for (const Upstream& upstream : running.upstreams) {
    const std::size_t place = place_of(next.upstreams, upstream.name);
    if (place == next.upstreams.size()) continue;
    const std::string prefix = "upstreams[" + upstream.name + "].";
    comparison.compare(upstream, next.upstreams[place], upstream_fields(), prefix);
    comparison.compare_rules(upstream, next.upstreams[place], prefix);
  }
  for (const Partner& partner : running.partners) {
    const std::size_t place = place_of(next.partners, partner.name);
    if (place == next.partners.size()) continue;
    comparison.compare(partner, next.partners[place], partner_fields(), "partners[" + partner.name + "].");
  }
  return comparison.take();
}

Reloaded reload(const Settings& running, const Sources& sources) {
  LoadResult loaded = load(sources);
  Reloaded result{
      .settings = {}, .changed = {}, .errors = std::move(loaded.errors), .warnings = std::move(loaded.warnings)};
  if (loaded.config_path.empty()) {
    result.errors = {"there is no file to read again: settings stand in flags and variables alone (--config FILE)"};
  }
  if (result.ok()) result.errors = unresolved(loaded.settings, sources);
  if (!result.ok()) return result;
  result.settings = in_running_order(running, std::move(loaded.settings));
  Difference found = difference(running, result.settings);
  result.changed = std::move(found.changed);
  result.errors = std::move(found.restart);
  return result;
}

}  // namespace freshet::config
