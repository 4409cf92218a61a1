#include "proxy/app/demo_server.hpp"

#include <algorithm>
#include <array>

#include "proxy/codec/host_check.hpp"
#include "proxy/net/alarm.hpp"
#include "proxy/session/sessions.hpp"

namespace freshet::app {

namespace {

constexpr std::string_view path = "/mcp";
constexpr std::array<std::string_view, 2> revisions{"2025-11-25", "2025-06-18"};
constexpr std::size_t body_bytes_max = 64 * 1024;
constexpr std::size_t sessions_max = 1'000;
constexpr std::size_t connections_max = 256;
constexpr Duration change_interval = std::chrono::milliseconds(3'500);
constexpr double change_jitter = 0.5;

std::string path_of(std::string_view target) {
  return std::string(target.substr(0, target.find('?')));
}

bool known_revision(std::string_view version) {
  return std::ranges::find(revisions, version) != revisions.end();
}

}  // namespace

DemoServer::DemoServer(net::Executor executor, std::uint64_t seed, OnChange on_change)
    : executor_(executor),
      random_(seed),
      deployments_(random_.next()),
      on_change_(std::move(on_change)),
      listener_(executor, net::TcpEndpoint{"127.0.0.1", 0}, nullptr, {}, connections_max),
      tasks_(executor) {}

std::string DemoServer::url() const {
  return "http://127.0.0.1:" + std::to_string(listener_.port()) + std::string(path);
}

void DemoServer::start() {
  listener_.start(tasks_, [this](net::ServerExchange& client) { return handle(client); });
}

net::Task<> DemoServer::stop() {
  listener_.close();
  tasks_.cancel();
  co_await tasks_.join();
}

net::Task<> DemoServer::change_now_and_then() {
  net::Timer timer(executor_);
  for (;;) {
    timer.expires_after(random_.jittered(change_interval, change_jitter));
    net::error_code ec;
    co_await timer.async_wait(net::asio::redirect_error(net::use_task, ec));
    if (ec) co_return;
    on_change_(deployments_.change());
  }
}

net::Task<> DemoServer::handle(net::ServerExchange& client) {
  const codec::RequestHead& head = client.head();
  const auto id = head.fields.find("Mcp-Session-Id");
  const auto origin = head.fields.find("Origin");
  Answer answer;
  if (!codec::host_is_loopback(head.fields.find("Host").value_or("")) || origin) {
    answer = refuse(403, "no browser, and no other machine, has business here");
  } else if (path_of(head.target) != path) {
    answer = refuse(404, "there is only /mcp");
  } else if (head.method == "POST") {
    const auto body = co_await client.read_body(body_bytes_max);
    answer = body ? take(head, *body) : refuse(413, "the body is too large");
  } else if (head.method == "DELETE") {
    answer.status = id && sessions_.erase(std::string(*id)) > 0 ? 204 : 404;
  } else {
    answer = refuse(405, "this server has nothing to say unasked");
  }
  codec::ResponseHead response;
  response.status = answer.status;
  if (!answer.body.empty()) response.fields.add("Content-Type", "application/json");
  if (!answer.session_id.empty()) response.fields.add("Mcp-Session-Id", answer.session_id);
  if (answer.status == 405) response.fields.add("Allow", "POST, DELETE");
  co_await client.respond(std::move(response), answer.body);
}

DemoServer::Answer DemoServer::refuse(int status, std::string_view reason) const {
  return {.status = status, .body = codec::error_response({}, codec::error_codes::invalid_request, reason)};
}

DemoServer::Answer DemoServer::take(const codec::RequestHead& head, std::string_view body) {
  const auto envelope = codec::read_envelope(body);
  if (!envelope) {
    return {.status = 400,
            .body = codec::error_response({}, codec::error_codes::parse_error, codec::describe(envelope.error()))};
  }
  const codec::Message& message = envelope->messages.front();
  if (envelope->is_batch || message.kind == codec::MessageKind::invalid) {
    return refuse(400, "one JSON-RPC message is expected");
  }
  if (message.kind == codec::MessageKind::request && message.method == "initialize") return initialize(message);
  const auto id = head.fields.find("Mcp-Session-Id");
  if (!id) return refuse(400, "the session id is missing");
  if (!sessions_.contains(*id)) return refuse(404, "no such session");
  const auto version = head.fields.find("MCP-Protocol-Version");
  if (version && !known_revision(*version)) return refuse(400, "this protocol version is not known");
  if (message.kind != codec::MessageKind::request) return {.status = 202};
  return result_of(message);
}

DemoServer::Answer DemoServer::initialize(const codec::Message& message) {
  if (sessions_.size() >= sessions_max) return refuse(503, "there are too many sessions");
  const std::string_view version =
      known_revision(message.protocol_version) ? std::string_view(message.protocol_version) : revisions.front();
  std::string id = session::random_token();
  sessions_.insert(id);
  const std::string result = "{\"protocolVersion\":" + codec::quote(version) +
                             ",\"capabilities\":{\"resources\":{}},\"serverInfo\":{\"name\":\"freshet-demo\","
                             "\"version\":\"1.0.0\"}}";
  return {.body = codec::result_response(message.id_json, result), .session_id = std::move(id)};
}

DemoServer::Answer DemoServer::result_of(const codec::Message& message) {
  if (message.method == "ping") return {.body = codec::result_response(message.id_json, "{}")};
  if (message.method == "resources/read") return read(message);
  if (message.method == "resources/templates/list") {
    return {.body = codec::result_response(message.id_json, "{\"resourceTemplates\":[]}")};
  }
  if (message.method != "resources/list") {
    return {.body = codec::error_response(message.id_json, codec::error_codes::method_not_found, "no such method")};
  }
  std::string listed;
  for (const Deployment& one : deployments_.all()) {
    listed += (listed.empty() ? "{\"uri\":" : ",{\"uri\":") + codec::quote(one.uri()) +
              ",\"name\":" + codec::quote(one.service) + ",\"mimeType\":\"application/json\"}";
  }
  return {.body = codec::result_response(message.id_json, "{\"resources\":[" + listed + "]}")};
}

DemoServer::Answer DemoServer::read(const codec::Message& message) {
  ++reads_;
  const Deployment* one = deployments_.find(message.uri);
  if (one == nullptr) {
    return {.body = codec::error_response(message.id_json, codec::error_codes::resource_not_found, "Resource not found",
                                          "{\"uri\":" + codec::quote(message.uri) + "}")};
  }
  return {.body = codec::result_response(
              message.id_json, "{\"contents\":[{\"uri\":" + codec::quote(message.uri) +
                                   ",\"mimeType\":\"application/json\",\"text\":" + codec::quote(one->json()) + "}]}")};
}

}  // namespace freshet::app
