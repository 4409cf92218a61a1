// Load for one proxy, or none: what it prints is one JSON object. Any wrong answer ends it with status 1 and the
// reason.
#include "tests/bench/load.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/sse.hpp"
#include "proxy/net/one_shot.hpp"
#include "proxy/net/task_group.hpp"
#include "tests/bench/listen_load.hpp"
#include "tests/bench/mcp.hpp"
#include "tests/bench/process_use.hpp"

namespace freshet::bench {

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) fail("nothing was measured");
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

namespace {

using net::Clock;
// tools/call over a number of connections, each with one call in flight.
class Calls {
 public:
  Calls(net::Executor executor, Options options) : executor_(executor), options_(std::move(options)) {}

  net::Task<> run() {
    for (std::size_t i = 0; i < options_.connections; ++i) {
      Connection opened = co_await Connection::open(executor_, options_.port);
      connections_.push_back(std::make_unique<Connection>(std::move(opened)));
    }
    const std::string session_id = co_await open_session(*connections_.front());
    request_ = tool_call(session_id);
    const std::size_t warming = std::max<std::size_t>(2 * options_.connections, 50);
    co_await all(warming, Clock::time_point::max());
    const auto cpu_before = options_.pid ? cpu_time(options_.pid) : std::chrono::nanoseconds(0);
    const auto begin = Clock::now();
    const auto time = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    if (options_.requests > 0) co_await all(options_.requests, Clock::time_point::max());
    if (options_.requests == 0) co_await all(SIZE_MAX, begin + time);
    const std::chrono::duration<double> took = Clock::now() - begin;
    const auto cpu = options_.pid ? cpu_time(options_.pid) - cpu_before : std::chrono::nanoseconds(0);
    print(took.count(), Micros(cpu).count());
  }

 private:
  net::Task<> all(std::size_t requests, Clock::time_point until) {
    latencies_us_.clear();
    left_ = requests;
    net::TaskGroup workers(executor_);
    for (const auto& connection : connections_) workers.spawn(work(*connection, until));
    co_await workers.join();
  }

  net::Task<> work(Connection& connection, Clock::time_point until) {
    while (left_ > 0) {
      const auto begin = Clock::now();
      if (begin >= until) co_return;
      --left_;
      const Reply reply = co_await connection.call(request_);
      latencies_us_.push_back(Micros(Clock::now() - begin).count());
      require_result(reply, "tools/call");
      if (reply.body.size() <= tool_text_bytes) fail("the result of tools/call is cut");
    }
  }

  void print(double seconds, double cpu_us) {
    std::ranges::sort(latencies_us_);
    const auto requests = static_cast<double>(latencies_us_.size());
    std::printf("{\"requests\":%.0f,\"per_second\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"cpu_us_per_request\":%.3f}\n",
                requests, requests / seconds, quantile(latencies_us_, 0.5), quantile(latencies_us_, 0.99),
                cpu_us / requests);
  }

  net::Executor executor_;
  Options options_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::string request_;
  std::vector<double> latencies_us_;
  std::size_t left_ = 0;
};

// Notifications that the upstream emits, from there to the client's stream.
class Relay {
 public:
  Relay(net::Executor executor, Options options) : executor_(executor), options_(std::move(options)) {}

