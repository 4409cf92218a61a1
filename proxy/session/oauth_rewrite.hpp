// OAuth discovery seen from the address that the client dialled (RFC 9728 §3.3: `resource` must equal it): only where
// the operator set public_url, and nothing but the upstream's own origin in the two places that name it.
#pragma once

#include <string>
#include <string_view>

#include "proxy/codec/http_fields.hpp"
#include "proxy/session/upstream.hpp"

namespace freshet::session {

// Whether a target is protected resource metadata (RFC 9728 §3).
[[nodiscard]] bool is_resource_metadata(std::string_view target);

// resource_metadata in WWW-Authenticate (RFC 9728 §5.1).
void rewrite_challenge(codec::Fields& fields, const Upstream& upstream);

// `resource` in the metadata; every other byte as it was.
[[nodiscard]] std::string rewrite_resource(std::string metadata, const Upstream& upstream);

}  // namespace freshet::session
