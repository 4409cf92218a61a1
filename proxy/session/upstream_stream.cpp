#include "proxy/session/upstream_stream.hpp"

#include <algorithm>
#include <utility>

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/media_type.hpp"
#include "proxy/net/log.hpp"
#include "proxy/session/modern.hpp"
#include "proxy/session/own_calls.hpp"

namespace freshet::session {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds head_time_max = 30s;
constexpr std::chrono::milliseconds retry_floor = 100ms;  // a longer wait than `retry` says is always allowed
constexpr std::chrono::milliseconds retry_ceiling = 60s;
constexpr auto lived = 5s;         // a stream that lasted so long was no flap
constexpr unsigned flaps_max = 6;  // then there is no stream: the upstream closes it at once, as stateless ones do

// The client's id, so that what the upstream tags for it needs no change.
std::string listen_request(const Listen& listen, std::string_view version) {
  const std::string filter = codec::listen_filter_json(listen.native);
  return codec::request(listen.id_json, "subscriptions/listen",
                        with_meta("{\"notifications\":" + filter + "}", version));
}

}  // namespace

void UpstreamStream::start(Shell& shell, Sessions& sessions, OwnCalls& calls, Session& session) {
  auto stream = std::make_unique<UpstreamStream>(shell, sessions, calls, session);
  session.upstream_stream = stream.get();
  shell.tasks.spawn(run(std::move(stream)));
}

UpstreamStream::UpstreamStream(Shell& shell, Sessions& sessions, OwnCalls& calls, Session& session)
    : shell_(shell),
      sessions_(sessions),
      calls_(calls),
      upstream_(session.upstream),
      subscriber_(session.subscriber),
      modern_(session.listen.has_value()),
      work_(shell.executor),
      retry_(shell.executor) {}

UpstreamStream::~UpstreamStream() {
  settle_waiting(false);
  Session* session = sessions_.find(subscriber_);
  if (session != nullptr && session->upstream_stream == this) session->upstream_stream = nullptr;
}

void UpstreamStream::stop() {
  stopping_ = true;
  work_.cancel();
}

void UpstreamStream::tell_when_open(net::OneShot<bool>& opened) {
  if (open_) return opened.set(true);
  waiting_.push_back(&opened);
}

void UpstreamStream::settle_waiting(bool open) {
  for (net::OneShot<bool>* waiting : std::exchange(waiting_, {})) waiting->set(open);
}

net::Task<> UpstreamStream::run(std::unique_ptr<UpstreamStream> self) {
  self->work_.spawn(self->keep_open());
  co_await self->work_.join();
}

net::Task<> UpstreamStream::keep_open() {
  while (!stopping_) {
    const Ending ending = co_await open_and_read();
    open_ = false;
    report(ending);
    if (ending != Ending::broken) co_return;
    co_await wait_before_retry();
  }
}

void UpstreamStream::report(Ending ending) {
  const Session* session = sessions_.find(subscriber_);
  if (session == nullptr) return;
  switch (ending) {
    case Ending::stopped:
      return;
    case Ending::broken:
      if (!std::exchange(lost_, true)) shell_.engine.apply(UpstreamStreamLost{subscriber_});
      return;
    case Ending::refused:
      log::info("upstream_offers_no_stream", {{"upstream", upstream_.name()}});
      settle_waiting(false);
      shell_.engine.apply(UpstreamStreamRefused{subscriber_});
      return;
    case Ending::session_lost:
      settle_waiting(false);
      stopping_ = true;  // healing opens another one
      if (session->made_anew && !was_open_) calls_.healing_proved(subscriber_, false);
      calls_.spawn_heal(subscriber_, opened_in_);
      return;
  }
}

net::Task<UpstreamStream::Ending> UpstreamStream::open_and_read() {
  if (!response_) {
    const Session* session = sessions_.find(subscriber_);
    if (session == nullptr) co_return Ending::stopped;
    opened_in_ = session->upstream_id;
    codec::RequestHead head = calls_.stream_head(*session);
    throttled_for_ = {};
    if (!last_event_id_.empty()) head.fields.set("Last-Event-ID", last_event_id_);
    if (const auto problem = upstream_.prepare(head)) {
      log::error("secret_unreadable", {{"upstream", upstream_.name()}, {"reason", *problem}});
      co_return Ending::refused;
    }
    shell_.engine.metrics().session_request(upstream_.id());
    const std::string listen = session->listen ? listen_request(*session->listen, session->protocol_version) : "";
    net::ClientRequest request{
        .head = std::move(head), .body = listen, .lifetime = net::Lifetime::stream, .head_time_max = head_time_max};
    auto response = co_await upstream_.http().send(std::move(request));
    if (stopping_) co_return Ending::stopped;
    if (!response) {
      ++flaps_;
      co_return Ending::broken;
    }
    const Ending verdict = ending_of(response->head(), modern_);
    if (verdict != Ending::stopped) {
      ++flaps_;
      const auto retry_after = retry_after_of(response->head().fields, shell_.wall_now());
      throttled_for_ = std::chrono::duration_cast<std::chrono::milliseconds>(retry_after.value_or(Duration{}));
      co_return flaps_ > flaps_max ? Ending::refused : verdict;
    }
    response_ = std::make_unique<net::ClientResponse>(std::move(*response));
  }
  if (!modern_) opened();  // a listen stream is open once it was acknowledged
  const auto since = net::Clock::now();
  brought_event_ = false;
  const Ending ending = co_await read(*response_);
  response_.reset();
  flaps_ = brought_event_ || net::Clock::now() - since >= lived ? 0 : flaps_ + 1;
  co_return ending == Ending::broken&& flaps_ > flaps_max ? Ending::refused : ending;
}

