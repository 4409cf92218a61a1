// Answers that Freshet gives itself.
#pragma once

#include <string>
#include <string_view>

#include "proxy/net/http_server.hpp"

namespace freshet::session {

// A JSON-RPC message as the answer to a POST: JSON, or one event where the client accepts only those
// (RFC 9110 §12.5.1). True if it was written.
net::Task<bool> answer_message(net::ServerExchange& client, int status, std::string message);

// A JSON-RPC error; `id_json` empty: null.
net::Task<bool> answer_error(net::ServerExchange& client, int status, std::string_view id_json, int code,
                             std::string_view text);

// The upstream did not answer: 503 where it was not reached, 504 where it took too long, 502 where it broke off.
net::Task<bool> answer_unavailable(net::ServerExchange& client, std::string_view id_json, const net::error_code& why);

net::Task<bool> answer_text(net::ServerExchange& client, int status, std::string_view text);

}  // namespace freshet::session
