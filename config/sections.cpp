// The table of fields as its readers see it: by section, without types.
#include <cctype>

#include "config/fields.hpp"

namespace freshet::config {
namespace {

template <class S>
std::vector<FieldInfo> infos(const Fields<S>& fields) {
  return {fields.begin(), fields.end()};
}

}  // namespace

std::string to_string(Reload reload) {
  switch (reload) {
    case Reload::live:
      return "live";
    case Reload::sessions:
      return "new sessions";
    case Reload::restart:
      return "restart";
  }
  return "";
}

std::string FieldInfo::environment_name() const {
  if (flag.empty()) return "";
  std::string name = "FRESHET_" + flag;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string unknown_setting(const std::string& path, const std::vector<std::string>& known) {
  std::string near = suggestion(path, known);
  if (near.empty()) {
    std::vector<std::string> elsewhere;
    for (const SectionInfo& section : sections()) {
      for (const FieldInfo& field : section.fields) {
        elsewhere.push_back(section.path.empty() ? field.path : section.path + "." + field.path);
      }
    }
    near = suggestion(path, elsewhere);
  }
  return "unknown setting" + near;
}

const FieldInfo& config_file_info() {
  static const FieldInfo info{.path = "",
                              .flag = "config",
                              .kind = "file",
                              .default_text = "",
                              .example = "freshet.yaml",
                              .help = "The YAML file to read settings from.",
                              .reload = Reload::restart,
                              .common = true};
  return info;
}

std::vector<SectionInfo> sections() {
  return {
      {"", "The sidecar", "", infos(global_fields())},
      {"upstreams[]", "Each upstream: one MCP server behind the sidecar",
       "As flags or variables these set every upstream, over what the file says; those that say which server it is "
       "need "
       "exactly one upstream. A rule's own settings stay.",
       infos(upstream_fields())},
      {"upstreams[].rules[]", "Each rule: resources of an upstream that are kept otherwise",
       "Whatever a rule leaves out is as the upstream has it. In a file only.", infos(rule_fields())},
      {"partners[]", "Each partner: who runs upstreams, and the budget agreed with them",
       "As flags or variables these set every partner, over what the file says. An upstream's partner that is not in "
       "the "
       "file has the defaults.",
       infos(partner_fields())},
  };
}

}  // namespace freshet::config