  net::Task<> run() {
    Connection calls = co_await Connection::open(executor_, options_.port);
    Connection stream = co_await Connection::open(executor_, options_.port);
    Connection upstream = co_await Connection::open(executor_, options_.upstream_port);
    const std::string session_id = co_await open_session(calls);
    co_await open_stream(stream, session_id);
    const std::string subscribing = subscribe(session_id, uri);
    const Reply subscribed = co_await calls.call(subscribing);
    require_result(subscribed, "resources/subscribe");
    const std::string emitting = post(emit_path, session_id, notification());
    net::TaskGroup reader(executor_);
    std::vector<double> latencies_us;
    for (std::size_t i = 0; i <= options_.count; ++i) {
      net::OneShot<Clock::time_point> arrival(executor_);
      reader.spawn(read_event(stream, arrival));
      const Reply emitted = co_await upstream.call(emitting);
      if (emitted.head.status != 200) fail("the upstream could not emit");
      const auto arrived = co_await arrival.wait(arrival_time_max);
      if (!arrived) fail("a notification did not arrive");
      co_await reader.join();
      const std::chrono::nanoseconds sent(std::stoll(emitted.body));
      if (i > 0) latencies_us.push_back(Micros(arrived->time_since_epoch() - sent).count());  // the first one warms up
    }
    std::ranges::sort(latencies_us);
    std::printf("{\"notifications\":%zu,\"p50_us\":%.1f,\"p99_us\":%.1f}\n", latencies_us.size(),
                quantile(latencies_us, 0.5), quantile(latencies_us, 0.99));
  }

 private:
  static constexpr std::string_view uri = "bench://0/0";
  static constexpr auto arrival_time_max = std::chrono::seconds(10);

  [[nodiscard]] std::string notification() const {
    const bool message = options_.method == "notifications/message";
    return codec::notification(
        options_.method, message ? R"({"level":"info","data":"a change"})" : "{\"uri\":" + codec::quote(uri) + "}");
  }

  // Comments and priming events are passed over.
  net::Task<> read_event(Connection& stream, net::OneShot<Clock::time_point>& arrival) {
    for (;;) {
      const std::string_view piece = co_await stream.read_some();
      const auto now = Clock::now();
      if (piece.empty()) fail("the stream ended");
      bool arrived = false;
      events_.feed(piece, [&](const codec::SseEvent& event) {
        arrived |= event.data.find(options_.method) != std::string::npos;
      });
      if (!arrived) continue;
      arrival.set(now);
      co_return;
    }
  }

  net::Executor executor_;
  Options options_;
  codec::SseDecoder events_;
};

// Sessions with their streams open, and perhaps subscriptions; how much the proxy's memory grew for each.
class Residents {
 public:
  Residents(net::Executor executor, Options options) : executor_(executor), options_(std::move(options)) {}

  // One event stream each.
  net::Task<> streams() {
    co_await open_sessions(1);  // what is allocated once
    const auto before = resident_kib(options_.pid);
    co_await open_sessions(options_.count);
    print("streams", options_.count, resident_kib(options_.pid) - before);
  }

  // `per_session` resources each, no two the same.
  net::Task<> subscriptions() {
    co_await open_sessions(options_.count);
    const auto before = resident_kib(options_.pid);
    net::TaskGroup sessions(executor_);
    for (std::size_t i = 0; i < sessions_.size(); ++i) sessions.spawn(subscribe_all(i));
    co_await sessions.join();
    print("subscriptions", options_.count * options_.per_session, resident_kib(options_.pid) - before);
    if (options_.hold) co_await hold();
  }

 private:
  struct Resident {
    std::string session_id;
    std::unique_ptr<Connection> stream;
  };
  static constexpr std::size_t opening_max = 32;

  net::Task<> open_sessions(std::size_t count) {
    left_ = count;
    net::TaskGroup openers(executor_);
    for (std::size_t i = 0; i < opening_max; ++i) openers.spawn(open_some());
    co_await openers.join();
  }

  net::Task<> open_some() {
    while (left_ > 0) {
      --left_;
      Connection opened = co_await Connection::open(executor_, options_.port);
      auto connection = std::make_unique<Connection>(std::move(opened));
      std::string session_id = co_await open_session(*connection);
      co_await open_stream(*connection, session_id);
      const std::string_view first = co_await connection->read_some();
      if (first != codec::comment()) fail("the stream does not begin with a comment");
      sessions_.push_back({std::move(session_id), std::move(connection)});
    }
  }

