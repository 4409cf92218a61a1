#include "tests/wire/support/sidecar.hpp"

#include <algorithm>
#include <sstream>

#include <spdlog/spdlog.h>

#include "proxy/app/app.hpp"
#include "proxy/codec/json_string.hpp"
#include "proxy/codec/jsonrpc.hpp"

namespace freshet::test {

namespace {

constexpr auto patience = 8s;

std::string field_of(std::string_view head, std::string_view name) {
  std::size_t at = head.find("\r\n");
  while (at != std::string_view::npos && at + 2 < head.size()) {
    const auto end = head.find("\r\n", at + 2);
    const std::string_view line = head.substr(at + 2, end - at - 2);
    const auto colon = line.find(": ");
    if (colon != std::string_view::npos && codec::names_equal(line.substr(0, colon), name))
      return std::string(line.substr(colon + 2));
    at = end;
  }
  return {};
}

Asked asked_of(const std::string& message, std::shared_ptr<ScriptedPeer> peer, std::shared_ptr<bool> ended) {
  const auto head_end = message.find("\r\n\r\n") + 4;
  Asked asked{.head = message.substr(0, head_end),
              .body = message.substr(head_end),
              .method = message.substr(0, message.find(' ')),
              .uri = {},
              .id = {},
              .peer = std::move(peer),
              .ended = std::move(ended)};
  const auto envelope = codec::read_envelope(asked.body);
  if (!envelope) return asked;
  const codec::Message& first = envelope->messages.front();
  asked.method = envelope->is_batch ? "batch" : first.method.empty() ? "answer" : first.method;
  asked.uri = first.uri;
  asked.id = first.id_json;
  return asked;
}

std::string admin_port(const std::string& address) {
  return address.substr(address.rfind(':') + 1);
}

}  // namespace

std::string request(std::string_view method, std::string_view params, std::string_view id) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) + R"(","params":)" +
         std::string(params) + "}";
}
std::string subscribe_to(std::string_view uri, std::string_view id) {
  return request("resources/subscribe", R"({"uri":")" + std::string(uri) + "\"}", id);
}
std::string unsubscribe_from(std::string_view uri, std::string_view id) {
  return request("resources/unsubscribe", R"({"uri":")" + std::string(uri) + "\"}", id);
}
std::string read_of(std::string_view uri, std::string_view id) {
  return request("resources/read", R"({"uri":")" + std::string(uri) + "\"}", id);
}
std::string result(std::string_view id, std::string_view result_json) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + std::string(result_json) + "}";
}
std::string updated(std::string_view uri) {
  return R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" + std::string(uri) + "\"}}";
}
std::string contents(std::string_view uri, std::string_view text) {
  return R"({"contents":[{"uri":)" + codec::quote(uri) + R"(,"text":)" + codec::quote(text) + "}]}";
}

