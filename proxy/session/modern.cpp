#include "proxy/session/modern.hpp"

#include <algorithm>
#include <optional>

#include "proxy/codec/header_value.hpp"
#include "proxy/codec/json_string.hpp"
#include "proxy/codec/json_text.hpp"
#include "proxy/codec/mcp.hpp"

namespace freshet::session {

bool is_modern(const codec::RequestHead& head, const codec::Message& message) {
  const auto version = head.fields.find("MCP-Protocol-Version");
  return (version && *version >= modern_version) || !message.meta_protocol_version.empty();
}

std::string header_mismatch(const codec::RequestHead& head, const codec::Message& message) {
  const auto disagrees = [&](std::string_view field, std::string_view body) {
    const auto value = head.fields.find(field);
    if (!value) return true;
    return codec::decode_header_value(*value) != std::optional<std::string>(body);
  };
  if (disagrees("MCP-Protocol-Version", message.meta_protocol_version)) {
    return "MCP-Protocol-Version does not match the body's _meta";
  }
  if (disagrees("Mcp-Method", message.method)) return "Mcp-Method does not match the body's method";
  if (message.method == "resources/read" && disagrees("Mcp-Name", message.uri)) {
    return "Mcp-Name does not match the body's params.uri";
  }
  return {};
}

void add_mirrored_fields(codec::Fields& fields, std::string_view version, std::string_view method,
                         std::string_view name) {
  fields.set("MCP-Protocol-Version", version);
  fields.set("Mcp-Method", method);
  fields.erase("Mcp-Name");
  if (!name.empty()) fields.set("Mcp-Name", codec::encode_header_value(name));
}

std::string with_meta(std::string_view params_json, std::string_view version) {
  const std::string meta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":)" + codec::quote(version) +
                           R"(,"io.modelcontextprotocol/clientInfo":{"name":"freshet","version":"1"})" +
                           R"(,"io.modelcontextprotocol/clientCapabilities":{}})";
  const std::string_view members = params_json.substr(1, params_json.size() - 2);
  return "{" + std::string(members) + (members.empty() ? "" : ",") + meta + "}";
}

std::string with_remaining_ttl(std::string result, std::int64_t age_ms) {
  const auto ttl = codec::read_cache_hint(result).ttl_ms;
  if (!ttl) return result;
  codec::Span at;
  codec::JsonReader reader(result);
  if (reader.peek() != codec::JsonKind::object) return result;
  reader.members([&](std::string_view name) {
    const bool wanted = codec::token_equals(name, "ttlMs");
    const codec::Span value = reader.skip();
    if (wanted) at = value;
  });
  if (!reader.ok() || at.empty()) return result;
  const std::int64_t left = std::max<std::int64_t>(0, static_cast<std::int64_t>(*ttl) - age_ms);
  return result.replace(at.begin, at.size(), std::to_string(left));
}

}  // namespace freshet::session