  net::Task<> subscribe_all(std::size_t index) {
    Connection calls = co_await Connection::open(executor_, options_.port);
    for (std::size_t i = 0; i < options_.per_session; ++i) {
      const std::string uri = "bench://" + std::to_string(index) + "/" + std::to_string(i);
      const std::string request = subscribe(sessions_[index].session_id, uri);
      const Reply reply = co_await calls.call(request);
      require_result(reply, "resources/subscribe");
    }
  }

  // Until this process is ended: whoever wants the subscriptions to be there reads what was printed, and goes on.
  net::Task<> hold() {
    std::fflush(stdout);
    net::TaskGroup readers(executor_);
    for (const Resident& one : sessions_) readers.spawn(read_on(*one.stream));
    co_await readers.join();
  }

  static net::Task<> read_on(Connection& stream) {
    while (!(co_await stream.read_some()).empty()) {
    }
    fail("a stream ended");
  }

  // All streams have to be open and silent still.
  void print(const char* what, std::size_t count, std::int64_t grown_kib) {
    const bool broken = std::ranges::any_of(sessions_, [](const Resident& one) { return one.stream->stale(); });
    if (broken) fail("a stream that should be idle is not");
    std::printf("{\"%s\":%zu,\"kib\":%lld,\"kib_each\":%.3f}\n", what, count, static_cast<long long>(grown_kib),
                static_cast<double>(grown_kib) / static_cast<double>(count));
  }

  net::Executor executor_;
  Options options_;
  std::vector<Resident> sessions_;
  std::size_t left_ = 0;
};

template <class Load>
void run(Options options, net::Task<> (Load::*what)()) {
  net::asio::io_context loop(1);
  Load load(loop.get_executor(), std::move(options));
  net::TaskGroup root(loop.get_executor());
  root.spawn((load.*what)());
  while (root.size() > 0) loop.run_one();
}

}  // namespace

int load_main(int argc, char** argv) {
  Options options;
  CLI::App app("bench_load: load for one proxy");
  app.require_subcommand(1);
  app.add_option("--port", options.port, "of the proxy")->required();
  app.add_option("--pid", options.pid, "of the proxy, whose use is measured");
  auto* calls = app.add_subcommand("calls", "tools/call as fast as it goes");
  calls->add_option("--connections", options.connections);
  calls->add_option("--requests", options.requests);
  calls->add_option("--seconds", options.seconds, "instead of a number of requests");
  auto* relay = app.add_subcommand("relay", "notifications from the upstream to the client");
  relay->add_option("--upstream-port", options.upstream_port)->required();
  relay->add_option("--count", options.count);
  relay->add_option("--method", options.method);
  auto* streams = app.add_subcommand("streams", "idle event streams, each of its own session");
  streams->add_option("--count", options.count);
  auto* subscriptions = app.add_subcommand("subscriptions", "subscriptions of many sessions");
  subscriptions->add_option("--count", options.count, "of sessions");
  subscriptions->add_option("--per-session", options.per_session);
  subscriptions->add_flag("--hold", options.hold, "then keeps them until it is ended");
  auto* listens = app.add_subcommand("listens", "listen streams on resources that change, one each second");
  listens->add_option("--upstream-port", options.upstream_port)->required();
  listens->add_option("--count", options.count, "of streams");
  listens->add_option("--resources", options.resources);
  listens->add_option("--changes", options.changes);
  CLI11_PARSE(app, argc, argv);
  if (calls->parsed()) run(options, &Calls::run);
  if (relay->parsed()) run(options, &Relay::run);
  if (streams->parsed()) run(options, &Residents::streams);
  if (subscriptions->parsed()) run(options, &Residents::subscriptions);
  if (listens->parsed()) run(options, &Listens::run);
  return 0;
}

}  // namespace freshet::bench

int main(int argc, char** argv) {
  return freshet::bench::load_main(argc, argv);
}
