// The log as the settings want it.
#pragma once

#include "config/settings.hpp"

namespace freshet::app {

// Before anything is logged, and when the settings changed.
void set_up_log(const config::Log& settings);

}  // namespace freshet::app
