#include "proxy/session/forwarding.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "proxy/codec/media_type.hpp"
#include "proxy/net/log.hpp"
#include "proxy/session/event_relay.hpp"
#include "proxy/session/exchange_answers.hpp"
#include "proxy/session/oauth_rewrite.hpp"

namespace freshet::session {

namespace {

// Answers up to this size are read whole before they go on, so that one that refuses the session can be told in time.
constexpr std::size_t small_bytes = 4096;

// Of a notification, beside the URI that it names.
constexpr std::size_t envelope_bytes = 4096;

bool is_event_stream(const codec::ResponseHead& head) {
  return codec::is_event_stream(head.fields.find("Content-Type").value_or(""));
}

std::optional<std::size_t> content_length(const codec::ResponseHead& head) {
  const auto text = head.fields.find("Content-Length");
  std::size_t length = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), length).ec != std::errc{})
    return std::nullopt;
  return length;
}

}  // namespace

Forwarding::Forwarding(Shell& shell, Sessions& sessions, OwnCalls& calls, Upstream& upstream,
                       net::ServerExchange& client, const codec::RequestHead& request)
    : shell_(shell), sessions_(sessions), calls_(calls), upstream_(upstream), client_(client), head_(request) {}

net::Task<ForwardResult> Forwarding::run() {
  const bool refused = co_await over_budget();
  if (refused) co_return ForwardResult{.status = 429};
  shell_.engine.apply(ClientRequestSent{upstream_.id()});
  Session* session = subscriber ? sessions_.find(*subscriber) : nullptr;
  const bool may_outlast = !id_json.empty() || head_.method == "GET";  // a request, or an event stream
  if (session != nullptr && may_outlast) session->calls.push_back(&call_.emplace(id_json));
  ForwardResult result;
  std::optional<Duration> retry_after;
  net::Result<net::ClientResponse> response = co_await send();
  if (response) {
    retry_after = retry_after_of(response->head().fields, shell_.wall_now());
    if (declines(response->head())) {
      result = {.status = response->head().status, .declined = true};
    } else {
      result = co_await relay(std::move(*response));
    }
  } else if (call_ && call_->cancelled()) {
    co_await answer_error(client_, 200, id_json, codec::error_codes::server_error,
                          "cancelled before it was sent to the server");
  } else if (response.error() == net::asio::error::operation_aborted) {
    result.given_up = true;
  } else {
    co_await answer_unavailable(client_, id_json, response.error());
    log::warn("upstream_unavailable", {{"upstream", upstream_.name()}, {"reason", response.error().message()}});
  }
  session = subscriber ? sessions_.find(*subscriber) : nullptr;
  if (session != nullptr && call_) session->calls.remove(&*call_);
  shell_.engine.apply(ClientRequestEnded{upstream_.id(), result.status, retry_after, result.given_up});
  co_return result;
}

bool Forwarding::declines(const codec::ResponseHead& from) const {
  constexpr std::array said_of_the_caller{401, 403, 404, 429};
  return stream_or_nothing && !is_event_stream(from) &&
         std::ranges::find(said_of_the_caller, from.status) == said_of_the_caller.end();
}

net::Task<bool> Forwarding::over_budget() {
  if (shell_.settings.partners[index(upstream_.settings().partner)].enforce != config::Enforce::all) co_return false;
  const auto wait = shell_.engine.engine().admit_client(upstream_.id(), shell_.engine.now().instant);
  if (!wait) co_return false;
  codec::ResponseHead answer{.status = 429};
  answer.fields.add("Retry-After", std::to_string(std::chrono::ceil<std::chrono::seconds>(*wait).count()));
  answer.fields.add("Content-Type", "text/plain; charset=utf-8");
  co_await client_.respond(std::move(answer), "the partner's request budget is spent");
  co_return true;
}

codec::RequestHead Forwarding::upstream_head() const {
  codec::RequestHead to = head_;
  to.target = upstream_.target_for(head_.target);
  const Session* session = subscriber ? sessions_.find(*subscriber) : nullptr;
  if (session == nullptr) return to;
  if (session->upstream_id) {
    to.fields.set("Mcp-Session-Id", *session->upstream_id);
  } else {
    to.fields.erase("Mcp-Session-Id");
  }
  return to;
}

