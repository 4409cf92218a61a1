// What each subscriber is owed, and when it is told. One notification on its way per subscription: what is found
// meanwhile merges into the next, and the last change is never lost.
#include <string_view>

#include "strategies/engine.hpp"
#include "strategies/transition.hpp"

namespace freshet {

namespace {

// Byte for byte, at a boundary of the path: "a/b" is not below "a/bc", nor the other way round.
bool lies_below(std::string_view uri, std::string_view above) {
  if (above.empty() || uri.size() <= above.size() || !uri.starts_with(above)) return false;
  constexpr std::string_view boundaries = "/?#";
  return boundaries.find(above.back()) != std::string_view::npos ||
         boundaries.find(uri[above.size()]) != std::string_view::npos;
}

}  // namespace

// There is something to tell this subscriber.
void Engine::found(Subscription& sub, Origin origin, std::optional<Instant> old_version_read) {
  if (sub.owes()) emit(NoticeCoalesced{sub.subscriber->upstream});
  sub.add_news(origin, now_.instant);
  sub.old_version_read = old_version_read;
  if (sub.subscriber->listen) sub.seen = origin == Origin::upstream ? unsure_digest : sub.watch->version->digest;
  sub.verbatim.reset();
}

void Engine::tell(Subscription& sub) {
  const Subscriber& s = *sub.subscriber;
  if (!state::live(sub.state) || !s.attached || !sub.owes() || sub.notice) return;
  if (s.shadow) {
    sub.told = sub.news;
    return emit(NoticeWithheld{s.upstream, sub.origin});
  }
  if (now_.instant < sub.quiet_until) {
    timers_.set({TimerKind::notify, sub.id}, sub.quiet_until);
    return;
  }
  const NoticeId notice{++last_id_};
  notices_[notice] = {.subscription = sub.id, .news = sub.news};
  sub.notice = notice;
  Notify effect{.notice = notice,
                .subscriber = s.id,
                .upstream = s.upstream,
                .uri = *sub.uri,
                .origin = sub.origin,
                .strategy = sub.strategy,
                .verbatim = sub.verbatim,
                .version = {},
                .observed_at = {},
                .bound = bound(sub, now_.instant)};
  if (const std::optional<Version>& version = sub.watch->version; version && is_content(version->digest)) {
    effect.version = to_hex(version->digest);
    effect.observed_at = version->observed_at;
  }
  emit(std::move(effect));
}

void Engine::on(const NoticeSettled& e) {
  const auto it = notices_.find(e.notice);
  if (it == notices_.end()) return;  // withdrawn, or its subscriber is gone
  const Notice notice = it->second;
  notices_.erase(it);
  Subscription& sub = *subscriptions_.at(notice.subscription);
  sub.notice.reset();
  if (e.delivered) {
    sub.told = std::max(sub.told, notice.news);
    if (sub.subscriber->listen) sub.answered = sub.told;
    sub.quiet_until = now_.instant + upstream(sub.subscriber->upstream).notify_min_interval;
    emit(NoticeDelivered{sub.subscriber->upstream, sub.origin, now_.instant - sub.found,
                         sub.old_version_read ? std::optional(now_.instant - *sub.old_version_read) : std::nullopt});
  }
  tell(sub);
}

// The URI of an update may lie below the watched one: the watched one is then alive, and the client gets the message
// as it came; where no stream is there to carry it, the change of the watched one is owed instead.
void Engine::on(const UpdateArrived& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return;
  bool handled = false;
  for (auto& [uri, sub] : s->subscriptions) {
    const bool exact = uri == e.uri;
    if (!exact && !lies_below(e.uri, uri)) continue;
    if (state::fenced(sub.state)) {
      if (!exact || e.relayed) continue;
      emit(LateAfterClose{s->upstream});
      handled = true;
      continue;
    }
    native_update(sub, exact ? e.message : nullptr, !e.relayed && (exact || !s->attached));
    if (exact && e.relayed && !sub.owes()) sub.was_told(Origin::upstream, now_.instant);
    handled = handled || exact;
  }
  if (!e.relayed && (!handled || s->shadow)) emit(Relay{s->id, e.message});
}

// `news`: the subscriber is to be told of the watched resource itself.
void Engine::native_update(Subscription& sub, const MessagePtr& exact, bool news) {
  alive(sub);
  Watch& watch = *sub.watch;
  watch.updated = now_.instant;
  if (watch.handle) partner_of(watch.caller->upstream).schedule.announced(*watch.handle, now_.instant);
  if (!state::live(sub.state)) return;  // the baseline makes good for it
  transition(sub.state, update_seen);
  if (sub.strategy == Strategy::poll) return ask_soon(sub, Errand::poll);
  if (news) {
    found(sub, Origin::upstream, watch.version ? std::optional(watch.version->dispatched) : std::nullopt);
    sub.verbatim = exact;
    progress(sub);
    tell(sub);
  }
  for (Subscription* other : watch.holders) {
    if (state::live(other->state) && other->strategy == Strategy::poll) return ask_soon(*other, Errand::poll);
  }
}

// Walks the subscription's state to where the facts have it.
void Engine::progress(Subscription& sub) {
  if (sub.watch == nullptr) return;
  const bool read_since = sub.watch->accepted > 0 && sub.watch->confirmed > sub.last_update();
  if (sub.owed_or_told() && std::holds_alternative<state::Active>(sub.state)) transition(sub.state, update_seen);
  if (!read_since) {
    if (!std::holds_alternative<state::Active>(sub.state)) transition(sub.state, update_seen);
    return;
  }
  if (const auto* s = std::get_if<state::UpdateSeen>(&sub.state)) sub.state = s->dispatch_read();
  if (const auto* s = std::get_if<state::ReadPending>(&sub.state)) sub.state = s->accept();
  if (sub.owed_or_told()) return;
  if (const auto* s = std::get_if<state::VersionAccepted>(&sub.state)) sub.state = s->settle();
}

}  // namespace freshet
