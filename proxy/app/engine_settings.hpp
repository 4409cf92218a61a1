// The engine's view of the configuration.
#pragma once

#include "config/settings.hpp"
#include "strategies/settings.hpp"

namespace freshet::app {

[[nodiscard]] Settings engine_settings(const config::Settings& settings);

}  // namespace freshet::app
