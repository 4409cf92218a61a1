// What each subscriber is owed, and when it is told. One notification on its way per subscription: what is found
// meanwhile merges into the next, and the last change is never lost.
#include "strategies/engine.hpp"

namespace freshet {

// There is something to tell this subscriber.
void Engine::found(Subscription& sub, Origin origin, std::optional<Instant> old_version_read) {
  if (sub.owes()) emit(NoticeCoalesced{sub.subscriber->upstream});
  sub.add_news(origin, now_.instant);
  sub.old_version_read = old_version_read;
  sub.verbatim.reset();
}

void Engine::tell(Subscription& sub) {
  const Subscriber& s = *sub.subscriber;
  if (!state::live(sub.state) || s.shadow || !s.attached || !sub.owes() || sub.notice) return;
  if (now_.instant < sub.quiet_until) {
    timers_.set({TimerKind::notify, sub.id}, sub.quiet_until);
    return;
  }
  const NoticeId notice{++last_id_};
  notices_[notice] = {sub.id, sub.news};
  sub.notice = notice;
  Notify effect{.notice = notice,
                .subscriber = s.id,
                .upstream = s.upstream,
                .uri = sub.uri,
                .origin = sub.origin,
                .strategy = sub.strategy,
                .verbatim = sub.verbatim,
                .version = {},
                .observed_at = {},
                .bound = bound(sub)};
  if (const std::optional<Version>& version = sub.watch->version; version && is_content(version->digest)) {
    effect.version = to_hex(version->digest);
    effect.observed_at = version->observed_at;
  }
  emit(std::move(effect));
}

void Engine::on(const NoticeSettled& e) {
  const auto it = notices_.find(e.notice);
  if (it == notices_.end()) return;  // withdrawn, or its subscriber is gone
  const auto [subscription, news] = it->second;
  notices_.erase(it);
  Subscription& sub = *subscriptions_.at(subscription);
  sub.notice.reset();
  if (e.delivered) {
    sub.told = std::max(sub.told, news);
    sub.quiet_until = now_.instant + upstream(sub.subscriber->upstream).notify_min_interval;
    emit(NoticeDelivered{sub.subscriber->upstream, sub.origin, now_.instant - sub.found,
                         sub.old_version_read ? std::optional(now_.instant - *sub.old_version_read) : std::nullopt});
  }
  tell(sub);
}

// The URI of an update may lie below the watched one; the watched one is then alive, and the client gets the bytes.
void Engine::on(const UpdateArrived& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return;
  bool told_exactly = false;
  for (auto& [uri, sub] : s->subscriptions) {
    if (!e.uri.starts_with(uri)) continue;
    if (state::fenced(sub.state)) {
      if (uri == e.uri) {
        emit(LateAfterClose{s->upstream});
        told_exactly = true;
      }
      continue;
    }
    native_update(sub, uri == e.uri ? e.message : nullptr);
    told_exactly = told_exactly || uri == e.uri;
  }
  if (!told_exactly) emit(Relay{s->id, e.message});
}

void Engine::native_update(Subscription& sub, const MessagePtr& exact) {
  alive(sub);
  Watch& watch = *sub.watch;
  watch.updated = now_.instant;
  if (sub.strategy == Strategy::poll) return ask_soon(watch, ReadKind::poll, &sub);
  if (exact == nullptr || !state::live(sub.state)) return;
  found(sub, Origin::upstream, watch.version ? std::optional(watch.version->dispatched) : std::nullopt);
  sub.verbatim = exact;
  progress(sub);
  tell(sub);
  for (Subscription* other : watch.holders) {
    if (other->strategy == Strategy::poll) return ask_soon(watch, ReadKind::poll, other);
  }
}

// Walks the subscription's state to where the facts have it.
void Engine::progress(Subscription& sub) {
  if (sub.watch == nullptr) return;
  const std::optional<Version>& version = sub.watch->version;
  const bool read_since = version && version->dispatched >= sub.last_update;
  if (const auto* s = std::get_if<state::VersionAccepted>(&sub.state); s != nullptr && !read_since) {
    sub.state = s->see_update();
  }
  if (const auto* s = std::get_if<state::ReadPending>(&sub.state); s != nullptr && !read_since) {
    sub.state = s->see_update();
  }
  if (const auto* s = std::get_if<state::Active>(&sub.state); s != nullptr && sub.owed_or_told()) {
    sub.state = s->see_update();
  }
  if (!read_since) return;
  if (const auto* s = std::get_if<state::UpdateSeen>(&sub.state)) sub.state = s->dispatch_read();
  if (const auto* s = std::get_if<state::ReadPending>(&sub.state)) sub.state = s->accept();
  if (const auto* s = std::get_if<state::VersionAccepted>(&sub.state); s != nullptr && !sub.owed_or_told()) {
    sub.state = s->settle();
  }
}

}  // namespace freshet
