#include "proxy/app/demo_tally.hpp"

#include <algorithm>
#include <utility>

namespace freshet::app {

void DemoTally::changed(const std::string& uri, std::string text, Moment at) {
  Resource& resource = resources_[uri];
  ++settled_.changes;
  if (resource.previous) judge(settled_, uri, *resource.previous, resource.last->since);
  resource.previous = std::exchange(resource.last, Version{std::move(text), at});
}

std::optional<Duration> DemoTally::told(const std::string& uri, const std::string& text, Moment at) {
  const auto resource = resources_.find(uri);
  if (resource == resources_.end()) return std::nullopt;
  for (std::optional<Version>* version : {&resource->second.last, &resource->second.previous}) {
    if (!*version || (*version)->told || (*version)->text != text) continue;
    (*version)->told = true;
    // It may have come between the notification and the read.
    const Duration lag = std::max(Duration::zero(), Duration(at - (*version)->since));
    settled_.lag_max = std::max(settled_.lag_max.value_or(lag), lag);
    return lag;
  }
  return std::nullopt;
}

void DemoTally::judge(Summary& into, const std::string& uri, const Version& version, Moment until) const {
  if (version.told) {
    ++into.told;
  } else if (until - version.since <= patience_) {
    ++into.passed_over;
  } else if (++into.missed == 1) {
    into.first_missed = uri + ": " + version.text;
  }
}

DemoTally::Summary DemoTally::summary(Moment now) const {
  Summary all = settled_;
  for (const auto& [uri, resource] : resources_) {
    if (resource.previous) judge(all, uri, *resource.previous, resource.last->since);
    if (!resource.last) continue;
    const bool due = resource.last->told || now - resource.last->since > patience_;
    if (due) judge(all, uri, *resource.last, now);
    if (!due) ++all.too_new;
  }
  return all;
}

}  // namespace freshet::app
