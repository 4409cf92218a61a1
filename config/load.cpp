#include "config/load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "config/checks.hpp"
#include "config/fields.hpp"

namespace freshet::config {
namespace {

constexpr std::string_view variable_prefix = "FRESHET_";

std::vector<FieldInfo> fields_with_flags() {
  std::vector<FieldInfo> all;
  for (const SectionInfo& section : sections()) {
    for (const FieldInfo& field : section.fields) {
      if (!field.flag.empty()) all.push_back(field);
    }
  }
  return all;
}

std::vector<std::string> lines(const Problems& problems) {
  std::vector<std::string> all;
  for (const Problem& problem : problems.sorted()) all.push_back(to_string(problem));
  return all;
}

std::vector<std::string> referred_variables(const Settings& settings) {
  std::vector<std::string> names;
  const auto add = [&](const std::optional<Secret>& secret) {
    if (secret && secret->source == Secret::Source::environment) names.push_back(secret->name);
  };
  add(settings.admin.token);
  for (const Upstream& upstream : settings.upstreams) {
    for (const HeaderAdd& header : upstream.headers_add) add(header.secret);
  }
  return names;
}

// A variable that was probably meant for us. Kubernetes sets FRESHET_PORT and the like by itself beside a Service named
// freshet, and a secret may well be called FRESHET_TOKEN: so it is a warning, and only for a near miss.
void warn_of_near_misses(const Environment& environment, std::vector<std::string> known, Problems& warnings) {
  known.push_back(config_file_info().environment_name());
  for (const FieldInfo& field : fields_with_flags()) known.push_back(field.environment_name());
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(variable_prefix) || std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (name.find("_PORT") != std::string::npos || name.find("_SERVICE_") != std::string::npos) continue;
    const std::string near = suggestion(name, known);
    if (!near.empty()) warnings.add({name}, "", "unknown variable" + near);
  }
}

Overrides overrides(const Environment& environment, const Overrides& flags) {
  Overrides all = flags;
  for (const FieldInfo& field : fields_with_flags()) {
    const auto found = environment.find(field.environment_name());
    if (found == environment.end() || found->second.empty()) continue;
    all.try_emplace(field.flag, Value::scalar(found->second, {found->first}));  // a flag that is there stays
  }
  return all;
}

const Value* member(const Value& map, const std::string& key) {
  const auto found =
      std::find_if(map.members.begin(), map.members.end(), [&](const Member& m) { return m.key == key; });
  return found == map.members.end() ? nullptr : &found->value;
}

// The items of the list `key` in `map`: none if it is not there, not a list, or holds nothing.
std::vector<Value> list(const Value& map, const std::string& key, const std::string& path, Problems& problems) {
  const Value* value = member(map, key);
  if (!value || value->kind == Value::Kind::null) return {};
  problems.set_at(path, value->place);
  if (value->kind == Value::Kind::sequence) return value->items;
  problems.add(value->place, path, "must be a list");
  return {};
}

std::string item_path(const std::string& list, std::size_t i) {
  return list + "[" + std::to_string(i) + "]";
}

class Loader {
 public:
  Loader(Overrides overrides, Problems& problems) : overrides_(std::move(overrides)), problems_(problems) {}

  Settings load(const Value& file) {
    Settings settings;
    apply_map(settings, file, global_fields(), {"upstreams", "partners"}, "", problems_);
    apply_overrides(settings, overrides_, global_fields(), "", problems_);
    load_upstreams(settings, file);
    load_partners(settings, file);
    return settings;
  }

 private:
  void load_upstreams(Settings& settings, const Value& file) {
    std::vector<Value> items = list(file, "upstreams", "upstreams", problems_);
    // One that is given by flags alone.
    if (items.empty() && overrides_.contains("upstream")) items.emplace_back();
    for (std::size_t i = 0; i < items.size(); ++i) {
      settings.upstreams.push_back(
          load_upstream(items[i], item_path("upstreams", i), settings.plan, items.size() == 1));
    }
  }

  Upstream load_upstream(const Value& item, const std::string& path, const Workload& plan, bool only_one) {
    Upstream upstream;
    upstream.plan = plan;
    apply_map(upstream, item, upstream_fields(), {"rules"}, path, problems_);
    apply_overrides(upstream, only_one ? overrides_ : without_one_upstream_fields(), upstream_fields(), path,
                    problems_);
    fill_defaults(upstream);
    const std::vector<Value> rules = list(item, "rules", path + ".rules", problems_);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      Rule rule;
      rule.freshness = upstream.freshness;
      apply_map(rule, rules[i], rule_fields(), {}, item_path(path + ".rules", i), problems_);
      upstream.rules.push_back(std::move(rule));
    }
    return upstream;
  }

  Overrides without_one_upstream_fields() {
    Overrides rest = overrides_;
    for (const Field<Upstream>& field : upstream_fields()) {
      const auto found = field.one_upstream ? rest.find(field.flag) : rest.end();
      if (found == rest.end()) continue;
      problems_.add(found->second.place, "", "says which upstream it is, but the file has several; set it there");
      rest.erase(found);
    }
    return rest;
  }

