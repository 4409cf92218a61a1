// What the text reader accepts is what another parser accepts, and what is written back reads the same.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "proxy/codec/jsonrpc.hpp"

namespace freshet::fuzz {

// By our own reader, where lone surrogates may be about that the other one refuses.
inline bool is_json_text(std::string_view text) {
  codec::JsonReader reader(text);
  reader.skip();
  return reader.finish();
}

inline std::string compare_acceptance(std::string_view text) {
  codec::JsonReader reader(text, codec::json_depth_ceiling);
  const auto span = reader.skip();
  const bool accepted = reader.finish();
  if (reader.fault() == codec::JsonFault::too_deep) return {};
  if (text.find('\0') != std::string_view::npos) return accepted ? "accepted a NUL" : "";  // the other's end of input
  const bool reference = nlohmann::json::accept(text);
  if (accepted && !reference && !reader.saw_unrepresentable()) return "accepted what is no JSON";
  if (!accepted && reference) return "refused JSON";
  if (!accepted || text[span.begin] != '"' || reader.saw_unrepresentable()) return {};
  const auto unquoted = codec::unquote(span.in(text));
  if (unquoted != nlohmann::json::parse(text).get<std::string>()) return "unquoted to another text";
  if (codec::unquote(codec::quote(unquoted)) != unquoted) return "quoting lost something";
  return {};
}

// Returns what is wrong, or nothing.
inline std::string fuzz_json(std::string_view text) {
  if (auto complaint = compare_acceptance(text); !complaint.empty()) return complaint;
  if (!is_json_text(codec::quote(text))) return "quoted to what is no JSON";
  const auto reply = codec::read_reply(text, "1");
  const auto envelope = codec::read_envelope(text);
  if (!envelope) return {};
  for (const auto& message : envelope->messages) {
    if (message.span.end > text.size()) return "a message lies outside of its body";
    if (message.kind == codec::MessageKind::request && message.id_json.empty() && !message.id_is_null)
      return "a request without an id";
    const auto error = codec::error_response(message.id_json, -32600, message.method);
    if (!is_json_text(error)) return "an error answer that is no JSON";
  }
  const bool same_reading = envelope->is_batch || envelope->messages.front().kind != codec::MessageKind::response ||
                            reply.kind != codec::Reply::Kind::malformed;
  return same_reading ? "" : "a response that is no reply";
}

}  // namespace freshet::fuzz
