// How requests of the modern era are made and checked (2026-07-28 streamable-http, Request Metadata).
#pragma once

#include <string>
#include <string_view>

#include "proxy/codec/http_fields.hpp"
#include "proxy/codec/jsonrpc.hpp"

namespace freshet::session {

inline constexpr std::string_view modern_version = "2026-07-28";

// The request says that it is of the modern era, in its header or in its `_meta`.
[[nodiscard]] bool is_modern(const codec::RequestHead& head, const codec::Message& message);

// Why header and body of a request on which Freshet acts disagree; empty: they do not.
[[nodiscard]] std::string header_mismatch(const codec::RequestHead& head, const codec::Message& message);

// The fields that mirror the body of a request of our own. `name`: params.uri or params.name, empty where it has none.
void add_mirrored_fields(codec::Fields& fields, std::string_view version, std::string_view method,
                         std::string_view name);

// `params_json` (an object) with the `_meta` that each modern request carries. Freshet offers no client capability.
[[nodiscard]] std::string with_meta(std::string_view params_json, std::string_view version);

// `result` with what is left of its ttlMs after `age_ms`; unchanged where it has none.
[[nodiscard]] std::string with_remaining_ttl(std::string result, std::int64_t age_ms);

}  // namespace freshet::session
