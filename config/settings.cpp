#include "config/settings.hpp"

#include "strategies/glob.hpp"

namespace freshet::config {

const Freshness& freshness_for(const Upstream& upstream, std::string_view uri) {
  for (const Rule& rule : upstream.rules) {
    if (glob_match(rule.match, uri)) return rule.freshness;
  }
  return upstream.freshness;
}

}  // namespace freshet::config
