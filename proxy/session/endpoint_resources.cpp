// resources/subscribe, resources/unsubscribe and resources/read of known sessions.
#include <chrono>

#include "proxy/codec/sse.hpp"
#include "proxy/session/endpoint.hpp"
#include "proxy/session/exchange_answers.hpp"
#include "proxy/session/modern.hpp"

namespace freshet::session {

namespace {

using namespace std::chrono_literals;

bool supports_batches(const codec::RequestHead& head) {
  return head.fields.find("MCP-Protocol-Version").value_or("2025-03-26") <= "2025-03-26";
}

std::string refusal_message(const Refusal& refusal, std::string_view id_json) {
  if (refusal.rpc_error.empty()) {
    return codec::error_response(id_json, codec::error_codes::server_error,
                                 "refused by the server with HTTP status " + std::to_string(refusal.http_status));
  }
  return R"({"jsonrpc":"2.0","id":)" + std::string(id_json) + ",\"error\":" + refusal.rpc_error + "}";
}

// The JSON-RPC message that the engine's answer to a subscribe or unsubscribe is.
std::string message_of(const std::optional<EngineAnswer>& answer, std::string_view id_json) {
  if (!answer) return codec::error_response(id_json, codec::error_codes::server_error, "shutting down");
  if (const auto* refuse = std::get_if<RefuseRequest>(&*answer)) {
    return codec::error_response(id_json, refuse->code, refuse->message);
  }
  const auto* subscribed = std::get_if<AnswerSubscribe>(&*answer);
  if (subscribed != nullptr && subscribed->refusal) return refusal_message(*subscribed->refusal, id_json);
  return codec::result_response(id_json, "{}");
}

const Refusal* http_refusal(const std::optional<EngineAnswer>& answer) {
  const auto* subscribed = answer ? std::get_if<AnswerSubscribe>(&*answer) : nullptr;
  if (subscribed == nullptr || !subscribed->refusal || subscribed->refusal->http_status < 400) return nullptr;
  return subscribed->refusal.get();
}

}  // namespace

// Whoever knows a session's id is not yet its owner: another credential counts only once the upstream took it.
net::Task<bool> Endpoint::principal_accepted(Post& post, SubscriberId subscriber) {
  if (sessions_.find(subscriber)->principal == post.principal) co_return true;
  const bool accepted = co_await calls_.accepts_credentials(subscriber, carried_of(post.head));
  if (accepted) adopt(subscriber, post.principal, post.head);
  co_return accepted&& sessions_.find(subscriber) != nullptr;
}

net::Task<> Endpoint::subscribe(Post& post, SubscriberId subscriber, const codec::Message& message) {
  const bool accepted = co_await principal_accepted(post, subscriber);
  if (!accepted) co_return co_await pass_post(post, subscriber, message);  // the upstream says why
  if (message.uri.size() > shell_.settings.limits.uri_bytes_max) {
    co_await answer_error(post.client, 200, message.id_json, codec::error_codes::invalid_params,
                          "the URI exceeds limits.uri_bytes_max");
    co_return;
  }
  Pending::Wait wait(shell_.pending);
  shell_.engine.apply(SubscribeAsked{subscriber, wait.id(), message.uri});
  const std::optional<EngineAnswer> answer = co_await wait.answer(engine_answers_within);
  if (const Refusal* refusal = http_refusal(answer)) {
    codec::ResponseHead head{.status = refusal->http_status};
    for (const auto& [name, value] : refusal->fields) head.fields.add(name, value);
    head.fields.add("Content-Type", "application/json");
    co_await post.client.respond(std::move(head), refusal_message(*refusal, message.id_json));
    co_return;
  }
  co_await answer_message(post.client, 200, message_of(answer, message.id_json));
}

net::Task<> Endpoint::unsubscribe(Post& post, SubscriberId subscriber, const codec::Message& message) {
  const bool accepted = co_await principal_accepted(post, subscriber);
  if (!accepted) co_return co_await pass_post(post, subscriber, message);
  Pending::Wait wait(shell_.pending);
  shell_.engine.apply(UnsubscribeAsked{subscriber, wait.id(), message.uri});
  const std::optional<EngineAnswer> answer = co_await wait.answer(engine_answers_within);
  co_await answer_message(post.client, 200, message_of(answer, message.id_json));
}

net::Task<> Endpoint::read(Post& post, SubscriberId subscriber, const codec::Message& message) {
  const bool own = sessions_.find(subscriber)->principal == post.principal;
  if (!own) co_return co_await pass_post(post, subscriber, message);
  Pending::Wait wait(shell_.pending);
  shell_.engine.apply(ReadAsked{subscriber, wait.id(), message.uri, !message.params_extra});
  const std::optional<EngineAnswer> answer = co_await wait.answer(engine_answers_within);
  if (const auto* serve = answer ? std::get_if<ServeRead>(&*answer) : nullptr) {
    const bool written =
        co_await answer_message(post.client, 200, codec::result_response(message.id_json, *serve->result));
    if (written) shell_.engine.apply(ServedDelivered{subscriber, message.uri, serve->digest, serve->dispatched});
    co_return;
  }
  if (const auto* forward = answer ? std::get_if<ForwardRead>(&*answer) : nullptr) {
    co_return co_await forward_read(post, subscriber, message, forward->read);
  }
  co_await pass_post(post, subscriber, message);
}

net::Task<ForwardResult> Endpoint::relay_read(Post& post, std::optional<SubscriberId> subscriber) {
  Forwarding forward = forwarding(post.client, post.head);
  forward.body = post.body;
  forward.subscriber = subscriber;
  forward.id_json = post.envelope.messages.front().id_json;
  forward.read_only = true;
  forward.wants_answer = true;
  co_return co_await forward.run();
}

net::Task<> Endpoint::forward_read(Post& post, SubscriberId subscriber, const codec::Message& message, ReadId read) {
  const ForwardResult result = co_await relay_read(post, subscriber);
  ReadOutcome outcome = Failed{result.given_up ? Failure::cancelled : Failure::connection};
  if (result.status != 0) {
    outcome = read_outcome(result.answer, shell_.engine.engine().known(read), upstream_.volatile_parts(message.uri),
                           shell_.wall_now());
  }
  shell_.engine.apply(ReadEnded{read, outcome, result.delivered});
  if (result.delivered && is_modern(post.head, message)) delivered(post, outcome);
  const Session* session = sessions_.find(subscriber);
  if (session == nullptr || session->listen) co_return;  // a modern stream does not hang on a session of the upstream
  if (result.status == 404 && session_refused(result.answer)) sessions_.close(subscriber);
}

// 2025-03-26 basic, Batching: members that concern Freshet are dealt with one by one, the rest travels as a smaller
// batch, and one batch comes back. Later revisions have no batches, and wrapping a message must not hide it.
net::Task<> Endpoint::batch(Post& post, SubscriberId subscriber) {
  std::string answers;
  std::string answer_events;
  std::string rest;
  for (const codec::Message& message : post.envelope.messages) {
    const bool ours = message.kind == codec::MessageKind::request && sessions_.find(subscriber) != nullptr &&
                      (message.method == "resources/subscribe" || message.method == "resources/unsubscribe") &&
                      sessions_.find(subscriber)->acts;
    if (ours && !supports_batches(post.head)) {
      co_await answer_error(post.client, 400, {}, codec::error_codes::invalid_request,
                            "no batches in this protocol version");
      co_return;
    }
    if (ours) {
      const std::string answer = co_await member_answer(post, subscriber, message);
      answers += (answers.empty() ? "" : ",") + answer;
      answer_events += codec::format_event({}, {}, answer);
    } else {
      rest += (rest.empty() ? "" : ",") + std::string(message.span.in(post.body));
    }
  }
  if (answers.empty()) co_return co_await pass_post(post, subscriber, codec::Message{});
  if (rest.empty()) {
    co_await answer_message(post.client, 200, "[" + answers + "]");
    co_return;
  }
  const std::string smaller = "[" + rest + "]";
  Forwarding forward = forwarding(post.client, post.head);
  forward.body = smaller;
  forward.subscriber = subscriber;
  forward.owner = sessions_.find(subscriber) != nullptr && sessions_.find(subscriber)->principal == post.principal;
  forward.events_first = answer_events;
  forward.rewrite = [&answers](const codec::ResponseHead& response, std::string body, codec::ResponseHead& shown) {
    shown.fields.set("Content-Type", "application/json");
    if (response.status == 202) shown.status = 200, shown.reason.clear();  // all of the rest were notifications
    const auto begin = body.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) return "[" + answers + "]";
    if (body[begin] == '[') return body.insert(begin + 1, answers + ",");
    return "[" + answers + "," + body + "]";
  };
  co_await forward.run();
}

