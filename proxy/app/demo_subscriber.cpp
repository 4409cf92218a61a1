#include "proxy/app/demo_subscriber.hpp"

#include <charconv>
#include <utility>

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/mcp.hpp"
#include "proxy/codec/sse.hpp"
#include "proxy/session/reply.hpp"

namespace freshet::app {

namespace {

constexpr std::size_t answer_bytes_max = 1024 * 1024;
constexpr std::chrono::milliseconds answer_time_max{10'000};
constexpr net::HttpClientLimits http_limits{.connections_max = 4,
                                            .streams_max = 1,
                                            .waiting_max = 4,
                                            .head_time_max = answer_time_max,
                                            .body_stall_max = answer_time_max};
constexpr std::string_view initialize_params =
    R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"freshet-demo-subscriber","version":"1.0.0"}})";

std::string uri_params(std::string_view uri) {
  return "{\"uri\":" + codec::quote(uri) + "}";
}

// The text of the first item of a read's contents; empty: there is none.
std::string first_text(std::string_view result) {
  const auto contents = codec::find_value(result, {"contents"});
  if (!contents) return {};
  codec::JsonReader reader(contents->in(result));
  if (reader.peek() != codec::JsonKind::array) return {};
  std::optional<std::string> text;
  reader.elements([&] {
    const std::string_view item = reader.skip().in(contents->in(result));
    const auto found = codec::find_value(item, {"text"});
    if (!text) text = found ? codec::unquote(found->in(item)) : std::string();
  });
  return text.value_or("");
}

std::optional<Duration> published_bound(std::string_view notification) {
  const auto found = codec::find_value(notification, {"params", "_meta", "dev.freshet/stalenessBoundMs"});
  if (!found) return std::nullopt;
  const std::string_view digits = found->in(notification);
  std::int64_t bound_ms = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), bound_ms);
  if (ec != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return std::chrono::milliseconds(bound_ms);
}

}  // namespace

DemoSubscriber::DemoSubscriber(net::Executor executor, net::Origin origin, std::string target, OnReading on_reading)
    : target_(std::move(target)),
      on_reading_(std::move(on_reading)),
      http_(executor, std::move(origin), http_limits, nullptr) {}

void DemoSubscriber::stop() {
  stopping_ = true;
  if (stream_ != nullptr) stream_->close();
}

net::Task<std::optional<DemoSubscriber::Failure>> DemoSubscriber::run() {
  std::optional<Failure> failure = co_await open_session();
  if (!failure) failure = co_await converse();
  co_await end_session();
  http_.close_idle();
  co_return failure;
}

net::Task<std::optional<DemoSubscriber::Failure>> DemoSubscriber::open_session() {
  const Outcome<Response> answer = co_await call("initialize", std::string(initialize_params));
  if (!answer) co_return answer.error();
  const auto version = codec::find_value(answer->result, {"protocolVersion"});
  session_id_ = answer->head.fields.find("Mcp-Session-Id").value_or("");
  protocol_version_ = version ? codec::unquote(version->in(answer->result)) : "";
  const auto subscribe = codec::find_value(answer->result, {"capabilities", "resources", "subscribe"});
  if (!subscribe || subscribe->in(answer->result) != "true") {
    co_return Failure{"the answer to initialize does not declare resources.subscribe"};
  }
  co_return co_await tell(codec::notification("notifications/initialized"));
}

// The stream is opened first, so that nothing is told before anyone listens.
net::Task<std::optional<DemoSubscriber::Failure>> DemoSubscriber::converse() {
  net::ClientRequest get = request("GET", {});
  get.lifetime = net::Lifetime::stream;
  auto stream = co_await http_.send(std::move(get));
  if (!stream) co_return Failure{"the event stream was not opened: " + stream.error().message()};
  if (stream->head().status != 200) {
    co_return Failure{"the event stream was refused with HTTP status " + std::to_string(stream->head().status)};
  }
  const std::optional<Failure> failure = co_await subscribe_to_all();
  if (failure) co_return failure;
  co_return co_await listen(*stream);
}

net::Task<std::optional<DemoSubscriber::Failure>> DemoSubscriber::subscribe_to_all() {
  const Outcome<Response> list = co_await call("resources/list", "{}");
  if (!list) co_return list.error();
  const codec::UriList listed = codec::read_uri_list(list->result);
  for (const codec::ListedUri& resource : listed.resources) {
    const Outcome<Response> subscribed = co_await call("resources/subscribe", uri_params(resource.uri));
    if (!subscribed) co_return subscribed.error();
    const std::optional<Failure> failure = co_await read(resource.uri, std::nullopt);
    if (failure) co_return failure;
  }
  co_return std::nullopt;
}