// Ending::stopped stands for: none, it is the stream.
UpstreamStream::Ending UpstreamStream::ending_of(const codec::ResponseHead& head, bool modern) {
  if (head.status == 200) {
    const bool stream = codec::is_event_stream(head.fields.find("Content-Type").value_or("")) &&
                        !head.fields.contains("Content-Encoding");
    return stream ? Ending::stopped : Ending::refused;
  }
  if (head.status == 404) return modern ? Ending::refused : Ending::session_lost;
  const bool passing = head.status == 409 || head.status == 429 || head.status >= 500;
  return passing && head.status != 501 ? Ending::broken : Ending::refused;
}

void UpstreamStream::opened() {
  open_ = was_open_ = true;
  settle_waiting(true);
  if (std::exchange(lost_, false)) shell_.engine.apply(UpstreamStreamRestored{subscriber_});
}

net::Task<UpstreamStream::Ending> UpstreamStream::read(net::ClientResponse& response) {
  codec::SseDecoder events({.data_bytes_max = shell_.settings.limits.event_bytes_max});
  for (;;) {
    const auto piece = co_await response.read_some();
    if (stopping_) co_return Ending::stopped;
    if (!piece || piece->empty()) co_return Ending::broken;
    std::string_view bytes = *piece;
    while (auto event = events.next(bytes)) take(std::move(*event));
  }
}

void UpstreamStream::take(codec::SseEvent event) {
  brought_event_ |= event.has_data() || (event.id && *event.id != last_event_id_);
  if (event.id) last_event_id_ = *event.id;
  if (event.retry_ms) retry_after_ = std::chrono::milliseconds(std::min<std::uint64_t>(*event.retry_ms, 3'600'000));
  if (event.oversized) {
    log::warn("event_dropped", {{"reason", "limits.event_bytes_max"}, {"upstream", upstream_.name()}});
    return;
  }
  Session* session = sessions_.find(subscriber_);
  if (!event.has_data() || session == nullptr) return;
  const auto envelope = codec::read_envelope(event.data);
  if (envelope && !envelope->is_batch) {
    const codec::Message& message = envelope->messages.front();
    if (modern_ && take_listen(*session, message, event.data)) return;
    if (message.method == "notifications/resources/updated" && message.has_uri) {
      auto data = std::make_shared<const std::string>(std::move(event.data));
      return shell_.engine.apply(UpdateArrived{subscriber_, message.uri, std::move(data)});
    }
    if (message.method == "notifications/resources/list_changed") shell_.engine.apply(ListChangeArrived{subscriber_});
    if (message.method == "ping" && message.kind == codec::MessageKind::request && !session->attached) {
      return calls_.answer_ping(*session, message.id_json);
    }
  }
  sessions_.relay(*session, std::move(event.data), std::move(event.event_type));
}

// What belongs to the listen stream itself: its acknowledgement, and its end, which 2026-07-28 tells in two ways (a
// result: subscriptions, Graceful Closure; notifications/cancelled: cancellation).
bool UpstreamStream::take_listen(Session& session, const codec::Message& message, const std::string& data) {
  const bool ended = message.kind == codec::MessageKind::response || message.method == "notifications/cancelled";
  if (ended) {  // opened again, as after a break
    response_->close();
    return true;
  }
  if (message.method != "notifications/subscriptions/acknowledged") return !open_;
  session.listen->acknowledged = codec::read_listen_filter(message.params.in(data)).value_or(codec::ListenFilter{});
  opened();
  return true;
}

// At least what the upstream asked for; longer each time that the stream brought nothing.
net::Task<> UpstreamStream::wait_before_retry() {
  const auto backoff = retry_floor * (1LL << std::min(flaps_, 10U));
  const auto own_wait = std::min<std::chrono::milliseconds>(backoff, retry_ceiling);
  retry_.expires_after(std::max({retry_after_, throttled_for_, own_wait}));
  net::error_code ec;
  co_await retry_.async_wait(net::asio::redirect_error(net::use_task, ec));
  if (ec) stopping_ = true;
}

}  // namespace freshet::session
