#include "proxy/session/sessions.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <openssl/rand.h>

#include "proxy/codec/mcp.hpp"
#include "proxy/net/log.hpp"
#include "proxy/session/rollout.hpp"
#include "proxy/session/upstream_stream.hpp"

namespace freshet::session {

namespace {
constexpr std::size_t outlived_max = 1'000;
constexpr auto recheck_min = std::chrono::seconds(1);
}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) throw std::runtime_error("no randomness");
  std::string text;
  for (const unsigned char byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

Sessions::Sessions(Shell& shell, std::function<void(Session&)> on_expired)
    : shell_(shell),
      on_expired_(std::move(on_expired)),
      sessions_(shell.settings.upstreams.size()),
      streams_(shell.settings.upstreams.size()) {}

Session& Sessions::open(Upstream& upstream, NewSession made) {
  const config::Streams& streams = shell_.settings.streams;
  // A modern stream cannot be resumed, so its events have no ids.
  Outbox outbox(made.listen ? "" : std::string(stream_prefix) + random_token().substr(0, 12),
                {.queued_bytes_max = streams.outbox_bytes_max,
                 .replay_events_max = streams.replay_events_max,
                 .replay_bytes_max = streams.replay_bytes_max});
  auto session =
      std::make_unique<Session>(shell_.executor, made.id.empty() ? "freshet-" + random_token() : std::move(made.id),
                                upstream, SubscriberId{++last_subscriber_}, std::move(outbox));
  session->upstream_id = std::move(made.upstream_id);
  session->principal = made.principal;
  session->carried = std::move(made.carried);
  session->protocol_version = std::move(made.protocol_version);
  session->initialize_request = std::move(made.initialize_request);
  session->strategy = choose_strategy(made.declared);
  session->listen = std::move(made.listen);
  session->acts = acts_for(upstream.settings(), session->id);
  Session& placed = *session;
  if (Session* before = find(placed.id)) close(before->subscriber);
  by_id_.emplace(placed.id, &placed);
  by_subscriber_.emplace(placed.subscriber, std::move(session));
  if (placed.listen) listens_.emplace(std::pair(upstream.id(), placed.principal), placed.subscriber);
  ++sessions_[index(upstream.id())];
  show_counts(upstream.id());
  shell_.engine.apply(SubscriberOpened{.subscriber = placed.subscriber,
                                       .upstream = upstream.id(),
                                       .principal = placed.principal,
                                       .declared = std::move(made.declared),
                                       .shadow = !placed.acts,
                                       .listen = placed.listen.has_value()});
  placed.last_used = placed.detached_at = net::Clock::now();
  watch_expiry(placed);
  return placed;
}

void Sessions::close(SubscriberId subscriber) {
  const auto it = by_subscriber_.find(subscriber);
  if (it == by_subscriber_.end()) return;
  Session& session = *it->second;
  const UpstreamId upstream = session.upstream.id();
  if (session.upstream_stream != nullptr) session.upstream_stream->stop();
  detach(session);
  by_id_.erase(session.id);
  std::erase_if(listens_, [&](const auto& entry) { return entry.second == subscriber; });
  by_subscriber_.erase(it);
  --sessions_[index(upstream)];
  show_counts(upstream);
  shell_.engine.apply(SubscriberClosed{subscriber});
}

void Sessions::close_all() {
  while (!by_subscriber_.empty()) close(by_subscriber_.begin()->first);
}

Session* Sessions::find(std::string_view id) {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

Session* Sessions::find(SubscriberId subscriber) {
  const auto it = by_subscriber_.find(subscriber);
  return it == by_subscriber_.end() ? nullptr : it->second.get();
}

Session* Sessions::find_listen(UpstreamId upstream, const Principal& principal, std::string_view uri) {
  Session* newest = nullptr;
  const auto [begin, end] = listens_.equal_range({upstream, principal});
  for (auto it = begin; it != end; ++it) {
    Session* session = find(it->second);
    if (std::ranges::find(session->listen->asked.resource_uris, uri) != session->listen->asked.resource_uris.end()) {
      newest = session;
    }
  }
  return newest;
}

std::vector<SubscriberId> Sessions::listens(UpstreamId upstream, const Principal& principal) const {
  std::vector<SubscriberId> found;
  const auto [begin, end] = listens_.equal_range({upstream, principal});
  for (auto it = begin; it != end; ++it) found.push_back(it->second);
  return found;
}

void Sessions::for_each(const std::function<void(Session&)>& visit) {
  for (const auto& [subscriber, session] : by_subscriber_) visit(*session);
}

void Sessions::remember_outlived(std::string id) {
  outlived_.push_back(std::move(id));
  if (outlived_.size() > outlived_max) outlived_.pop_front();
}

bool Sessions::outlived(std::string_view id) const {
  return std::ranges::find(outlived_, id) != outlived_.end();
}

void Sessions::settings_changed() {
  for (const auto& [subscriber, session] : by_subscriber_) {
    if (session->attached) {
      session->wake.cancel();
    } else {
      watch_expiry(*session);
    }
  }
}

void Sessions::touch(Session& session) {
  session.last_used = net::Clock::now();
  session.used = true;
}

std::uint64_t Sessions::attach(Session& session, bool resumed) {
  if (session.attached) detach(session);
  session.attached = true;
  session.overflowed = false;
  ++streams_[index(session.upstream.id())];
  show_counts(session.upstream.id());
  const std::uint64_t attachment = ++session.attachment;
  shell_.engine.apply(StreamAttached{session.subscriber, resumed});
  return attachment;
}

void Sessions::detach(Session& session) {
  if (!session.attached) return;
  session.attached = false;
  session.detached_at = net::Clock::now();
  session.wake.cancel();
  --streams_[index(session.upstream.id())];
  show_counts(session.upstream.id());
  shell_.engine.apply(StreamDetached{session.subscriber});
  for (const NoticeId notice : session.outbox.drop_notices()) shell_.engine.apply(NoticeSettled{notice, false});
  watch_expiry(session);
}

void Sessions::perform(const Notify& effect) {
  Session* session = find(effect.subscriber);
  if (session == nullptr) return;
  std::string data;
  if (effect.verbatim) {
    data = *effect.verbatim;
  } else {
    const auto bound_ms = std::chrono::ceil<std::chrono::milliseconds>(effect.bound).count();
    const std::int64_t observed_ms = effect.observed_at.time_since_epoch().count();
    data = codec::updated_notification(effect.uri,
                                       {.strategy = std::string(to_string(effect.strategy)),
                                        .version = effect.version,
                                        .observed_at = observed_ms > 0 ? codec::iso8601(observed_ms) : "",
                                        .staleness_bound_ms = bound_ms,
                                        .subscription_id_json = session->listen ? session->listen->id_json : ""});
  }
  session->outbox.push(effect.notice, std::move(data));
  session->wake.cancel();
}

void Sessions::perform(const Withdraw& effect) {
  if (Session* session = find(effect.subscriber)) session->outbox.withdraw(effect.notice);
}

void Sessions::perform(const Relay& effect) {
  if (Session* session = find(effect.subscriber)) relay(*session, *effect.message, {});
}

void Sessions::perform(const NotifyListChanged& effect) {
  Session* session = find(effect.subscriber);
  if (session == nullptr) return;
  if (!session->listen) return relay(*session, codec::list_changed_notification(""), {});
  if (!session->listen->asked.resources_list_changed) return;  // nor may it be told (2026-07-28 subscriptions)
  relay(*session, codec::list_changed_notification(session->listen->id_json), {});
}

// Past the limit the stream ends: a message of the upstream is never dropped in silence (2025-11-25 has no way to say
// so on the stream).
void Sessions::relay(Session& session, std::string data, std::string event_type) {
  if (session.outbox.push(std::move(data), std::move(event_type))) {
    session.wake.cancel();
    return;
  }
  shell_.engine.metrics().message_dropped(session.upstream.id());
  if (const std::size_t count = session.overflows.occurred(net::Clock::now())) {
    log::warn("messages_dropped",
              {{"upstream", session.upstream.name()},
               {"reason", "what waits for the client exceeds streams.outbox_bytes_max"},
               {"client", session.attached ? "too slow: its stream ends, so that it notices" : "away"},
               {"count", std::to_string(count)}});
  }
  session.overflowed = true;
  session.wake.cancel();
}

// Idle: no stream and no request for long, or none at all after initialize.
net::Clock::time_point Sessions::expires_at(const Session& session) const {
  const auto& limits = session.upstream.settings().sessions;
  return std::max(session.last_used, session.detached_at) + (session.used ? limits.idle_max : limits.unused_max);
}

// A client that is away for so long gets nothing of the upstream's stream either.
net::Clock::time_point Sessions::absent_at(const Session& session) const {
  return std::max(session.last_used, session.detached_at) + session.upstream.settings().sessions.absent_grace;
}

void Sessions::watch_expiry(Session& session) {
  const auto next = session.upstream_stream != nullptr ? absent_at(session) : expires_at(session);
  session.expiry.expires_at(std::max(next, net::Clock::now() + recheck_min));
  session.expiry.async_wait([this, subscriber = session.subscriber](const net::error_code& ec) {
    if (!ec) expire(subscriber);
  });
}

void Sessions::expire(SubscriberId subscriber) {
  Session* session = find(subscriber);
  if (session == nullptr || session->attached) return;
  if (session->upstream_stream != nullptr && net::Clock::now() >= absent_at(*session)) session->upstream_stream->stop();
  if (net::Clock::now() < expires_at(*session)) return watch_expiry(*session);
  log::info("session_expired", {{"upstream", session->upstream.name()}, {"used", session->used ? "true" : "false"}});
  on_expired_(*session);
  close(subscriber);
}

void Sessions::show_counts(UpstreamId upstream) {
  shell_.engine.metrics().set_sessions(upstream, sessions_[index(upstream)]);
  shell_.engine.metrics().set_streams(upstream, streams_[index(upstream)]);
}

}  // namespace freshet::session
