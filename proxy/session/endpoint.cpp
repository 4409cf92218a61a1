#include "proxy/session/endpoint.hpp"

#include <algorithm>
#include <array>

#include "proxy/codec/mcp.hpp"
#include "proxy/codec/media_type.hpp"
#include "proxy/net/log.hpp"
#include "proxy/session/declaration.hpp"
#include "proxy/session/exchange_answers.hpp"
#include "proxy/session/modern.hpp"
#include "proxy/session/oauth_rewrite.hpp"
#include "proxy/session/rollout.hpp"

namespace freshet::session {

namespace {

constexpr auto cancel_grace = std::chrono::seconds(2);

// Requests that change nothing: repeating them does no harm, and what was read before them stays true.
bool reads_only(std::string_view method) {
  constexpr std::array<std::string_view, 9> methods{"resources/read",      "resources/list", "resources/templates/list",
                                                    "tools/list",          "prompts/list",   "prompts/get",
                                                    "completion/complete", "ping",           "server/discover"};
  return std::ranges::find(methods, method) != methods.end();
}

bool concerns_freshet(const codec::Message& message) {
  return message.method == "resources/subscribe" || message.method == "resources/unsubscribe";
}

bool is_request(const codec::Message& message) {
  return message.kind == codec::MessageKind::request;
}

}  // namespace

Endpoint::Endpoint(Shell& shell, Sessions& sessions, OwnCalls& calls, Upstream& upstream)
    : shell_(shell), sessions_(sessions), calls_(calls), upstream_(upstream) {}

Forwarding Endpoint::forwarding(net::ServerExchange& client, const codec::RequestHead& head) {
  return Forwarding(shell_, sessions_, calls_, upstream_, client, head);
}

net::Task<> Endpoint::handle(net::ServerExchange& client) {
  // A session that began before Freshet was turned off goes on as it began.
  const auto id = client.head().fields.find("Mcp-Session-Id");
  const bool known = id && sessions_.find(*id) != nullptr;
  if (upstream_.settings().mode == config::Mode::off && !known) co_return co_await pass(client);
  if (client.head().method == "POST") co_return co_await post(client);
  codec::RequestHead head = client.head();
  codec::remove_hop_by_hop(head.fields);
  if (head.method == "GET") co_return co_await get(client, std::move(head));
  if (head.method == "DELETE") co_return co_await delete_session(client, std::move(head));
  co_await pass(client);
}

net::Task<> Endpoint::pass(net::ServerExchange& client) {
  codec::RequestHead head = client.head();
  codec::remove_hop_by_hop(head.fields);
  Forwarding forward = forwarding(client, head);
  forward.read_only = head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
  forward.stream_body = !forward.read_only;
  if (!upstream_.settings().public_url.empty() && is_resource_metadata(head.target)) {
    forward.rewrite = [this](const codec::ResponseHead&, std::string body, codec::ResponseHead&) {
      return rewrite_resource(std::move(body), upstream_);
    };
  }
  co_await forward.run();
}

net::Task<> Endpoint::post(net::ServerExchange& client) {
  Post post{.client = client, .head = client.head(), .body = {}, .envelope = {}, .principal = {}};
  codec::remove_hop_by_hop(post.head.fields);
  auto body = co_await client.read_body(shell_.settings.limits.body_bytes_max);
  if (!body) {
    if (body.error() == net::HttpError::body_limit) {
      co_await answer_error(client, 413, {}, codec::error_codes::invalid_request,
                            "the body exceeds limits.body_bytes_max");
    }
    co_return;
  }
  post.body = std::move(*body);
  if (!codec::is_json(post.head.fields.find("Content-Type").value_or(""))) {
    co_return co_await pass_post(post, std::nullopt, codec::Message{});
  }
  auto envelope = codec::read_envelope(post.body, {.depth_max = shell_.settings.limits.json_depth_max});
  if (!envelope) {
    const bool hostile =
        envelope.error() == codec::EnvelopeFault::too_deep || envelope.error() == codec::EnvelopeFault::batch_too_long;
    if (hostile) {
      co_await answer_error(client, 400, {}, codec::error_codes::invalid_request, codec::describe(envelope.error()));
      co_return;
    }
    co_return co_await pass_post(post, std::nullopt, codec::Message{});  // the upstream's to judge
  }
  post.envelope = std::move(*envelope);
  post.principal = shell_.principals.of(post.head);
  const codec::Message& first = post.envelope.messages.front();
  if (is_modern(post.head, first)) co_return co_await modern(post);
  const auto id = post.head.fields.find("Mcp-Session-Id");
  if (!id) {
    if (!post.envelope.is_batch && first.method == "initialize" && is_request(first))
      co_return co_await initialize(post);
    co_return co_await pass_post(post, std::nullopt, first);
  }
  Session* session = sessions_.find(*id);
  if (session == nullptr && sessions_.outlived(*id)) co_return co_await pass_post(post, std::nullopt, first);
  if (session == nullptr || &session->upstream != &upstream_) {
    co_await answer_error(client, 404, first.id_json, codec::error_codes::session_not_found, "Session not found");
    co_return;
  }
  sessions_.touch(*session);
  co_await dispatch(post, session->subscriber);
}

net::Task<> Endpoint::dispatch(Post& post, SubscriberId subscriber) {
  if (post.envelope.is_batch) co_return co_await batch(post, subscriber);
  const codec::Message& message = post.envelope.messages.front();
  const Session& session = *sessions_.find(subscriber);
  if (!is_request(message)) co_return co_await pass_post(post, subscriber, message);
  if (concerns_freshet(message) && session.acts) {
    if (message.duplicate_members || message.id_is_null || !message.has_uri) {
      const char* why = message.duplicate_members ? "a member occurs twice"
                        : message.id_is_null      ? "the id is null"
                                                  : "params.uri is missing";
      co_await answer_error(post.client, 400, message.id_json, codec::error_codes::invalid_request, why);
      co_return;
    }
    if (message.method == "resources/subscribe") co_return co_await subscribe(post, subscriber, message);
    co_return co_await unsubscribe(post, subscriber, message);
  }
  if (concerns_freshet(message)) shadow_subscribe(subscriber, message);
  const bool readable = message.method == "resources/read" && message.has_uri && !message.duplicate_members;
  if (readable && !message.id_is_null) co_return co_await read(post, subscriber, message);
  co_await pass_post(post, subscriber, message);
}

net::Task<> Endpoint::pass_post(Post& post, std::optional<SubscriberId> subscriber, const codec::Message& message) {
  Forwarding forward = forwarding(post.client, post.head);
  forward.body = post.body;
  forward.subscriber = subscriber;
  forward.id_json = is_request(message) ? message.id_json : "";
  forward.read_only = reads_only(message.method);
  forward.owner = !subscriber || sessions_.find(*subscriber)->principal == post.principal;
  forward.never_waits = message.method == "notifications/cancelled";
  if (forward.never_waits && subscriber) cancel(*subscriber, message.request_id_json);
  const ForwardResult result = co_await forward.run();
  if (is_request(message) && !forward.read_only) write_ended(subscriber, post.principal);
  if (!subscriber) co_return;
  if (result.status >= 200 && result.status < 300) adopt(*subscriber, post.principal, post.head);
  if (forward.owner && result.status == 404 && session_refused(result.answer)) sessions_.close(*subscriber);
}

// What was read before it is no answer any more: in its session, and, modern, to all of its principal.
void Endpoint::write_ended(std::optional<SubscriberId> session, const Principal& principal) {
  if (session) shell_.engine.apply(WriteEnded{*session});
  for (const SubscriberId listen : sessions_.listens(upstream_.id(), principal)) {
    shell_.engine.apply(WriteEnded{listen});
  }
}

// Ids are compared as JSON, so that 1 and "1" stay two.
void Endpoint::cancel(SubscriberId subscriber, std::string_view id_json) {
  for (CallInFlight* call : sessions_.find(subscriber)->calls) {
    if (call->id_json() == id_json) call->cancel(cancel_grace);
  }
}

// The upstream took this credential in this session: from now on own requests carry it.
void Endpoint::adopt(SubscriberId subscriber, const Principal& principal, const codec::RequestHead& head) {
  Session* session = sessions_.find(subscriber);
  if (session == nullptr || session->principal == principal) return;
  session->principal = principal;
  session->carried = carried_of(head);
  log::info("credential_adopted", {{"upstream", upstream_.name()}});
  shell_.engine.apply(PrincipalAdopted{subscriber, principal});
}

net::Task<> Endpoint::initialize(Post& post) {
  const codec::Message& message = post.envelope.messages.front();
  if (shell_.draining || sessions_.full()) {
    const char* why = shell_.draining ? "shutting down: no new sessions" : "too many sessions: limits.sessions_max";
    co_await answer_error(post.client, 503, message.id_json, codec::error_codes::server_error, why);
    co_return;
  }
  Forwarding forward = forwarding(post.client, post.head);
  forward.body = post.body;
  forward.id_json = message.id_json;
  forward.rewrite = [this, &post](const codec::ResponseHead& response, std::string body, codec::ResponseHead& shown) {
    return open_session(post, response, std::move(body), shown.fields);
  };
  co_await forward.run();
}

// The result opens a session and is shown with what Freshet adds to it; anything else goes on as it came.
std::string Endpoint::open_session(const Post& post, const codec::ResponseHead& response, std::string body,
                                   codec::Fields& shown) {
  const codec::InitializeResult result = codec::read_initialize_result(body);
  if (response.status != 200 || !result.ok) return body;
  const auto id = response.fields.find("Mcp-Session-Id");
  NewSession made{.id = {},
                  .upstream_id = {},
                  .principal = post.principal,
                  .carried = carried_of(post.head),
                  .protocol_version = result.protocol_version,
                  .initialize_request = post.body,
                  .declared = declaration_of(result, Era::legacy, id.has_value())};
  const Strategy strategy = choose_strategy(made.declared);
  if (id) {
    made.id = *id;
    made.upstream_id = made.id;
  } else if (strategy == Strategy::off || upstream_.settings().mode == config::Mode::shadow) {
    return body;  // nothing to keep a session for
  }
  const Declaration declared = made.declared;
  const Session& session = sessions_.open(upstream_, std::move(made));
  if (!session.acts) return body;
  shown.set("Mcp-Session-Id", session.id);
  return upstream_.shown(declared, std::move(body));
}

net::Task<> Endpoint::delete_session(net::ServerExchange& client, codec::RequestHead head) {
  const auto id = head.fields.find("Mcp-Session-Id");
  Session* session = id ? sessions_.find(*id) : nullptr;
  if (session == nullptr) {
    if (!id || sessions_.outlived(*id)) co_return co_await pass(client);
    co_await answer_error(client, 404, {}, codec::error_codes::session_not_found, "Session not found");
    co_return;
  }
  const SubscriberId subscriber = session->subscriber;
  const std::string session_id = session->id;
  const bool minted = !session->upstream_id;
  if (minted) {  // the upstream knows nothing of it
    if (session->principal != shell_.principals.of(head)) {
      co_await answer_error(client, 403, {}, codec::error_codes::server_error, "not this session's credentials");
      co_return;
    }
    sessions_.close(subscriber);
    co_await client.respond(codec::ResponseHead{.status = 200}, {});
    co_return;
  }
  const bool owner = session->principal == shell_.principals.of(head);
  Forwarding forward = forwarding(client, head);
  forward.subscriber = subscriber;
  const ForwardResult result = co_await forward.run();
  const bool deleted = result.status >= 200 && result.status < 300;
  const bool ended = deleted || (owner && result.status == 404);
  if (!ended && !(owner && result.status == 405)) co_return;
  sessions_.close(subscriber);
  if (!ended) sessions_.remember_outlived(session_id);
}

}  // namespace freshet::session