net::Task<net::Result<net::ClientResponse>> Forwarding::send() {
  const Session* session = subscriber ? sessions_.find(*subscriber) : nullptr;
  sent_in_ = session != nullptr ? session->upstream_id : std::nullopt;
  net::ClientRequest request{
      .head = upstream_head(), .body = body, .keep_host = upstream_.settings().keep_host, .safe_to_repeat = read_only};
  if (wants_answer || rewrite) request.head.fields.set("Accept-Encoding", "identity");
  if (const auto problem = upstream_.prepare(request.head)) {
    log::error("secret_unreadable", {{"upstream", upstream_.name()}, {"reason", *problem}});
    co_return net::error_code(net::asio::error::access_denied);
  }
  if (stream_body) {
    if (const auto length = client_.head().fields.find("Content-Length"))
      request.head.fields.set("Content-Length", *length);
    request.next_piece = [this] { return client_.read_body_some(); };
  }
  if (never_waits) request.lifetime = net::Lifetime::stream;
  if (call_) request.on_dispatch = [this] { return !call_->cancelled(); };
  co_return co_await upstream_.http().send(std::move(request));
}

codec::ResponseHead Forwarding::client_head(const codec::ResponseHead& from) const {
  codec::ResponseHead to = from;
  codec::remove_hop_by_hop(to.fields);
  const Session* session = subscriber ? sessions_.find(*subscriber) : nullptr;
  if (session != nullptr && to.fields.contains("Mcp-Session-Id")) to.fields.set("Mcp-Session-Id", session->id);
  if (is_event_stream(from)) to.fields.set("X-Accel-Buffering", "no");
  if (!upstream_.settings().public_url.empty()) rewrite_challenge(to.fields, upstream_);
  return to;
}

// Worth reading before it goes on: it may say that the session is gone.
bool Forwarding::may_refuse_session(const codec::ResponseHead& from) const {
  const Session* session = subscriber ? sessions_.find(*subscriber) : nullptr;
  if (session == nullptr || session->listen) return false;
  if (is_event_stream(from) || from.fields.contains("Content-Encoding")) return false;
  if (from.status == 404 || from.status == 400 || from.status == 500) return true;
  const auto length = content_length(from);
  return length && *length <= small_bytes;
}

net::Task<ForwardResult> Forwarding::relay(net::ClientResponse response) {
  const bool events = is_event_stream(response.head());
  if (events && !events_first.empty()) co_return co_await relay_stream(std::move(response), events_first);
  if (rewrite && events) co_return co_await relay_rewritten_events(std::move(response));
  if (rewrite) co_return co_await relay_rewritten(std::move(response));
  if (may_refuse_session(response.head())) co_return co_await relay_small(std::move(response));
  co_return co_await relay_stream(std::move(response));
}

net::Task<ForwardResult> Forwarding::relay_small(net::ClientResponse response) {
  ForwardResult result{.status = response.head().status};
  std::string begun;
  bool whole = false;
  while (!whole && begun.size() <= small_bytes) {
    const auto piece = co_await response.read_some();
    if (!piece) {
      co_await answer_unavailable(client_, id_json, piece.error());
      co_return result;
    }
    whole = piece->empty();
    begun += *piece;
  }
  const bool may_refuse = response.head().status != 200 || begun.find("\"error\"") != std::string::npos;
  if (wants_answer || may_refuse) {
    ReplyCollector collected(response.head(), id_json, small_bytes);
    collected.feed(begun);
    collected.end();
    result.answer = answer_of(response.head(), collected);
  }
  if (session_refused(result.answer) && owner && head_.method == "POST" && !healed_) {
    healed_ = co_await calls_.heal(*subscriber, sent_in_);
    if (healed_) {
      auto again = co_await send();
      if (again) {
        ForwardResult repeated = co_await relay(std::move(*again));
        calls_.healing_proved(*subscriber, !session_refused(repeated.answer));
        co_return repeated;
      }
    }
  }
  if (!whole) {
    Answer answer = std::move(result.answer);
    result = co_await relay_stream(std::move(response), begun);
    if (!wants_answer) result.answer = std::move(answer);
    co_return result;
  }
  const auto written = co_await client_.respond(client_head(response.head()), begun);
  result.delivered = written.has_value();
  co_return result;
}

