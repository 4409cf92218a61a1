// The configuration read again beside the one that runs: all of it is taken on, or nothing.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/settings.hpp"

namespace freshet::config {

// What another configuration changes. Upstreams and partners stand by their names: upstreams[notes].freshness.interval.
struct Difference {
  std::vector<std::string> changed;  // paths of what can be taken on
  std::vector<std::string> restart;  // "path: why": what only a new start can take on
};

// Requires that what has the same name stands in the same place, as in the settings that reload() gives.
[[nodiscard]] Difference difference(const Settings& running, const Settings& next);

struct Reloaded {
  Settings settings;                  // to go on with if there are no errors; every upstream and partner keeps its id
  std::vector<std::string> changed;   // never holds a value
  std::vector<std::string> errors;    // all that is wrong, each with its place, or what needs a restart
  std::vector<std::string> warnings;  // as LoadResult has them

  [[nodiscard]] bool ok() const { return errors.empty(); }
};

// With the same flags and variables as at the start; only files may have changed.
[[nodiscard]] Reloaded reload(const Settings& running, const Sources& sources);

}  // namespace freshet::config
