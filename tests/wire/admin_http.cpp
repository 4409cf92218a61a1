// The admin address, as browsers, scrapers and health checks meet it.
#include <catch2/catch.hpp>

#include "proxy/admin/admin.hpp"
#include "tests/wire/support/scripted_peer.hpp"
#include "tests/wire/support/server.hpp"

namespace freshet::test {
namespace {

config::Settings settings(bool with_token) {
  config::Settings out;
  if (with_token) out.admin.token = config::Secret{.source = config::Secret::Source::environment, .name = "TOKEN"};
  out.partners.emplace_back().name = "acme";
  out.upstreams.emplace_back().name = "files";
  out.upstreams.front().partner_name = "acme";
  return out;
}

Settings engine_side() {
  Settings out;
  out.partners.emplace_back().name = "acme";
  out.upstreams.emplace_back().name = "files";
  return out;
}

// An admin side with the token "right".
struct Sidecar {
  explicit Sidecar(bool with_token = true) : config(settings(with_token)) {}

  admin::Sources sources() {
    return {.settings = config,
            .engine = engine,
            .metrics = metrics,
            .now = [this] { return now; },
            .draining = [this] { return draining; },
            .apply =
                [this](const Event& event) {
                  Effects effects;
                  engine.apply(event, now, effects);
                },
            .token = config.admin.token ? std::optional(config::SecretReader(*config.admin.token, {{"TOKEN", "right"}}))
                                        : std::nullopt,
            .version = "1.2.3"};
  }

