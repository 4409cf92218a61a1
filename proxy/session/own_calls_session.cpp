// What keeps the upstream's half of a session alive: its healing, its stream, its credentials and its end.
#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/mcp.hpp"
#include "proxy/net/log.hpp"
#include "proxy/session/declaration.hpp"
#include "proxy/session/modern.hpp"
#include "proxy/session/own_calls.hpp"
#include "proxy/session/upstream_stream.hpp"

namespace freshet::session {

net::Task<bool> OwnCalls::heal(SubscriberId subscriber, std::optional<std::string> refused) {
  Session* session = sessions_.find(subscriber);
  if (session == nullptr) co_return false;
  if (!session->heals && session->upstream_id != refused) co_return true;
  if (session->heals) {
    net::OneShot<bool> outcome(shell_.executor);
    session->healing.push_back(&outcome);
    const std::optional<bool> healed = co_await outcome.wait(session->upstream.settings().reads.timeout);
    if (Session* still = sessions_.find(subscriber)) still->healing.remove(&outcome);
    co_return healed.value_or(false);
  }
  if (session->heal_backoff.holds(net::Clock::now())) {
    shell_.engine.metrics().heal(session->upstream.id(), HealResult::held_back);
    co_return false;
  }
  session->heals = true;
  const UpstreamId upstream = session->upstream.id();
  const bool healed = co_await initialise_again(subscriber);
  shell_.engine.metrics().heal(upstream, healed ? HealResult::healed : HealResult::failed);
  session = sessions_.find(subscriber);
  if (session == nullptr) co_return false;
  session->heals = false;
  for (net::OneShot<bool>* waiting : session->healing) waiting->set(healed);
  log::write(healed ? spdlog::level::info : spdlog::level::warn, healed ? "session_healed" : "session_not_healed",
             {{"upstream", session->upstream.name()}});
  co_return healed;
}

void OwnCalls::healing_proved(SubscriberId subscriber, bool good) {
  Session* session = sessions_.find(subscriber);
  if (session == nullptr) return;
  const auto now = net::Clock::now();
  if (good) return session->heal_backoff.worked();
  if (session->heal_backoff.holds(now)) return;  // another request met the same
  const std::chrono::seconds pause = session->heal_backoff.refused_again(now);
  log::warn(
      "session_refused_again",
      {{"upstream", session->upstream.name()},
       {"reason", "the server refuses the session that it has just made"},
       {"effect", "its refusals go to the client, no session is made for " + std::to_string(pause.count()) + " s"},
       {"to_do", "see why the server does not know its own sessions: several instances, or none kept"}});
}

net::Task<bool> OwnCalls::initialise_again(SubscriberId subscriber) {
  Session* session = sessions_.find(subscriber);
  Upstream& upstream = session->upstream;
  const Duration timeout = upstream.settings().reads.timeout;
  if (session->upstream_stream != nullptr) session->upstream_stream->stop();
  codec::RequestHead head = post_head(*session);
  head.fields.erase("Mcp-Session-Id");
  head.fields.erase("MCP-Protocol-Version");
  const std::string body = session->initialize_request;
  const auto sent = codec::read_envelope(body);
  if (!sent) co_return false;
  shell_.engine.metrics().session_request(upstream.id());
  net::Result<Answer> answer =
      co_await exchange(upstream, std::move(head), body, sent->messages.front().id_json, timeout);
  if (!answer || answer->status != 200) co_return false;
  const codec::InitializeResult result = codec::read_initialize_result(answer->message);
  session = sessions_.find(subscriber);
  if (!result.ok || session == nullptr) co_return false;
  const auto id = answer->fields.find("Mcp-Session-Id");
  session->upstream_id = id ? std::optional<std::string>(*id) : std::nullopt;
  session->protocol_version = result.protocol_version;
  head = post_head(*session);
  shell_.engine.metrics().session_request(upstream.id());
  net::Result<Answer> told =
      co_await exchange(upstream, std::move(head), codec::notification("notifications/initialized"), "", timeout);
  session = sessions_.find(subscriber);
  if (!told || session == nullptr) co_return false;
  const Declaration declared = declaration_of(result, Era::legacy, id.has_value());
  session->strategy = choose_strategy(declared);
  session->made_anew = true;
  if (session->attached) ensure_upstream_stream(*session);
  shell_.engine.apply(SessionRenewed{subscriber, declared});
  co_return true;
}

net::Task<bool> OwnCalls::accepts_credentials(SubscriberId subscriber, Carried carried) {
  Session* session = sessions_.find(subscriber);
  if (session == nullptr) co_return false;
  codec::RequestHead head = post_head(*session, std::move(carried));
  shell_.engine.metrics().session_request(session->upstream.id());
  const Duration timeout = session->upstream.settings().reads.timeout;
  std::string id = next_id();
  std::string body = codec::request(id, "ping");
  net::Result<Answer> answer =
      co_await exchange(session->upstream, std::move(head), std::move(body), std::move(id), timeout);
  co_return answer && answer->status >= 200 && answer->status < 300;
}

void OwnCalls::end_upstream_session(const Session& session) {
  if (!session.upstream_id) return;
  codec::RequestHead head = post_head(session);
  head.method = "DELETE";
  head.fields.erase("Content-Type");
  shell_.engine.metrics().session_request(session.upstream.id());
  shell_.tasks.spawn(send_alone(session.upstream.id(), std::move(head), {}));
}

void OwnCalls::ensure_upstream_stream(Session& session) {
  if (shell_.draining) return;  // those that are open have been stopped, and nothing would stop another
  if (session.upstream_stream != nullptr && !session.upstream_stream->stopping()) return;
  UpstreamStream::start(shell_, sessions_, *this, session);
}

codec::RequestHead OwnCalls::stream_head(const Session& session) const {
  codec::RequestHead head = post_head(session);
  if (session.listen) {
    add_mirrored_fields(head.fields, session.protocol_version, "subscriptions/listen", {});
    return head;
  }
  head.method = "GET";
  head.fields.erase("Content-Type");
  head.fields.set("Accept", "text/event-stream");
  return head;
}

void OwnCalls::spawn_heal(SubscriberId subscriber, std::optional<std::string> refused) {
  shell_.tasks.spawn(heal_alone(subscriber, std::move(refused)));
}

net::Task<> OwnCalls::heal_alone(SubscriberId subscriber, std::optional<std::string> refused) {
  const bool healed = co_await heal(subscriber, std::move(refused));
  Session* session = sessions_.find(subscriber);
  if (session == nullptr) co_return;
  if (!healed) co_return shell_.engine.apply(UpstreamStreamRefused{subscriber});  // polled until one is made
  if (session->attached) ensure_upstream_stream(*session);
}

// On a stream that only Freshet reads, nobody else can (2025-11-25 utilities/ping: promptly).
void OwnCalls::answer_ping(const Session& session, std::string_view id_json) {
  shell_.engine.metrics().session_request(session.upstream.id());
  shell_.tasks.spawn(send_alone(session.upstream.id(), post_head(session), codec::result_response(id_json, "{}")));
}

net::Task<> OwnCalls::send_alone(UpstreamId id, codec::RequestHead head, std::string body) {
  Upstream& upstream = *shell_.upstreams[index(id)];
  net::Result<Answer> answer =
      co_await exchange(upstream, std::move(head), std::move(body), {}, upstream.settings().reads.timeout);
  if (!answer) log::debug("post_failed", {{"upstream", upstream.name()}, {"reason", answer.error().message()}});
}

}  // namespace freshet::session
