// A small fast MCP server (Streamable HTTP, 2025-11-25 and 2026-07-28) to measure proxies in front of. In the modern
// era it declares no subscriptions, so that what is listened to has to be polled. It prints `port N` and serves until
// SIGTERM.
#include <cstdio>
#include <deque>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/asio/signal_set.hpp>

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/sse.hpp"
#include "proxy/net/listener.hpp"
#include "proxy/net/one_shot.hpp"
#include "tests/bench/mcp.hpp"

namespace freshet::bench {

namespace {

constexpr std::size_t body_bytes_max = 64 * 1024;
constexpr std::size_t connections_max = 20'000;
constexpr auto read_within = std::chrono::seconds(10);

struct Options {
  bool subscribe = false;
  bool stream = false;
};

struct McpSession {
  explicit McpSession(net::Executor executor) : wake(executor, net::Clock::time_point::max()) {}
  std::deque<std::string> events;
  net::Timer wake;
};

// A resource as it is now, and who waits until somebody has read it so.
struct Changing {
  std::uint64_t version = 0;
  net::OneShot<net::Clock::time_point>* unread = nullptr;
};

class Upstream {
 public:
  Upstream(net::Executor executor, Options options) : executor_(executor), options_(options) {}

  net::Task<> handle(net::ServerExchange& client) {
    const codec::RequestHead& head = client.head();
    if (head.method == "GET") co_return co_await stream(client);
    auto body = co_await client.read_body(body_bytes_max);
    if (!body) co_return;
    if (head.target == emit_path) co_return co_await emit(client, *body);
    if (head.target == change_path) co_return co_await change(client, std::move(*body));
    const auto envelope = codec::read_envelope(*body);
    if (!envelope) co_return co_await respond(client, 400, {});
    co_await answer(client, envelope->messages.front());
  }

 private:
  McpSession* session_of(const codec::RequestHead& head) {
    const auto found = sessions_.find(head.fields.find("Mcp-Session-Id").value_or(""));
    return found == sessions_.end() ? nullptr : &found->second;
  }

  static net::Task<> respond(net::ServerExchange& client, int status, std::string_view body, std::string_view id = {}) {
    codec::ResponseHead head{.status = status};
    if (!body.empty()) head.fields.add("Content-Type", "application/json");
    if (!id.empty()) head.fields.add("Mcp-Session-Id", id);
    co_await client.respond(std::move(head), body);
  }

  net::Task<> answer(net::ServerExchange& client, const codec::Message& message) {
    if (message.method == "initialize") {
      const std::string id = "bench-" + std::to_string(++sessions_made_);
      sessions_.try_emplace(id, executor_);
      co_return co_await respond(client, 200, codec::result_response(message.id_json, declaration()), id);
    }
    if (!message.meta_protocol_version.empty()) {
      co_return co_await respond(client, 200, codec::result_response(message.id_json, modern_result_of(message)));
    }
    if (session_of(client.head()) == nullptr) co_return co_await respond(client, 404, {});
    if (message.kind != codec::MessageKind::request) co_return co_await respond(client, 202, {});
    co_await respond(client, 200, codec::result_response(message.id_json, result_of(message)));
  }

  [[nodiscard]] std::string declaration() const {
    return std::string(R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":)") +
           (options_.subscribe ? R"({"subscribe":true})" : "{}") +
           R"(},"serverInfo":{"name":"bench","version":"1.0.0"}})";
  }

  static std::string result_of(const codec::Message& message) {
    if (message.method == "tools/call") return tool_result();
    if (message.method == "resources/read") {
      const std::string uri = codec::quote(message.uri);
      return "{\"contents\":[{\"uri\":" + uri + ",\"mimeType\":\"text/plain\",\"text\":" + uri + "}]}";
    }
    if (message.method == "resources/list") return R"({"resources":[{"uri":"bench://0/0","name":"first"}]})";
    return "{}";
  }

