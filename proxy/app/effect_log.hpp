// What of the engine's effects an operator reads in the log.
#pragma once

#include "strategies/effect.hpp"
#include "strategies/settings.hpp"

namespace freshet::app {

void log_effect(const Effect& effect, const Settings& settings);

}  // namespace freshet::app
