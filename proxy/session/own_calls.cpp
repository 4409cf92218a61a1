#include "proxy/session/own_calls.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/mcp.hpp"
#include "proxy/codec/url.hpp"
#include "proxy/net/alarm.hpp"
#include "proxy/net/log.hpp"
#include "proxy/session/modern.hpp"
#include "proxy/session/upstream_stream.hpp"

namespace freshet::session {

namespace {

constexpr int redirects_max = 3;
// An upstream stream ends its openers' waits itself, when it is there or given up.
constexpr auto as_long_as_it_takes = std::chrono::hours(24 * 365);

Failure failure_of(const net::error_code& ec) {
  if (ec == net::asio::error::timed_out) return Failure::timeout;
  if (ec == net::asio::error::operation_aborted) return Failure::cancelled;
  if (ec == net::HttpError::bad_message || ec == net::HttpError::head_limit) return Failure::malformed;
  return Failure::connection;
}

bool keeps_method(int status) {
  return status == 307 || status == 308;
}

}  // namespace

Carried carried_of(const codec::RequestHead& client) {
  Carried carried{.fields = client.fields, .query = {}};
  codec::remove_hop_by_hop(carried.fields);
  for (const std::string_view name :
       {"Host", "Content-Type", "Content-Length", "Content-Encoding", "Accept", "Accept-Encoding", "Last-Event-ID",
        "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Origin", "Cache-Control", "Pragma"}) {
    carried.fields.erase(name);
  }
  const auto query = client.target.find('?');
  if (query != std::string::npos) carried.query = client.target.substr(query);
  return carried;
}

OwnCalls::OwnCalls(Shell& shell, Sessions& sessions)
    : shell_(shell), sessions_(sessions), id_prefix_("freshet-" + random_token().substr(0, 16) + "-") {}

std::string OwnCalls::next_id() {
  return "\"" + id_prefix_ + std::to_string(++last_id_) + "\"";
}

codec::RequestHead OwnCalls::own_head(const Upstream& upstream, Carried carried) {
  codec::RequestHead head;
  head.method = "POST";
  head.target = upstream.settings().url.path + carried.query;
  head.fields = std::move(carried.fields);
  head.fields.set("Content-Type", "application/json");
  head.fields.set("Accept", "application/json, text/event-stream");
  head.fields.set("Accept-Encoding", "identity");
  return head;
}

codec::RequestHead OwnCalls::post_head(const Session& session) const {
  return post_head(session, session.carried);
}

codec::RequestHead OwnCalls::post_head(const Session& session, Carried carried) {
  codec::RequestHead head = own_head(session.upstream, std::move(carried));
  if (session.upstream_id) head.fields.set("Mcp-Session-Id", *session.upstream_id);
  if (!session.protocol_version.empty()) head.fields.set("MCP-Protocol-Version", session.protocol_version);
  return head;
}

void OwnCalls::perform(const SendRead& effect) {
  shell_.tasks.spawn(afterwards(read(effect)));
}
void OwnCalls::perform(const SendNativeSubscribe& effect) {
  shell_.tasks.spawn(afterwards(native_subscribe(effect)));
}
void OwnCalls::perform(const SendNativeUnsubscribe& effect) {
  shell_.tasks.spawn(afterwards(native_unsubscribe(effect)));
}
void OwnCalls::perform(const SendListPage& effect) {
  shell_.tasks.spawn(afterwards(list_page(effect)));
}

void OwnCalls::give_up(ReadId read) {
  shell_.tasks.spawn(afterwards(end_unsent(read)));
}

// What ends without waiting for anything would report its outcome inside the event that it is performed for.
net::Task<> OwnCalls::afterwards(net::Task<> call) {
  co_await net::asio::post(net::use_task);
  co_await std::move(call);
}

net::Task<> OwnCalls::list_page(SendListPage effect) {
  const std::string params = effect.cursor ? "{\"cursor\":" + codec::quote(*effect.cursor) + "}" : "{}";
  net::Result<Answer> answer = co_await call_healing(effect.via, {"resources/list", params, {}, effect.timeout});
  ListOutcome outcome = Failed{Failure::connection};
  if (answer) {
    outcome = list_outcome(*answer, effect.cursor.has_value(), shell_.wall_now());
  } else {
    outcome = Failed{failure_of(answer.error())};
  }
  shell_.engine.apply(ListPageEnded{effect.page, std::move(outcome)});
}

net::Task<> OwnCalls::read(SendRead effect) {
  Upstream& upstream = *shell_.upstreams[index(effect.upstream)];
  net::Result<Answer> answer = co_await call_healing(
      effect.via, {"resources/read", "{\"uri\":" + codec::quote(effect.uri) + "}", effect.uri, effect.timeout});
  ReadOutcome outcome = Failed{Failure::connection};
  if (answer) {
    outcome = read_outcome(*answer, shell_.engine.engine().known(effect.read), upstream.volatile_parts(effect.uri),
                           shell_.wall_now());
  } else {
    outcome = Failed{failure_of(answer.error())};
  }
  shell_.engine.apply(ReadEnded{effect.read, std::move(outcome), false});
}

net::Task<> OwnCalls::end_unsent(ReadId read) {
  shell_.engine.apply(ReadEnded{read, Failed{Failure::cancelled}, false});
  co_return;
}

net::Task<> OwnCalls::native_subscribe(SendNativeSubscribe effect) {
  NativeOutcome outcome = Failed{Failure::cancelled};
  const bool stream = co_await upstream_stream_opens(effect.subscriber, as_long_as_it_takes);
  const Session* session = sessions_.find(effect.subscriber);
  if (stream && session != nullptr && session->listen) {
    outcome = listened(*session->listen, effect.uri);
  } else if (stream) {
    outcome = co_await native(effect.subscriber, "resources/subscribe", effect.uri);
  } else if (sessions_.find(effect.subscriber) != nullptr) {
    shell_.engine.apply(UpstreamStreamRefused{effect.subscriber});
    outcome = NotSupported{};
  }
  shell_.engine.apply(NativeSubscribeEnded{effect.subscriber, effect.uri, effect.generation, std::move(outcome)});
}

// A native subscription without a stream to be notified on would be a dead start.
net::Task<bool> OwnCalls::upstream_stream_opens(SubscriberId subscriber, std::chrono::nanoseconds limit) {
  Session* session = sessions_.find(subscriber);
  if (session == nullptr) co_return false;
  ensure_upstream_stream(*session);
  if (session->upstream_stream == nullptr) co_return false;
  net::OneShot<bool> opened(shell_.executor);
  session->upstream_stream->tell_when_open(opened);
  const std::optional<bool> open = co_await opened.wait(limit);
  session = sessions_.find(subscriber);
  if (session != nullptr && session->upstream_stream != nullptr) session->upstream_stream->forget(opened);
  co_return open.value_or(false);
}

// A modern stream subscribes to all of its URIs at once: what the upstream acknowledged is subscribed.
NativeOutcome OwnCalls::listened(const Listen& listen, const std::string& uri) {
  const auto& uris = listen.acknowledged.resource_uris;
  if (std::ranges::find(uris, uri) != uris.end()) return Accepted{};
  return Rejected{};
}

net::Task<> OwnCalls::native_unsubscribe(SendNativeUnsubscribe effect) {
  const Session* session = sessions_.find(effect.subscriber);
  if (session != nullptr && session->listen) {  // it ends with its stream
    shell_.engine.apply(NativeUnsubscribeEnded{effect.subscriber, effect.uri, effect.generation, Accepted{}});
    co_return;
  }
  NativeOutcome outcome = co_await native(effect.subscriber, "resources/unsubscribe", effect.uri);
  shell_.engine.apply(NativeUnsubscribeEnded{effect.subscriber, effect.uri, effect.generation, std::move(outcome)});
}

net::Task<NativeOutcome> OwnCalls::native(SubscriberId subscriber, std::string method, std::string uri) {
  const Session* session = sessions_.find(subscriber);
  if (session == nullptr) co_return Failed{Failure::cancelled};
  shell_.engine.metrics().session_request(session->upstream.id());
  const Duration timeout = session->upstream.settings().reads.timeout;
  net::Result<Answer> answer =
      co_await call(subscriber, {std::move(method), "{\"uri\":" + codec::quote(uri) + "}", {}, timeout});
  if (!answer) co_return Failed{failure_of(answer.error())};
  co_return native_outcome(*answer, shell_.wall_now());
}

net::Task<net::Result<Answer>> OwnCalls::call_healing(SubscriberId subscriber, Call wanted) {
  const Session* session = sessions_.find(subscriber);
  const std::optional<std::string> upstream_id = session != nullptr ? session->upstream_id : std::nullopt;
  net::Result<Answer> answer = co_await call(subscriber, wanted);
  session = sessions_.find(subscriber);
  if (!answer || !session_refused(*answer) || session == nullptr || session->listen) co_return answer;
  const bool healed = co_await heal(subscriber, upstream_id);
  if (!healed) co_return answer;
  net::Result<Answer> again = co_await call(subscriber, wanted);
  if (again) healing_proved(subscriber, !session_refused(*again));
  co_return again;
}

net::Task<net::Result<Answer>> OwnCalls::call(SubscriberId subscriber, Call wanted) {
  Session* session = sessions_.find(subscriber);
  if (session == nullptr) co_return net::error_code(net::asio::error::operation_aborted);
  codec::RequestHead head = post_head(*session);
  std::string params = std::move(wanted.params_json);
  if (session->listen) {
    add_mirrored_fields(head.fields, session->protocol_version, wanted.method, wanted.name);
    params = with_meta(params, session->protocol_version);
  }
  std::string id = next_id();
  std::string body = codec::request(id, wanted.method, params);
  co_return co_await exchange(session->upstream, std::move(head), std::move(body), std::move(id), wanted.timeout);
}

// What a modern server declares (2026-07-28 server/discover), asked in a client's name.
net::Task<std::optional<codec::InitializeResult>> OwnCalls::discover(Upstream& upstream, Carried carried) {
  codec::RequestHead head = own_head(upstream, std::move(carried));
  add_mirrored_fields(head.fields, modern_version, "server/discover", {});
  std::string id = next_id();
  std::string body = codec::request(id, "server/discover", with_meta("{}", modern_version));
  shell_.engine.metrics().session_request(upstream.id());
  const Duration timeout = upstream.settings().reads.timeout;
  net::Result<Answer> answer = co_await exchange(upstream, std::move(head), std::move(body), std::move(id), timeout);
  if (!answer || answer->status != 200) co_return std::nullopt;
  codec::InitializeResult result = codec::read_initialize_result(answer->message);
  if (!result.ok) co_return std::nullopt;
  co_return result;
}

// One POST and its answer, all within `timeout`. Follows a redirect that keeps the method, on the same origin only
// (RFC 9110 §15.4): elsewhere the credentials must not go.
net::Task<net::Result<Answer>> OwnCalls::exchange(Upstream& upstream, codec::RequestHead head, std::string body,
                                                  std::string id_json, std::chrono::nanoseconds timeout) {
  const net::Clock::time_point until = net::after(timeout);
  if (const auto problem = upstream.prepare(head)) {
    log::error("secret_unreadable", {{"upstream", upstream.name()}, {"reason", *problem}});
    co_return net::error_code(net::asio::error::access_denied);
  }
  for (int hop = 0;; ++hop) {
    net::ClientRequest request{.head = head, .body = body, .safe_to_repeat = true};
    request.head_time_max = std::chrono::duration_cast<std::chrono::milliseconds>(until - net::Clock::now());
    auto response = co_await upstream.http().send(std::move(request));
    if (!response) co_return response.error();
    if (keeps_method(response->head().status) && hop < redirects_max) {
      const auto base = codec::parse_url(upstream.origin_url() + head.target);
      const auto next =
          base ? codec::resolve_redirect(*base, response->head().fields.find("Location").value_or("")) : base;
      if (base && next && codec::same_origin(*base, *next)) {
        head.target = next->target;
        continue;
      }
    }
    ReplyCollector collected(response->head(), id_json, shell_.settings.limits.read_bytes_max);
    net::Alarm alarm(shell_.executor, [&response] { response->close(); });
    alarm.at(until);
    while (!collected.found() && !collected.too_large()) {
      const auto piece = co_await response->read_some();
      if (!piece) {
        const bool late = net::Clock::now() >= until;
        co_return late ? net::error_code(net::asio::error::timed_out) : piece.error();
      }
      if (piece->empty()) break;
      collected.feed(*piece);
    }
    collected.end();
    co_return answer_of(response->head(), collected);
  }
}

}  // namespace freshet::session
