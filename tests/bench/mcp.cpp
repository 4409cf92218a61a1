#include "tests/bench/mcp.hpp"

#include "proxy/codec/jsonrpc.hpp"

namespace freshet::bench {

namespace {

constexpr std::string_view path = "/mcp";
constexpr std::string_view initialize_params =
    R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"freshet-bench","version":"1.0.0"}})";

constexpr std::string_view modern_fields = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
constexpr std::string_view modern_meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"freshet-bench","version":"1.0.0"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

std::string head(std::string_view method, std::string_view target, std::string_view session_id) {
  std::string text(method);
  text += " ";
  text += target;
  text += " HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: freshet-bench\r\n";
  if (session_id.empty()) return text;
  text += "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: ";
  text += session_id;
  return text + "\r\n";
}

std::string with_body(std::string text, std::string_view body) {
  text += "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ";
  text += std::to_string(body.size());
  text += "\r\n\r\n";
  return text.append(body);
}

}  // namespace

std::string post(std::string_view target, std::string_view session_id, std::string_view body) {
  return with_body(head("POST", target, session_id), body);
}

std::string tool_call(std::string_view session_id) {
  const std::string params = "{\"name\":" + codec::quote(tool_name) + ",\"arguments\":{\"team\":\"checkout\"}}";
  return post(path, session_id, codec::request("7", "tools/call", params));
}

std::string subscribe(std::string_view session_id, std::string_view uri) {
  return post(path, session_id, codec::request("8", "resources/subscribe", "{\"uri\":" + codec::quote(uri) + "}"));
}

std::string listen(std::string_view uri) {
  std::string params = "{\"notifications\":{\"resourceSubscriptions\":[" + codec::quote(uri) + "]},";
  params += modern_meta;
  return with_body(head("POST", path, {}).append(modern_fields),
                   codec::request("9", "subscriptions/listen", params + "}"));
}

net::Task<std::string> open_session(Connection& connection) {
  const std::string initialize = post(path, {}, codec::request("1", "initialize", initialize_params));
  const Reply reply = co_await connection.call(initialize);
  require_result(reply, "initialize");
  std::string id(reply.head.fields.find("Mcp-Session-Id").value_or(""));
  if (id.empty()) fail("initialize gave no session");
  const std::string initialized = post(path, id, codec::notification("notifications/initialized"));
  const Reply accepted = co_await connection.call(initialized);
  if (accepted.head.status != 202) fail("notifications/initialized was not accepted");
  co_return id;
}

net::Task<> open_stream(Connection& connection, std::string_view session_id) {
  const std::string request = head("GET", path, session_id) + "Accept: text/event-stream\r\n\r\n";
  const codec::ResponseHead answer = co_await connection.ask(request);
  if (answer.status != 200) fail("the event stream was refused with HTTP status " + std::to_string(answer.status));
}

void require_result(const Reply& reply, std::string_view what) {
  const bool is_result = reply.head.status == 200 && reply.body.find("\"result\":") != std::string::npos;
  if (!is_result) {
    fail(std::string(what) + " was answered with HTTP status " + std::to_string(reply.head.status) + " and " +
         reply.body.substr(0, 200));
  }
}

}  // namespace freshet::bench
