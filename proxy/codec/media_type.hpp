// Media types as HTTP compares them: without regard to case, parameters apart (RFC 9110 §8.3.1).
#pragma once

#include <string_view>

namespace freshet::codec {

[[nodiscard]] bool is_json(std::string_view content_type);          // application/json
[[nodiscard]] bool is_event_stream(std::string_view content_type);  // text/event-stream

// Whether an Accept value (several lines joined by commas) lets `media_type` be sent: the most specific range decides,
// and q=0 refuses (RFC 9110 §12.5.1). An empty value, or none that can be read, accepts everything.
[[nodiscard]] bool accepts(std::string_view accept, std::string_view media_type);

}  // namespace freshet::codec
