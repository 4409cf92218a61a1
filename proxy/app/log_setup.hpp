// The log as the settings want it.
#pragma once

#include "config/settings.hpp"

namespace freshet::app {

// Once, before anything is logged.
void set_up_log(const config::Log& settings);

}  // namespace freshet::app