std::string http(std::string_view status, std::string_view body, std::string_view fields) {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
std::string json_http(std::string_view body, std::string_view status) {
  return http(status, body, "Content-Type: application/json\r\n");
}
std::string event(std::string_view data) {
  return "data: " + std::string(data) + "\n\n";
}

void Changes::happened() {
  for (net::Timer* timer : waiting_) timer->cancel();
}

Task<> Changes::until(std::function<bool()> holds, std::string what) {
  net::Timer timer(executor_, net::after(patience));
  const auto place = waiting_.insert(waiting_.end(), &timer);
  bool late = false;
  while (!holds() && !late) {
    net::error_code ec;
    co_await timer.async_wait(net::asio::redirect_error(net::use_task, ec));
    late = !ec;
    const auto cancelled = (co_await net::asio::this_coro::cancellation_state).cancelled();
    if (cancelled != net::asio::cancellation_type::none) break;
  }
  waiting_.erase(place);
  INFO("it did not happen: " << what);
  if (late) REQUIRE(holds());
}

std::string Asked::field(std::string_view name) const {
  return field_of(head, name);
}
std::string Response::field(std::string_view name) const {
  return field_of(head, name);
}

void PlayedServer::stop() {
  server_.close();
  for (const auto& peer : peers_) {
    if (const auto open = peer.lock()) open->close();
  }
}

Task<> PlayedServer::serve() {
  for (;;) {
    const auto state = co_await net::asio::this_coro::cancellation_state;
    if (state.cancelled() != net::asio::cancellation_type::none || server_.closed()) co_return;
    auto peer = co_await server_.accept_or_end();
    if (!peer) co_return;
    loop_.spawn(converse(std::move(*peer)));
  }
}

Task<> PlayedServer::converse(ScriptedPeer socket) {
  const auto peer = std::make_shared<ScriptedPeer>(std::move(socket));
  const auto ended = std::make_shared<bool>(false);
  peers_.push_back(peer);
  for (;;) {
    auto message = co_await peer->read_message_or_end();
    if (!message) break;
    Asked asked = asked_of(*message, peer, ended);
    const bool answers = !held_.contains(asked.method);
    const std::string answer = answers ? answer_to(asked) : "";
    asked_.push_back(std::move(asked));
    seen_.push_back(false);
    changes_.happened();
    if (answers) co_await peer->send_or_end(answer);
  }
  *ended = true;
  changes_.happened();
}

std::string PlayedServer::answer_to(const Asked& asked) {
  if (asked.method == "initialize") {
    const std::string session = "s" + std::to_string(++sessions_made_);
    if (!stateless && !forgetful) known_.insert(session);
    return http("200 OK",
                result(asked.id, R"({"protocolVersion":")" + protocol_version + R"(","capabilities":)" + capabilities +
                                     R"(,"serverInfo":{"name":"u","version":"1"}})"),
                "Content-Type: application/json\r\n" + (stateless ? "" : "Mcp-Session-Id: " + session + "\r\n"));
  }
  const std::string session = asked.field("Mcp-Session-Id");
  if (!session.empty() && !known_.contains(session)) return unknown_session;
  if (asked.method == "GET") return http("405 Method Not Allowed", "");
  if (asked.method == "DELETE") return http("200 OK", "");
  if (asked.id.empty()) return http("202 Accepted", "");
  if (asked.method != "resources/read") return json_http(result(asked.id));
  const auto found = texts.find(asked.uri);
  if (found != texts.end()) return json_http(result(asked.id, contents(asked.uri, found->second)));
  return json_http(R"({"jsonrpc":"2.0","id":)" + asked.id +
                   R"(,"error":{"code":-32002,"message":"Resource not found"}})");
}

void PlayedServer::hold(std::set<std::string> methods) {
  held_ = std::move(methods);
  for (std::size_t i = 0; i < asked_.size(); ++i) seen_[i] = seen_[i] || held_.contains(asked_[i].method);
}

Task<Asked> PlayedServer::next(std::string method) {
  const auto first = [&] {
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (!seen_[i] && asked_[i].method == method) return i;
    }
    return asked_.size();
  };
  co_await changes_.until([&] { return first() < asked_.size(); }, "the server is asked for " + method);
  const std::size_t at = first();
  INFO("the server was asked: " << log());
  REQUIRE(at < asked_.size());
  seen_[at] = true;
  co_return asked_[at];
}

Task<Asked> PlayedServer::next_stream() {
  Asked get = co_await next("GET");
  co_await get.send(event_stream_head);
  co_return get;
}

std::size_t PlayedServer::count(std::string_view method) const {
  return static_cast<std::size_t>(std::ranges::count(asked_, method, &Asked::method));
}

std::size_t PlayedServer::reads_of(std::string_view uri) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(asked_, [&](const Asked& a) { return a.method == "resources/read" && a.uri == uri; }));
}

std::string PlayedServer::log() const {
  std::string text;
  for (const Asked& asked : asked_) text += asked.method + (asked.uri.empty() ? "" : " " + asked.uri) + "\n";
  return text;
}

Task<Response> PlayedClient::head() {
  Response response;
  response.head = co_await peer_.read_until("\r\n\r\n");
  response.status = std::stoi(response.head.substr(response.head.find(' ') + 1));
  co_return response;
}

Task<Response> PlayedClient::response() {
  Response response = co_await head();
  if (const std::string length = response.field("Content-Length"); !length.empty()) {
    response.body = co_await peer_.read_exactly(std::stoul(length));
  } else if (response.field("Transfer-Encoding") == "chunked") {
    response.body = co_await rest();
  } else if (response.status != 204) {
    response.body = co_await peer_.read_to_end();
  }
  co_return response;
}

Task<std::string> PlayedClient::chunk() {
  const std::string size = co_await peer_.read_until("\r\n");
  std::string piece = co_await peer_.read_exactly(std::stoul(size, nullptr, 16) + 2);
  piece.resize(piece.size() - 2);
  co_return piece;
}

Task<std::string> PlayedClient::rest() {
  std::string all;
  for (std::string piece = co_await chunk(); !piece.empty(); piece = co_await chunk()) all += piece;
  co_return all;
}

Task<std::string> PlayedClient::block() {
  for (;;) {
    const auto end = text_.find("\n\n");
    if (end != std::string::npos) {
      std::string taken = text_.substr(0, end + 2);
      text_.erase(0, end + 2);
      co_return taken;
    }
    const std::string piece = co_await chunk();
    INFO("the stream ended after: " << text_);
    REQUIRE_FALSE(piece.empty());
    text_ += piece;
  }
}

Task<std::string> PlayedClient::event() {
  for (;;) {
    std::string next = co_await block();
    if (!next.starts_with(":")) co_return next;
  }
}

