// What no single field can tell: settings that must agree with each other.
#pragma once

#include "config/problem.hpp"
#include "config/settings.hpp"

namespace freshet::config {

// `settings` as loaded, with the places of its fields in `problems`. `needs_upstream`: none at all is a problem too.
void check_settings(const Settings& settings, bool needs_upstream, Problems& problems, Problems& warnings);

}  // namespace freshet::config