  static void fill_defaults(Upstream& upstream) {
    const Url& url = upstream.url;
    const bool local = !url.unix_path.empty();
    if (upstream.name.empty() && !url.host.empty()) {
      const bool bare = url.port == (url.tls ? 443 : 80);
      upstream.name = local ? url.unix_path : bare ? url.host : url.host + ":" + std::to_string(url.port);
    }
    if (upstream.path.empty()) upstream.path = url.path;
    if (upstream.partner_name.empty()) upstream.partner_name = local ? upstream.name : url.host;
  }

  void load_partners(Settings& settings, const Value& file) {
    const std::vector<Value> items = list(file, "partners", "partners", problems_);
    for (std::size_t i = 0; i < items.size(); ++i) {
      Partner partner;
      apply_map(partner, items[i], partner_fields(), {}, item_path("partners", i), problems_);
      finish(partner, item_path("partners", i));
      settings.partners.push_back(std::move(partner));
    }
    for (Upstream& upstream : settings.upstreams) upstream.partner = partner_of(settings, upstream.partner_name);
    // Without any partner the flags would go unread, and their mistakes unseen.
    Partner unused;
    if (settings.partners.empty()) apply_overrides(unused, overrides_, partner_fields(), "", problems_);
  }

  void finish(Partner& partner, const std::string& path) {
    apply_overrides(partner, overrides_, partner_fields(), path, problems_);
    // Whoever sets a small burst need not know of the part of it that polls take.
    if (!problems_.has_place(path + ".poll_burst")) partner.poll_burst = std::min(partner.poll_burst, partner.burst);
  }

  PartnerId partner_of(Settings& settings, const std::string& name) {
    const auto found = std::find_if(settings.partners.begin(), settings.partners.end(),
                                    [&](const Partner& p) { return p.name == name; });
    const auto position = static_cast<std::uint32_t>(found - settings.partners.begin());
    if (found == settings.partners.end()) {
      Partner partner;
      partner.name = name;
      finish(partner, item_path("partners", position));
      settings.partners.push_back(std::move(partner));
    }
    return PartnerId{position};
  }

  Overrides overrides_;
  Problems& problems_;
};

Value read_file(const Sources& sources, const std::string& path, const Place& asked, Problems& problems) {
  if (path.empty()) return {};
  const Parsed<std::string> text = sources.read_file(path);
  if (text) return parse_yaml(*text, path, problems);
  problems.add(asked, "", "cannot read " + path + ": " + text.error());
  return {};
}

}  // namespace

LoadResult load(const Sources& sources) {
  Problems problems;
  Problems warnings;
  CommandLine line = parse_command_line(sources.arguments, problems);
  LoadResult result;
  result.command = line.command;
  const bool loads = line.command.kind != Command::Kind::help && line.command.kind != Command::Kind::version;
  if (loads) {
    Place asked{"--config"};
    result.config_path = line.config_path;
    const auto variable = sources.environment.find(config_file_info().environment_name());
    if (result.config_path.empty() && variable != sources.environment.end()) {
      result.config_path = variable->second;
      asked.source = variable->first;
    }
    const Value file = read_file(sources, result.config_path, asked, problems);
    result.settings = Loader(overrides(sources.environment, line.flags), problems).load(file);
    warn_of_near_misses(sources.environment, referred_variables(result.settings), warnings);
    check_settings(result.settings, info_of(line.command.kind).needs_upstream, problems, warnings);
  }
  result.errors = lines(problems);
  result.warnings = lines(warnings);
  return result;
}

Sources process_sources(int argc, const char* const* argv, const char* const* environment) {
  Sources sources;
  if (argc > 0) sources.arguments.assign(argv + 1, argv + argc);
  for (; *environment; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    sources.environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  sources.read_file = [](const std::string& path) -> Parsed<std::string> {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Mistake{std::strerror(errno)};
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (file.bad()) return Mistake{"reading failed"};
    return text;
  };
  return sources;
}

std::vector<std::string> unresolved(const Settings& settings, const Sources& sources) {
  std::vector<std::string> found;
  const auto need_file = [&](const std::string& path) {
    if (path.empty()) return;
    if (const auto text = sources.read_file(path); !text) found.push_back(path + ": " + text.error());
  };
  const auto need_secret = [&](const std::optional<Secret>& secret) {
    if (!secret) return;
    if (const auto value = resolve(*secret, sources.environment); !value) found.push_back(value.error());
  };
  need_file(settings.listen.tls.cert_file);
  need_file(settings.listen.tls.key_file);
  need_secret(settings.admin.token);
  for (const Upstream& upstream : settings.upstreams) {
    need_file(upstream.tls.ca_file);
    for (const HeaderAdd& header : upstream.headers_add) need_secret(header.secret);
  }
  return found;
}

}  // namespace freshet::config