net::Task<std::optional<DemoSubscriber::Failure>> DemoSubscriber::listen(net::ClientResponse& stream) {
  codec::SseDecoder events;
  stream_ = &stream;
  std::optional<Failure> failure;
  while (!stopping_ && !failure) {
    const auto piece = co_await stream.read_some();
    if (stopping_) break;
    if (!piece || piece->empty()) {
      failure =
          Failure{"the event stream ended: " + (piece ? std::string("no reason given") : piece.error().message())};
      break;
    }
    const net::Clock::time_point received = net::Clock::now();
    std::string_view bytes = *piece;
    while (auto event = events.next(bytes)) {
      if (event->has_data() && !failure) failure = co_await take(std::move(event->data), received);
    }
  }
  stream_ = nullptr;
  co_return failure;
}

net::Task<std::optional<DemoSubscriber::Failure>> DemoSubscriber::take(std::string data,
                                                                       net::Clock::time_point received) {
  const auto envelope = codec::read_envelope(data);
  if (!envelope) co_return Failure{"the event stream carries what is no JSON-RPC message"};
  const codec::Message& message = envelope->messages.front();
  if (message.method != "notifications/resources/updated" || !message.has_uri) co_return std::nullopt;
  co_return co_await read(message.uri, Reading::Notice{received, published_bound(data)});
}

net::Task<std::optional<DemoSubscriber::Failure>> DemoSubscriber::read(std::string uri,
                                                                       std::optional<Reading::Notice> notice) {
  const Outcome<Response> answer = co_await call("resources/read", uri_params(uri));
  if (!answer) co_return answer.error();
  on_reading_({std::move(uri), first_text(answer->result), notice});
  co_return std::nullopt;
}

net::Task<DemoSubscriber::Outcome<DemoSubscriber::Response>> DemoSubscriber::call(std::string method,
                                                                                  std::string params) {
  const std::string id = std::to_string(++last_id_);
  const std::string body = codec::request(id, method, params);
  auto response = co_await http_.send(request("POST", body));
  if (!response) co_return Failure{method + " was not answered: " + response.error().message()};
  session::ReplyCollector collected(response->head(), id, answer_bytes_max);
  while (!collected.found()) {
    const auto piece = co_await response->read_some();
    if (!piece) co_return Failure{method + " was not answered whole: " + piece.error().message()};
    if (piece->empty()) break;
    collected.feed(*piece);
  }
  collected.end();
  const codec::Reply& reply = collected.reply();
  if (reply.kind == codec::Reply::Kind::error) co_return Failure{method + " was refused: " + reply.message};
  if (reply.kind != codec::Reply::Kind::result) {
    co_return Failure{method + " was answered with HTTP status " + std::to_string(response->head().status)};
  }
  co_return Response{response->head(), std::string(reply.result.in(collected.message()))};
}

net::Task<std::optional<DemoSubscriber::Failure>> DemoSubscriber::tell(std::string notification) {
  auto response = co_await http_.send(request("POST", notification));
  if (!response) co_return Failure{"a notification was not accepted: " + response.error().message()};
  const auto body = co_await response->read_all(answer_bytes_max);
  if (!body || response->head().status != 202) co_return Failure{"a notification was not accepted"};
  co_return std::nullopt;
}

// Whether the server heard it makes no difference to a client that leaves.
net::Task<> DemoSubscriber::end_session() {
  if (session_id_.empty()) co_return;
  auto response = co_await http_.send(request("DELETE", {}));
  if (response) co_await response->read_all(answer_bytes_max);
}

net::ClientRequest DemoSubscriber::request(std::string method, std::string_view body) const {
  net::ClientRequest made;
  const bool post = method == "POST";
  made.head.method = std::move(method);
  made.head.target = target_;
  made.head.fields.add("Accept", post ? "application/json, text/event-stream" : "text/event-stream");
  if (post) made.head.fields.add("Content-Type", "application/json");
  if (!session_id_.empty()) made.head.fields.add("Mcp-Session-Id", session_id_);
  if (!protocol_version_.empty()) made.head.fields.add("MCP-Protocol-Version", protocol_version_);
  made.body = body;
  return made;
}

}  // namespace freshet::app
