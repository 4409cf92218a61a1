// The modern era: 2026-07-28, stateless. A listen stream is a subscriber like a legacy session; the rest passes, with
// server/discover shown as it is through Freshet and reads fed to the ledger.
#include <algorithm>

#include "proxy/codec/mcp.hpp"
#include "proxy/codec/sse.hpp"
#include "proxy/session/declaration.hpp"
#include "proxy/session/endpoint.hpp"
#include "proxy/session/exchange_answers.hpp"
#include "proxy/session/modern.hpp"
#include "proxy/session/upstream_stream.hpp"

namespace freshet::session {

namespace {

// What only the upstream can say: list changes, and updates where it can subscribe.
codec::ListenFilter native_part(const codec::ListenFilter& asked, const codec::Declaration& declared) {
  codec::ListenFilter native = asked;
  if (!declared.subscribe) native.resource_uris.clear();
  if (!declared.list_changed) native.resources_list_changed = false;
  return native;
}

bool tells_of_lists(const codec::ListenFilter& filter) {
  return filter.tools_list_changed || filter.prompts_list_changed || filter.resources_list_changed;
}

}  // namespace

net::Task<> Endpoint::modern(Post& post) {
  const codec::Message& message = post.envelope.messages.front();
  const bool request =
      message.kind == codec::MessageKind::request && !message.id_json.empty() && !post.envelope.is_batch;
  const bool ours = request && upstream_.settings().mode == config::Mode::active && !message.duplicate_members &&
                    (message.method == "subscriptions/listen" || message.method == "server/discover" ||
                     (message.method == "resources/read" && message.has_uri));
  if (!ours) co_return co_await pass_modern(post);
  if (message.method == "server/discover") {
    co_return co_await until_client_leaves(post.client, modern_discover(post));
  }
  if (const std::string mismatch = header_mismatch(post.head, message); !mismatch.empty()) {
    co_await answer_error(post.client, 400, message.id_json, codec::error_codes::header_mismatch, mismatch);
    co_return;
  }
  if (message.method == "resources/read") co_return co_await until_client_leaves(post.client, modern_read(post));
  co_await until_client_leaves(post.client, modern_listen(post), HalfClose::reads_on);
}

net::Task<> Endpoint::pass_modern(Post& post) {
  co_await until_client_leaves(post.client, pass_post(post, std::nullopt, post.envelope.messages.front()));
}

// The client's disconnect is the cancel (2026-07-28 cancellation): it reaches the upstream at once, whether the answer
// has begun or not.
net::Task<> Endpoint::until_client_leaves(net::ServerExchange& client, net::Task<> call, HalfClose half_close) {
  net::TaskGroup work(shell_.executor);
  net::TaskGroup beside(shell_.executor);
  work.spawn(std::move(call));
  beside.spawn(cancel_when_client_leaves(client, work, half_close));
  co_await work.join();
  beside.cancel();
  co_await beside.join();
}

net::Task<> Endpoint::cancel_when_client_leaves(net::ServerExchange& client, net::TaskGroup& work,
                                                HalfClose half_close) {
  const bool gone = co_await client.peer_ended();
  if (!gone && (client.begun() || half_close == HalfClose::reads_on)) {
    const bool broken = co_await client.peer_ended();
    if (!broken) co_return;
  }
  work.cancel();
}

net::Task<> Endpoint::modern_discover(Post& post) {
  const codec::Message& message = post.envelope.messages.front();
  Forwarding forward = forwarding(post.client, post.head);
  forward.body = post.body;
  forward.id_json = message.id_json;
  forward.read_only = true;
  forward.rewrite = [this](const codec::ResponseHead& response, std::string body, codec::ResponseHead&) {
    const codec::InitializeResult result = codec::read_initialize_result(body);
    if (response.status != 200 || !result.ok) return body;
    const codec::Reply reply = codec::read_reply(body, "");
    const auto hint = codec::read_cache_hint(reply.result.in(body));
    upstream_.declared(result, hint.ttl_ms, shell_.engine.now().instant);
    return upstream_.shown(declaration_of(result, Era::modern, false), std::move(body));
  };
  co_await forward.run();
}

net::Task<> Endpoint::modern_read(Post& post) {
  const codec::Message& message = post.envelope.messages.front();
  const Session* listening = sessions_.find_listen(upstream_.id(), post.principal, message.uri);
  if (listening == nullptr) co_return co_await read_unwatched(post);
  const SubscriberId subscriber = listening->subscriber;
  Pending::Wait wait(shell_.pending);
  shell_.engine.apply(ReadAsked{subscriber, wait.id(), message.uri, !message.params_extra});
  const std::optional<EngineAnswer> answer = co_await wait.answer(engine_answers_within);
  const auto* serve = answer ? std::get_if<ServeRead>(&*answer) : nullptr;
  // A result that a legacy session read lacks what a modern one must have.
  if (serve != nullptr && !codec::read_cache_hint(*serve->result).result_type.empty()) {
    const auto age = shell_.engine.now().instant - serve->dispatched;
    const auto age_ms = std::chrono::ceil<std::chrono::milliseconds>(age).count();
    const bool written = co_await answer_message(
        post.client, 200, codec::result_response(message.id_json, with_remaining_ttl(*serve->result, age_ms)));
    if (written) shell_.engine.apply(ReadDelivered{upstream_.id(), post.principal, message.uri, serve->digest});
    co_return;
  }
  const auto* forward = answer ? std::get_if<ForwardRead>(&*answer) : nullptr;
  if (forward == nullptr) co_return co_await pass_post(post, std::nullopt, message);
  co_await forward_read(post, subscriber, message, forward->read);
}

net::Task<> Endpoint::read_unwatched(Post& post) {
  const ForwardResult result = co_await relay_read(post, std::nullopt);
  if (!result.delivered) co_return;
  const std::string& uri = post.envelope.messages.front().uri;
  delivered(post, read_outcome(result.answer, std::nullopt, upstream_.volatile_parts(uri), shell_.wall_now()));
}

void Endpoint::delivered(const Post& post, const ReadOutcome& outcome) {
  const auto* content = std::get_if<Content>(&outcome);
  if (content == nullptr && !std::holds_alternative<NotFound>(outcome)) return;
  const Digest digest = content != nullptr ? content->digest : absent_digest;
  const std::string& uri = post.envelope.messages.front().uri;
  shell_.engine.apply(ReadDelivered{upstream_.id(), post.principal, uri, digest});
}

net::Task<> Endpoint::modern_listen(Post& post) {
  const codec::Message& message = post.envelope.messages.front();
  auto asked = codec::read_listen_filter(message.params.in(post.body));
  if (!asked) {
    co_await answer_error(post.client, 400, message.id_json, codec::error_codes::invalid_params,
                          "params.notifications is not a filter");
    co_return;
  }
  if (shell_.draining || sessions_.full()) {
    const char* why = shell_.draining ? "shutting down: no new streams" : "too many streams: limits.sessions_max";
    co_await answer_error(post.client, 503, message.id_json, codec::error_codes::server_error, why);
    co_return;
  }
  std::optional<codec::InitializeResult> declared = upstream_.declaration(shell_.engine.now().instant);
  if (!declared) {
    declared = co_await calls_.discover(upstream_, carried_of(post.head));
    // Not modern, or not answering: the upstream's own answer says so.
    if (!declared) co_return co_await pass_post(post, std::nullopt, message);
    upstream_.declared(*declared, std::nullopt, shell_.engine.now().instant);
  }
  const codec::ListenFilter native = native_part(*asked, declared->declaration);
  const bool native_part_wanted = native.any();
  NewSession made{.id = {},
                  .upstream_id = {},
                  .principal = post.principal,
                  .carried = carried_of(post.head),
                  .protocol_version = message.meta_protocol_version,
                  .initialize_request = {},
                  .declared = declaration_of(*declared, Era::modern, false),
                  .listen = Listen{.id_json = message.id_json, .asked = *asked, .native = native, .acknowledged = {}}};
  Session& session = sessions_.open(upstream_, std::move(made));
  const SubscriberId subscriber = session.subscriber;
  if (native_part_wanted) calls_.ensure_upstream_stream(session);
  codec::ListenFilter honours = co_await honoured(subscriber);
  co_await serve_listen(post.client, subscriber, std::move(honours));
  sessions_.close(subscriber);
}

// The truth about what the client will be told: baseline reads come first, and the upstream's own acknowledgement. All
// within reads.baseline_wait: what the upstream has not taken by then is polled, and notified once it has.
net::Task<codec::ListenFilter> Endpoint::honoured(SubscriberId subscriber) {
  const auto until = net::after(upstream_.settings().reads.baseline_wait);
  std::vector<std::string> uris = sessions_.find(subscriber)->listen->asked.resource_uris;
  std::erase_if(uris, [&](const std::string& uri) { return uri.size() > shell_.settings.limits.uri_bytes_max; });
  std::vector<std::unique_ptr<Pending::Wait>> waits;
  for (const std::string& uri : uris) {
    waits.push_back(std::make_unique<Pending::Wait>(shell_.pending));
    shell_.engine.apply(SubscribeAsked{subscriber, waits.back()->id(), uri});
  }
  codec::ListenFilter honours;
  for (std::size_t i = 0; i < uris.size(); ++i) {
    const std::optional<EngineAnswer> answer = co_await waits[i]->answer(engine_answers_within);
    const auto* subscribed = answer ? std::get_if<AnswerSubscribe>(&*answer) : nullptr;
    if (subscribed != nullptr && !subscribed->refusal) honours.resource_uris.push_back(uris[i]);
  }
  const Session* session = sessions_.find(subscriber);
  if (session != nullptr && tells_of_lists(session->listen->native)) {
    co_await calls_.upstream_stream_opens(subscriber, until - net::Clock::now());
    session = sessions_.find(subscriber);
  }
  if (session == nullptr) co_return honours;
  const Listen& listen = *session->listen;
  honours.tools_list_changed = listen.acknowledged.tools_list_changed;
  honours.prompts_list_changed = listen.acknowledged.prompts_list_changed;
  honours.resources_list_changed =
      listen.acknowledged.resources_list_changed ||
      (listen.asked.resources_list_changed && upstream_.settings().lists.poll && !listen.native.resources_list_changed);
  co_return honours;
}

net::Task<> Endpoint::serve_listen(net::ServerExchange& client, SubscriberId subscriber, codec::ListenFilter honours) {
  Session* session = sessions_.find(subscriber);
  if (session == nullptr) co_return;
  const std::string id_json = session->listen->id_json;
  client.begin(stream_answer(*session));
  const std::string acknowledged = codec::format_event({}, {}, codec::acknowledged_notification(id_json, honours));
  const auto written = co_await client.write(acknowledged);
  session = sessions_.find(subscriber);
  if (!written || session == nullptr) co_return;
  if (!honours.any()) {  // nothing will ever come: not to be hoarded
    co_await client.write(codec::format_event({}, {}, codec::listen_completed(id_json)));
    co_await client.finish();
    co_return;
  }
  const std::uint64_t attachment = sessions_.attach(*session, false);
  co_await serve_stream(client, subscriber, attachment);
}

}  // namespace freshet::session