net::Task<std::string> Endpoint::member_answer(Post& post, SubscriberId subscriber, const codec::Message& message) {
  if (message.duplicate_members || message.id_is_null || !message.has_uri) {
    co_return codec::error_response(message.id_json, codec::error_codes::invalid_request, "not a valid request");
  }
  const bool accepted = co_await principal_accepted(post, subscriber);
  if (!accepted)
    co_return codec::error_response(message.id_json, codec::error_codes::server_error,
                                    "not this session's credentials");
  Pending::Wait wait(shell_.pending);
  if (message.method == "resources/subscribe") {
    shell_.engine.apply(SubscribeAsked{subscriber, wait.id(), message.uri});
  } else {
    shell_.engine.apply(UnsubscribeAsked{subscriber, wait.id(), message.uri});
  }
  const std::optional<EngineAnswer> answer = co_await wait.answer(engine_answers_within);
  co_return message_of(answer, message.id_json);
}

// Shadow: the client's subscribe travels on as it is, and the engine watches beside it.
void Endpoint::shadow_subscribe(SubscriberId subscriber, const codec::Message& message) {
  if (!message.has_uri || message.duplicate_members) return;
  if (sessions_.find(subscriber)->strategy != Strategy::poll) return;
  Pending::Wait unanswered(shell_.pending);
  if (message.method == "resources/subscribe") {
    shell_.engine.apply(SubscribeAsked{subscriber, unanswered.id(), message.uri});
  } else {
    shell_.engine.apply(UnsubscribeAsked{subscriber, unanswered.id(), message.uri});
  }
}

}  // namespace freshet::session