  config::Settings config;
  Engine engine{engine_side(), 1};
  Metrics metrics{engine.settings(), "1.2.3"};
  Now now{Instant(std::chrono::seconds(100)), {}};
  bool draining = false;
  admin::Admin admin{sources()};
};

using Script = std::function<Task<>(ScriptedPeer&, Sidecar&)>;

Task<> converse(Loop& loop, std::uint16_t port, Sidecar& sidecar, Script script) {
  auto peer = co_await ScriptedPeer::connect(loop.executor(), port);
  co_await script(peer, sidecar);
}

void with_admin(Script script, bool with_token = true) {
  Loop loop;
  Sidecar sidecar(with_token);
  Server server(loop, [&](net::ServerExchange& exchange) { return sidecar.admin.handle(exchange); });
  loop.run(converse(loop, server.port(), sidecar, std::move(script)));
}

Task<std::string> ask(ScriptedPeer& peer, std::string request_line, std::string fields = "Host: 127.0.0.1\r\n",
                      std::string body = "") {
  std::string head = request_line + " HTTP/1.1\r\n" + fields;
  if (!body.empty()) head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  co_await peer.send(head + "\r\n" + body);
  co_return co_await peer.read_message();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string pause = R"({"partner":"acme"})";

}  // namespace

TEST_CASE("a draining sidecar is alive and not ready") {
  with_admin([](ScriptedPeer& peer, Sidecar& sidecar) -> Task<> {
    const auto ready = co_await ask(peer, "GET /readyz");
    CHECK(ready.starts_with("HTTP/1.1 200 "));
    sidecar.draining = true;
    const auto draining = co_await ask(peer, "GET /readyz");
    CHECK(draining.starts_with("HTTP/1.1 503 "));
    const auto alive = co_await ask(peer, "GET /healthz");
    CHECK(alive.starts_with("HTTP/1.1 200 "));
  });
}

TEST_CASE("a name that was pointed at a loopback address gets nothing, on any path") {
  with_admin([](ScriptedPeer& peer, Sidecar&) -> Task<> {
    for (const char* path : {"GET /", "GET /metrics", "GET /status", "GET /events", "POST /actions/pause"}) {
      const auto answer = co_await ask(peer, path, "Host: evil.example\r\n");
      CHECK(answer.starts_with("HTTP/1.1 403 "));
    }
  });
}

TEST_CASE("every answer forbids a browser to guess, frame or share, and none allows another origin") {
  with_admin([](ScriptedPeer& peer, Sidecar&) -> Task<> {
    for (const char* path : {"GET /", "GET /page.js", "GET /metrics", "GET /status", "GET /nothing", "PUT /status"}) {
      const auto answer = co_await ask(peer, path, "Host: localhost\r\nOrigin: http://localhost\r\n");
      CHECK(has(answer, "X-Content-Type-Options: nosniff\r\n"));
      CHECK(has(answer, "frame-ancestors 'none'"));
      CHECK_FALSE(has(answer, "Access-Control"));
    }
  });
}

TEST_CASE("only GET and HEAD are answered, and unknown paths are not there") {
  with_admin([](ScriptedPeer& peer, Sidecar&) -> Task<> {
    const auto put = co_await ask(peer, "PUT /metrics");
    CHECK(put.starts_with("HTTP/1.1 405 "));
    CHECK(has(put, "Allow: GET, HEAD\r\n"));
    const auto nothing = co_await ask(peer, "GET /nothing");
    CHECK(nothing.starts_with("HTTP/1.1 404 "));
    co_await peer.send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto head = co_await peer.read_until("\r\n\r\n");
    CHECK(has(head, "text/plain; version=0.0.4"));
    const auto after = co_await ask(peer, "GET /healthz");
    CHECK(after.starts_with("HTTP/1.1 200 "));
  });
}

TEST_CASE("an action needs the right token") {
  with_admin([](ScriptedPeer& peer, Sidecar& sidecar) -> Task<> {
    const std::string host = "Host: localhost\r\n";
    const auto held = [&] { return !sidecar.engine.partners(sidecar.now.instant)[0].pause_reason.empty(); };
    for (const char* wrong : {"", "Authorization: Bearer wrong\r\n", "Authorization: Basic right\r\n",
                              "Authorization: Bearer \r\n", "Authorization: Bearer rightly\r\n"}) {
      const auto refused = co_await ask(peer, "POST /actions/pause", host + wrong, pause);
      CHECK(refused.starts_with("HTTP/1.1 401 "));
      CHECK_FALSE(held());
    }
    const auto done = co_await ask(peer, "POST /actions/pause", host + "Authorization: Bearer right\r\n", pause);
    CHECK(done.starts_with("HTTP/1.1 200 "));
    CHECK(held());
  });
}

TEST_CASE("without a configured token no action is possible") {
  with_admin(
      [](ScriptedPeer& peer, Sidecar&) -> Task<> {
        const auto refused =
            co_await ask(peer, "POST /actions/pause", "Host: localhost\r\nAuthorization: Bearer right\r\n", pause);
        CHECK(refused.starts_with("HTTP/1.1 403 "));
      },
      false);
}

TEST_CASE("an action that makes no sense is refused and says why") {
  with_admin([](ScriptedPeer& peer, Sidecar&) -> Task<> {
    const std::string fields = "Host: localhost\r\nAuthorization: Bearer right\r\n";
    const auto broken = co_await ask(peer, "POST /actions/pause", fields, "{");
    CHECK(broken.starts_with("HTTP/1.1 400 "));
    const auto nobody = co_await ask(peer, "POST /actions/pause", fields, R"({"partner":"nobody"})");
    CHECK(nobody.starts_with("HTTP/1.1 404 "));
    const auto unwatched = co_await ask(peer, "POST /actions/refresh", fields, R"({"upstream":"files","uri":"r"})");
    CHECK(unwatched.starts_with("HTTP/1.1 404 "));
    const auto unknown = co_await ask(peer, "POST /actions/destroy", fields, "{}");
    CHECK(unknown.starts_with("HTTP/1.1 404 "));
  });
}

TEST_CASE("a viewer is told how things stand at once, by an event of one line") {
  with_admin([](ScriptedPeer& peer, Sidecar&) -> Task<> {
    co_await peer.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto head = co_await peer.read_until("\r\n\r\n");
    CHECK(has(head, "text/event-stream"));
    const auto event = co_await peer.read_until("\n\n");
    CHECK(has(event, "event: status\ndata: {\"version\":\"1.2.3\""));
  });
}

TEST_CASE("viewers are bounded") {
  Loop loop;
  Sidecar sidecar;
  admin::Live live([]() -> Task<std::string> { co_return "{}"; }, [&] { return sidecar.now.instant; });
  Server server(loop, [&](net::ServerExchange& exchange) { return live.serve(exchange); });
  const auto script = [&]() -> Task<> {
    std::vector<ScriptedPeer> viewers;
    for (std::size_t i = 0; i <= admin::Live::viewers_max; ++i) {
      auto peer = co_await ScriptedPeer::connect(loop.executor(), server.port());
      co_await peer.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const auto head = co_await peer.read_until("\r\n\r\n");
      CHECK(head.starts_with(i < admin::Live::viewers_max ? "HTTP/1.1 200 " : "HTTP/1.1 503 "));
      viewers.push_back(std::move(peer));
    }
  };
  loop.run(script());
}

}  // namespace freshet::test
