// The whole sidecar, on a loop, between a server and clients that the test plays byte by byte.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "config/settings.hpp"
#include "tests/wire/support/scripted_peer.hpp"

namespace freshet::app {
class App;
}

namespace freshet::test {

using namespace std::chrono_literals;

// --- what is said ---

[[nodiscard]] std::string request(std::string_view method, std::string_view params = "{}", std::string_view id = "7");
[[nodiscard]] std::string subscribe_to(std::string_view uri, std::string_view id = "4");
[[nodiscard]] std::string unsubscribe_from(std::string_view uri, std::string_view id = "6");
[[nodiscard]] std::string read_of(std::string_view uri, std::string_view id = "5");
[[nodiscard]] std::string result(std::string_view id, std::string_view result_json = "{}");
[[nodiscard]] std::string updated(std::string_view uri);
[[nodiscard]] std::string contents(std::string_view uri, std::string_view text);  // the result of a read

// A response with a length, and one whose body ends with its connection.
[[nodiscard]] std::string http(std::string_view status, std::string_view body, std::string_view fields = {});
[[nodiscard]] std::string json_http(std::string_view body, std::string_view status = "200 OK");
inline const std::string event_stream_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
[[nodiscard]] std::string event(std::string_view data);

// --- waiting for what others do ---

class Changes {
 public:
  explicit Changes(net::Executor executor) : executor_(executor) {}
  void happened();
  // Fails the test if it does not come true in time.
  Task<> until(std::function<bool()> holds, std::string what);

 private:
  net::Executor executor_;
  std::list<net::Timer*> waiting_;
};

// --- the server ---

// One request that reached the server.
struct Asked {
  std::string head;
  std::string body;
  std::string method;  // of the JSON-RPC message, or of the HTTP request where there is none
  std::string uri;
  std::string id;  // as JSON
  std::shared_ptr<ScriptedPeer> peer;
  std::shared_ptr<bool> ended;  // the connection that it came on

  Task<> send(std::string_view bytes) const { co_await peer->send(bytes); }
  [[nodiscard]] std::string field(std::string_view name) const;  // empty: not there
};

// Answers as an SDK's server would what the test does not hold back to answer by itself.
class PlayedServer {
 public:
  explicit PlayedServer(Loop& loop) : loop_(loop), changes_(loop.executor()), server_(loop.executor()) {}
  void start() { loop_.spawn(serve()); }
  // Hears nothing more, and breaks off whatever it was about to say.
  void stop();

  bool stateless = false;
  bool forgetful = false;  // knows no session that it makes from now on
  std::string capabilities = R"({"resources":{}})";
  std::string protocol_version = "2025-11-25";
  std::map<std::string, std::string> texts{{"r://a", "1"}};  // what reads find
  std::string unknown_session = http("404 Not Found",
                                     R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,)"
                                     R"("message":"Session not found"}})",
                                     "Content-Type: application/json\r\n");
  void forget_sessions() { known_.clear(); }
  // From now on the test answers these methods, in place of those before; next() gives none that came earlier. A "GET"
  // is refused with 405 where it is not held.
  void hold(std::set<std::string> methods);

  // The next one of its kind that the test has not seen yet, held or answered.
  Task<Asked> next(std::string method);
  // The next GET, answered as an event stream.
  Task<Asked> next_stream();
  [[nodiscard]] std::size_t count(std::string_view method) const;
  [[nodiscard]] std::size_t reads_of(std::string_view uri) const;
  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  [[nodiscard]] Changes& changes() { return changes_; }

 private:
  Task<> serve();
  Task<> converse(ScriptedPeer socket);
  [[nodiscard]] std::string answer_to(const Asked& asked);

  Loop& loop_;
  Changes changes_;
  ScriptedServer server_;
  std::set<std::string> held_;
  std::vector<Asked> asked_;
  std::vector<bool> seen_;
  std::vector<std::weak_ptr<ScriptedPeer>> peers_;
  std::set<std::string> known_;
  int sessions_made_ = 0;
};

// --- the client ---

struct Response {
  int status = 0;
  std::string head;
  std::string body;
  [[nodiscard]] std::string field(std::string_view name) const;
};

// One connection of a client, after a request was sent on it.
class PlayedClient {
 public:
  explicit PlayedClient(ScriptedPeer peer) : peer_(std::move(peer)) {}

  Task<> send(std::string_view bytes) { co_await peer_.send(bytes); }
  Task<Response> head();
  // Head and body, whatever its framing.
  Task<Response> response();
  // The next piece of a chunked body; empty at its end.
  Task<std::string> chunk();
  // The next block of an event stream, up to its blank line; a comment is one too.
  Task<std::string> block();
  // The next block that is no comment.
  Task<std::string> event();
  // All events up to the one that contains `last`.
  Task<std::vector<std::string>> events_until(std::string last);
  // What is left of a chunked body, which ends as it should.
  Task<std::string> rest();
  // The rest of the bytes, undecoded, until the connection ends.
  Task<std::string> to_end() { co_return co_await peer_.read_to_end(); }
  ScriptedPeer& peer() { return peer_; }

 private:
  ScriptedPeer peer_;
  std::string text_;
};

// --- the sidecar ---

struct Sidecar {
  Loop loop;
  PlayedServer server{loop};
  config::Settings settings;
  std::string session;  // what the client was given
  std::string version = "2025-11-25";

  // Polls each 30 ms within a budget that does not bind; `adjust` changes what a test is about.
  explicit Sidecar(std::function<void(Sidecar&)> adjust = {});
  ~Sidecar();
  // Runs the script to its end, then drains.
  void run(Task<> (*script)(Sidecar&));

  config::Upstream& upstream() { return settings.upstreams.front(); }
  [[nodiscard]] std::uint16_t port() const;

  // A request on a connection of its own; what comes is the client's to read.
  Task<PlayedClient> sends(std::string raw);
  Task<PlayedClient> posts(std::string body, std::string fields = {});
  Task<Response> post(std::string body, std::string fields = {});
  // initialize and notifications/initialized.
  Task<Response> open(std::string fields = {});
  Task<> subscribe(std::string uri, std::string fields = {});
  // GET, answered by a stream whose first comment is there.
  Task<PlayedClient> stream(std::string fields = {});
  Task<std::string> metrics();
  // Until /metrics has this line.
  Task<> until_metric(std::string line);
  // What was written before has been read.
  Task<> turn();

 private:
  static Task<> whole(Sidecar& self, Task<> (*script)(Sidecar&));
  [[nodiscard]] std::string session_fields() const;
  std::unique_ptr<app::App> app_;
};

// Before a start: its server declares that it notifies, and its streams are answered by the test.
inline void notifying(Sidecar& s) {
  s.server.capabilities = R"({"resources":{"subscribe":true}})";
  s.server.hold({"GET"});
}

}  // namespace freshet::test