// `begun`: goes out first.
net::Task<ForwardResult> Forwarding::relay_stream(net::ClientResponse response, std::string_view begun) {
  ForwardResult result{.status = response.head().status};
  std::optional<ReplyCollector> collected;
  if (wants_answer) collected.emplace(response.head(), id_json, shell_.settings.limits.read_bytes_max);
  ReplyCollector* tap = collected ? &*collected : nullptr;
  codec::ResponseHead to = client_head(response.head());
  if (!events_first.empty()) to.fields.erase("Content-Length");  // it counts the upstream's events alone
  client_.begin(std::move(to));
  if (call_) call_->answered(shell_.executor, response);
  if (tap != nullptr) tap->feed(begun);
  if (!begun.empty()) co_await client_.write(begun);  // what fails here fails again below
  bool whole = false;
  if (is_event_stream(response.head())) {
    EventRelay events(client_, response, tap, shell_.settings.streams.keepalive_interval);
    events.tell(shell_.settings.limits.uri_bytes_max + envelope_bytes,
                [this](const std::string& data, bool delivered) { heed(data, delivered); });
    whole = co_await events.run(shell_.executor);
  } else {
    for (;;) {
      const auto piece = co_await response.read_some();
      whole = piece && piece->empty();
      if (!piece || piece->empty()) break;
      if (tap != nullptr) tap->feed(*piece);
      const auto written = co_await client_.write(*piece);
      if (!written) break;
    }
  }
  if (call_) call_->answer_ended();
  if (whole || (call_ && call_->cancelled())) {
    const auto finished = co_await client_.finish();
    result.delivered = whole && finished.has_value();
  }
  if (collected) {
    if (whole) collected->end();
    result.answer = answer_of(response.head(), *collected);
  }
  co_return result;
}

// What the upstream tells beside an answer counts as if it had come on the session's own stream, where the client has
// it already. A modern one tells on listen streams alone.
void Forwarding::heed(const std::string& data, bool delivered) {
  const Session* session = subscriber ? sessions_.find(*subscriber) : nullptr;
  if (session == nullptr || session->listen) return;
  const auto envelope = codec::read_envelope(data);
  if (!envelope || envelope->is_batch) return;
  const codec::Message& message = envelope->messages.front();
  if (message.method == "notifications/resources/list_changed") shell_.engine.apply(ListChangeArrived{*subscriber});
  if (message.method != "notifications/resources/updated" || !message.has_uri) return;
  shell_.engine.apply(UpdateArrived{*subscriber, message.uri, std::make_shared<const std::string>(data), delivered});
}

net::Task<ForwardResult> Forwarding::relay_rewritten(net::ClientResponse response) {
  ForwardResult result{.status = response.head().status};
  auto whole = co_await response.read_all(shell_.settings.limits.read_bytes_max);
  if (!whole) {
    co_await answer_unavailable(client_, id_json, whole.error());
    co_return result;
  }
  codec::ResponseHead to = client_head(response.head());
  const std::string rewritten = rewrite(response.head(), std::move(*whole), to);
  to.fields.erase("Content-Length");
  const auto written = co_await client_.respond(std::move(to), rewritten);
  result.delivered = written.has_value();
  co_return result;
}

// The head waits for the event that holds the answer, since both may change; other events keep their bytes.
net::Task<ForwardResult> Forwarding::relay_rewritten_events(net::ClientResponse response) {
  ForwardResult result{.status = response.head().status};
  codec::ResponseHead to = client_head(response.head());
  codec::SseDecoder events({.data_bytes_max = shell_.settings.limits.read_bytes_max});
  std::string out;
  std::size_t next_block = 0;  // where the block that is being read begins in `out`
  for (bool found = false; !found;) {
    const auto piece = co_await response.read_some();
    if (!piece) {
      co_await answer_unavailable(client_, id_json, piece.error());
      co_return result;
    }
    if (piece->empty()) break;
    std::string_view bytes = *piece;
    while (!found && !bytes.empty()) {
      const std::string_view before = bytes;
      const auto event = events.next(bytes);
      out += before.substr(0, before.size() - bytes.size());
      const std::size_t block_begin = event ? std::exchange(next_block, out.size()) : next_block;
      if (!event || codec::read_reply(event->data, id_json).kind != codec::Reply::Kind::result) continue;
      found = true;
      std::string shown = rewrite(response.head(), event->data, to);
      if (shown == event->data) continue;
      const std::size_t data = out.find(event->data, block_begin);
      if (data != std::string::npos) {
        out.replace(data, event->data.size(), shown);
      } else {  // it came in several data lines
        out.resize(block_begin);
        if (event->id) out += "id: " + *event->id + "\n";
        out += codec::format_event({}, event->event_type, shown);
      }
    }
    out += bytes;
    if (out.size() > shell_.settings.limits.read_bytes_max) break;
  }
  to.fields.erase("Content-Length");  // the upstream's counts the bytes before the change
  client_.begin(std::move(to));
  const auto written = co_await client_.write(out);
  if (!written) co_return result;
  EventRelay rest(client_, response, nullptr, shell_.settings.streams.keepalive_interval);
  const bool whole = co_await rest.run(shell_.executor);
  if (!whole) co_return result;
  const auto finished = co_await client_.finish();
  result.delivered = finished.has_value();
  co_return result;
}

}  // namespace freshet::session
