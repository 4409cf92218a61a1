// Whose credentials a request carries.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/codec/http_fields.hpp"
#include "strategies/ids.hpp"

namespace freshet::session {

// Keyed by a secret that is drawn at start and never leaves the process: equal credentials give equal principals here
// and mean nothing elsewhere (HMAC, RFC 2104, with SHA-256).
class PrincipalKeyer {
 public:
  // Beside Authorization, X-Api-Key and Cookie. Lower case.
  explicit PrincipalKeyer(std::vector<std::string> further_headers);

  // The credentials of a request: those headers, in whatever order they come, and the query of its target. None of
  // them: anonymous.
  [[nodiscard]] Principal of(const codec::RequestHead& request) const;

 private:
  std::vector<std::string> headers_;
  std::array<unsigned char, 32> key_{};
};

}  // namespace freshet::session
