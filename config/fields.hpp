// The one table of what an operator may set, by section of the file.
#pragma once

#include <string>
#include <vector>

#include "config/field.hpp"
#include "config/settings.hpp"

namespace freshet::config {

// Beside the fields, the top of the file holds the lists `upstreams` and `partners`, an upstream the list `rules`, and
// a rule the fields of freshness_fields() without their group.
[[nodiscard]] const Fields<Settings>& global_fields();
[[nodiscard]] const Fields<Upstream>& upstream_fields();  // freshness_fields() included, in their group "freshness"
[[nodiscard]] const Fields<Partner>& partner_fields();
[[nodiscard]] const Fields<Freshness>& freshness_fields();
// In global_fields(), and without flags in upstream_fields(), in their group "plan".
[[nodiscard]] const Fields<Workload>& workload_fields();
[[nodiscard]] const Fields<Rule>& rule_fields();

// The flag --config, which names the file and so cannot stand in it.
[[nodiscard]] const FieldInfo& config_file_info();

struct SectionInfo {
  std::string path;  // "", "upstreams[]", …
  std::string title;
  std::string about;  // how its flags apply
  std::vector<FieldInfo> fields;
};

// The whole table for those who document it or read flags, in the order of the file. A flag is in it once.
[[nodiscard]] std::vector<SectionInfo> sections();

}  // namespace freshet::config