Task<std::vector<std::string>> PlayedClient::events_until(std::string last) {
  std::vector<std::string> events;
  do {
    events.push_back(co_await event());
  } while (events.back().find(last) == std::string::npos);
  co_return events;
}

Sidecar::Sidecar(std::function<void(Sidecar&)> adjust) {
  spdlog::set_level(spdlog::level::off);
  settings.listen.address = config::TcpAddress{"127.0.0.1", 0};
  settings.admin.address = config::TcpAddress{"127.0.0.1", 0};
  settings.drain_time_max = 2s;
  config::Upstream made;
  made.name = "u";
  made.partner_name = "u";
  made.url = {.tls = false, .host = "127.0.0.1", .port = server.port(), .unix_path = {}, .path = "/mcp"};
  made.path = "/mcp";
  made.freshness.interval = 30ms;
  made.notify_min_interval = 1ms;
  settings.upstreams.push_back(made);
  config::Partner partner;
  partner.name = "u";
  partner.rate = 10'000;
  partner.burst = 10'000;
  partner.concurrency = 64;
  settings.partners.push_back(partner);
  if (adjust) adjust(*this);
  app_ = std::make_unique<app::App>(loop.context(), settings, config::Environment{}, "test");
}

Sidecar::~Sidecar() = default;

Task<> Sidecar::whole(Sidecar& self, Task<> (*script)(Sidecar&)) {
  std::exception_ptr failure;
  try {
    co_await script(self);
  } catch (...) {
    failure = std::current_exception();
  }
  self.server.stop();
  co_await self.app_->drain();
  if (failure) std::rethrow_exception(failure);
}

void Sidecar::run(Task<> (*script)(Sidecar&)) {
  app_->start();
  server.start();
  loop.run(whole(*this, script), 30s);
}

std::uint16_t Sidecar::port() const {
  return static_cast<std::uint16_t>(std::stoul(admin_port(app_->address())));
}

Task<PlayedClient> Sidecar::sends(std::string raw) {
  PlayedClient client(co_await ScriptedPeer::connect(loop.executor(), port()));
  co_await client.send(raw);
  co_return client;
}

std::string Sidecar::session_fields() const {
  return session.empty() ? "" : "Mcp-Session-Id: " + session + "\r\nMCP-Protocol-Version: " + version + "\r\n";
}

Task<PlayedClient> Sidecar::posts(std::string body, std::string fields) {
  const bool own_accept = fields.find("Accept:") != std::string::npos;
  const bool own_type = fields.find("Content-Type:") != std::string::npos;
  co_return co_await sends("POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + session_fields() + fields +
                           (own_type ? "" : "Content-Type: application/json\r\n") +
                           (own_accept ? "" : "Accept: application/json, text/event-stream\r\n") +
                           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

Task<Response> Sidecar::post(std::string body, std::string fields) {
  auto client = co_await posts(std::move(body), std::move(fields));
  co_return co_await client.response();
}

Task<Response> Sidecar::open(std::string fields) {
  session.clear();
  const std::string params =
      R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}})";
  Response answer = co_await post(request("initialize", params, "1"), fields);
  session = answer.field("Mcp-Session-Id");
  if (answer.status == 200) co_await post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", fields);
  co_return answer;
}

Task<> Sidecar::subscribe(std::string uri, std::string fields) {
  const Response answer = co_await post(subscribe_to(uri), fields);
  CAPTURE(answer.status, server.log());
  REQUIRE(answer.body == result("4"));
}

Task<PlayedClient> Sidecar::stream(std::string fields) {
  auto client = co_await sends("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" +
                               session_fields() + fields + "\r\n");
  const Response answer = co_await client.head();
  REQUIRE(answer.status == 200);
  const std::string first = co_await client.block();
  REQUIRE(first.starts_with(":"));
  co_return client;
}

Task<std::string> Sidecar::metrics() {
  PlayedClient client(co_await ScriptedPeer::connect(
      loop.executor(), static_cast<std::uint16_t>(std::stoul(admin_port(app_->admin_address())))));
  co_await client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Response answer = co_await client.response();
  REQUIRE(answer.status == 200);
  co_return answer.body;
}

Task<> Sidecar::until_metric(std::string line) {
  const auto until = net::after(patience);
  for (;;) {
    const std::string shown = co_await metrics();
    if (shown.find("\n" + line + "\n") != std::string::npos) co_return;
    INFO("wanted: " << line << "\nshown:\n" << shown);
    REQUIRE(net::Clock::now() < until);
  }
}

Task<> Sidecar::turn() {
  ScriptedServer aside(loop.executor());
  auto near = co_await ScriptedPeer::connect(loop.executor(), aside.port());
  auto far = co_await aside.accept();
  co_await near.send("x");
  co_await far.read_exactly(1);
}

}  // namespace freshet::test