  std::string modern_result_of(const codec::Message& message) {
    if (message.method == "server/discover") {
      return R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{}},)"
             R"("serverInfo":{"name":"bench","version":"1.0.0"},"ttlMs":3600000,"cacheScope":"private"})";
    }
    if (message.method != "resources/read") return R"({"resultType":"complete"})";
    Changing& resource = resources_[message.uri];
    if (auto* unread = std::exchange(resource.unread, nullptr)) unread->set(net::Clock::now());
    return R"({"resultType":"complete","contents":[{"uri":)" + codec::quote(message.uri) +
           R"(,"mimeType":"text/plain","text":"version )" + std::to_string(resource.version) +
           R"("}],"ttlMs":0,"cacheScope":"private"})";
  }

  static const std::string& tool_result() {
    static const std::string result =
        R"({"content":[{"type":"text","text":")" + std::string(tool_text_bytes, 'x') + R"("}]})";
    return result;
  }

  net::Task<> stream(net::ServerExchange& client) {
    McpSession* session = session_of(client.head());
    if (!options_.stream || session == nullptr) co_return co_await respond(client, session ? 405 : 404, {});
    codec::ResponseHead head{.status = 200};
    head.fields.add("Content-Type", "text/event-stream");
    client.begin(std::move(head));
    const auto opened = co_await client.write(codec::comment());
    bool alive = opened.has_value();
    while (alive && !net::is_cancelled(co_await net::asio::this_coro::cancellation_state)) {
      if (session->events.empty()) {
        net::error_code ec;
        co_await session->wake.async_wait(net::asio::redirect_error(net::use_task, ec));
        continue;
      }
      const std::string event = std::move(session->events.front());
      session->events.pop_front();
      const auto written = co_await client.write(event);
      alive = written.has_value();
    }
  }

  // The body is the notification. Answered with the moment at which it was handed to the stream.
  net::Task<> emit(net::ServerExchange& client, std::string_view notification) {
    McpSession* session = session_of(client.head());
    if (session == nullptr) co_return co_await respond(client, 404, {});
    const auto at = net::Clock::now().time_since_epoch();
    session->events.push_back(codec::format_event({}, {}, notification));
    session->wake.cancel();
    co_await respond(client, 200, std::to_string(std::chrono::nanoseconds(at).count()));
  }

  // The body is a URI.
  net::Task<> change(net::ServerExchange& client, std::string uri) {
    net::OneShot<net::Clock::time_point> read(executor_);
    Changing& resource = resources_[std::move(uri)];
    ++resource.version;
    resource.unread = &read;
    const auto at = co_await read.wait(read_within);
    if (!at) {
      resource.unread = nullptr;
      co_return co_await respond(client, 504, {});
    }
    co_await respond(client, 200, std::to_string(std::chrono::nanoseconds(at->time_since_epoch()).count()));
  }

  net::Executor executor_;
  Options options_;
  std::map<std::string, Changing, std::less<>> resources_;
  std::map<std::string, McpSession, std::less<>> sessions_;  // none ends before the process
  std::uint64_t sessions_made_ = 0;
};

net::Task<> serve(net::Executor executor, Options options) {
  Upstream upstream(executor, options);
  net::TaskGroup tasks(executor);
  net::Listener listener(executor, net::TcpEndpoint{"127.0.0.1", 0}, nullptr, {.idle_time_max = std::chrono::hours(1)},
                         connections_max);
  listener.start(tasks, [&](net::ServerExchange& client) { return upstream.handle(client); });
  std::printf("port %d\n", listener.port());
  std::fflush(stdout);
  net::asio::basic_signal_set<net::Executor> signals(executor, SIGTERM, SIGINT);
  co_await signals.async_wait(net::use_task);
  listener.close();
  tasks.cancel();
  co_await tasks.join();
}

}  // namespace

}  // namespace freshet::bench

int main(int argc, char** argv) {
  using namespace freshet;
  bench::Options options;
  CLI::App app("bench_upstream: what the benches measure proxies in front of");
  app.add_flag("--subscribe", options.subscribe, "declares resources.subscribe");
  app.add_flag("--stream", options.stream, "offers an event stream on GET");
  CLI11_PARSE(app, argc, argv);
  net::asio::io_context loop(1);
  net::TaskGroup root(loop.get_executor());
  root.spawn(bench::serve(loop.get_executor(), options));
  loop.run();
}
