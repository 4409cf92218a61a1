// Values that a message carries in its body and again in a header (2026-07-28 streamable-http, Value Encoding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace freshet::codec {

// `value` itself if it may stand in a field, otherwise =?base64?…?= of its bytes; so too if it looks like that itself.
[[nodiscard]] std::string encode_header_value(std::string_view value);

// What an encoded or plain field value stands for; nullopt if it claims to be Base64 and is none (RFC 4648 §4).
[[nodiscard]] std::optional<std::string> decode_header_value(std::string_view field);

}  // namespace freshet::codec
