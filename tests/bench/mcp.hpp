// What the load says in MCP (Streamable HTTP; 2025-11-25, and 2026-07-28 to listen), as requests ready to be written.
#pragma once

#include <string>
#include <string_view>

#include "tests/bench/connection.hpp"

namespace freshet::bench {

// What bench_upstream offers.
inline constexpr std::string_view tool_name = "kibibyte";
inline constexpr std::size_t tool_text_bytes = 1024;
inline constexpr std::string_view emit_path = "/emit";  // POST: a notification goes out on the session's stream
// POST: the resource that the body names changes. Answered once that was read, with the moment of the answer to it.
inline constexpr std::string_view change_path = "/change";

[[nodiscard]] std::string post(std::string_view path, std::string_view session_id, std::string_view body);
[[nodiscard]] std::string tool_call(std::string_view session_id);
[[nodiscard]] std::string subscribe(std::string_view session_id, std::string_view uri);

// `subscriptions/listen` (2026-07-28) on one resource.
[[nodiscard]] std::string listen(std::string_view uri);

// `initialize` and what follows it; the session's id.
net::Task<std::string> open_session(Connection& connection);
// GET: the session's event stream, its head read. The connection is the stream's from then on.
net::Task<> open_stream(Connection& connection, std::string_view session_id);
// Ends the process unless the reply is a result.
void require_result(const Reply& reply, std::string_view what);

}  // namespace freshet::bench
