// JSON-RPC 2.0 envelopes: what a message is and where its parts lie. Bodies are never rebuilt from what is read here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

#include "proxy/codec/json_string.hpp"
#include "proxy/codec/json_text.hpp"

namespace freshet::codec {

// JSON-RPC 2.0 §5.1, MCP 2025-11-25 and 2026-07-28.
namespace error_codes {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int server_error = -32000;       // Freshet's own refusals
inline constexpr int session_not_found = -32001;  // as SDKs' servers answer it
inline constexpr int resource_not_found = -32002;
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_client_capability = -32021;
}  // namespace error_codes

enum class MessageKind {
  request,       // a method and an id, null included
  notification,  // a method and no id
  response,      // a result or an error
  invalid,       // JSON, but no JSON-RPC 2.0 message, or its id is none
};

// Member names compare exactly. Of members that occur twice the last is shown, and duplicate_members says so.
struct Message {
  MessageKind kind = MessageKind::invalid;
  Span span;  // of the message; like all spans here, in the body that was read
  std::string method;
  std::string id_json;  // "x", 0, -1: an id as JSON, ready to be echoed and to be compared; empty: none, or not valid
  bool id_is_null = false;  // forbidden in MCP (2025-11-25 basic, Requests), allowed in JSON-RPC
  bool has_uri = false;
  std::string uri;                    // params.uri if it is a string, unescaped and otherwise byte for byte
  bool params_extra = false;          // params has other members than uri and _meta
  std::string request_id_json;        // params.requestId, as id_json (notifications/cancelled)
  std::string protocol_version;       // params.protocolVersion (initialize)
  std::string meta_protocol_version;  // params._meta["io.modelcontextprotocol/protocolVersion"] (modern era)
  bool is_error = false;
  long long error_code = 0;
  std::string error_message;
  bool duplicate_members = false;  // at the top, in params or in params._meta, after unescaping (RFC 8259 §4)
  Span id, params, result, error;  // empty: absent
};

struct EnvelopeLimits {
  std::size_t depth_max = json_depth_max_default;  // at most json_depth_ceiling
  std::size_t batch_members_max = 1'000;
};

struct Envelope {
  bool is_batch = false;
  std::vector<Message> messages;  // exactly one unless is_batch; at least one
};

enum class EnvelopeFault { malformed, too_deep, empty_batch, batch_too_long };

// What an error answer may say about it.
[[nodiscard]] std::string_view describe(EnvelopeFault fault);

// Reads a body or an event's data: one message, or a batch (2025-03-26 basic, Batching).
[[nodiscard]] boost::system::result<Envelope, EnvelopeFault> read_envelope(std::string_view body,
                                                                           const EnvelopeLimits& limits = {});

struct Reply {
  enum class Kind {
    result,
    error,     // for our id, or with an id that is null or absent: on HTTP the exchange identifies the caller
    not_ours,  // another message; code and message are set if it is an error
    malformed,
  };
  Kind kind = Kind::malformed;
  long long code = 0;
  std::string message;
  Span id, result, error;  // in the body; empty: absent
  bool opaque = false;     // the body holds something grammatical that JSON value types cannot (JsonReader): only its
                           // bytes can be compared
};

// Reads what should be the answer to a request of ours. Lenient where lenience costs nothing: the version is not looked
// at.
[[nodiscard]] Reply read_reply(std::string_view body, std::string_view our_id_json, const EnvelopeLimits& limits = {});

// Writers. Every *_json argument is JSON text; ids as in Message, empty means null. One line each.
[[nodiscard]] std::string error_response(std::string_view id_json, long long code, std::string_view message,
                                         std::string_view data_json = {});
[[nodiscard]] std::string result_response(std::string_view id_json, std::string_view result_json);
[[nodiscard]] std::string request(std::string_view id_json, std::string_view method, std::string_view params_json = {});
[[nodiscard]] std::string notification(std::string_view method, std::string_view params_json = {});

}  // namespace freshet::codec
