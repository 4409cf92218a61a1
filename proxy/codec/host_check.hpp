// Guards against DNS rebinding (2025-11-25 transports, Security warning).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace freshet::codec {

// Whether a Host value names this machine: localhost, 127.0.0.0/8 or [::1], in any case, with or without a port.
[[nodiscard]] bool host_is_loopback(std::string_view host);

// Whether an Origin value is in the list, compared without regard to case; "*" in the list allows every one. An absent
// Origin is not this function's matter: only browsers send one.
[[nodiscard]] bool origin_allowed(std::string_view origin, const std::vector<std::string>& allowed);

}  // namespace freshet::codec
