// Reads: issued with an ordinal, ended once; the client's own count like polls, and one read serves many.
#include <algorithm>
#include <cassert>

#include "strategies/engine.hpp"
#include "strategies/transition.hpp"

namespace freshet {

Read& Engine::issue(Watch* watch, ReadKind kind, Subscriber& via, const std::string& uri) {
  Read read;
  read.id = ReadId{++last_id_};
  read.kind = kind;
  read.via = via.id;
  read.caller = via.caller->id;
  read.upstream = via.upstream;
  read.uri = uri;
  read.dispatched = now_.instant;
  via.caller->last_read = now_.instant;
  if (watch != nullptr) {
    read.watch = watch->id;
    read.ordinal = ++watch->issued;
    for (Subscription* sub : watch->holders) {
      if (const auto* seen = std::get_if<state::UpdateSeen>(&sub->state)) sub->state = seen->dispatch_read();
    }
  }
  return reads_.emplace(read.id, std::move(read)).first->second;
}

void Engine::on(const ReadAsked& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return emit(RefuseRequest{e.request, server_error, "the session is closed"});
  Subscription* sub = find_subscription(e.subscriber, e.uri);
  Watch* watch = sub != nullptr ? sub->watch : nullptr;
  if (watch == nullptr) {
    const auto it = s->caller->watches.find({e.uri, SubscriberId{}});
    if (it != s->caller->watches.end()) watch = &it->second;
  }
  if (watch != nullptr && e.shareable && !s->shadow) {
    if (may_serve(*watch, *s, sub)) {
      sub->told_at_serve = sub->told;
      return emit(ServeRead{e.request, watch->result, watch->version->digest, watch->version->dispatched});
    }
    if (Read* under_way = joinable(*watch, *s, sub)) {
      if (sub != nullptr) sub->told_at_serve = sub->told;
      under_way->joined.emplace_back(e.request, s->id);
      return;
    }
  }
  Read& read = issue(watch, ReadKind::client, *s, e.uri);
  if (sub != nullptr) read.told = sub->told;
  emit(ForwardRead{e.request, read.id});
}

// Only the read that a client makes on being notified is answered from the poll that found the change, and never from
// a picture older than what the session itself last did or than an update of that URI.
bool Engine::may_serve(const Watch& watch, const Subscriber& s, const Subscription* sub) {
  const Duration max_age = upstream(s.upstream).reads_max_age;
  if (sub == nullptr || watch.result == nullptr || !watch.version) return false;
  const bool notified = s.listen ? sub->told > 0 : sub->told != sub->answered;
  if (!notified) return false;
  if (watch.presence != Presence::present || !watch.doubts.empty() || !sees_the_same(watch, s, watch.version->via))
    return false;
  const Instant dispatched = watch.version->dispatched;
  return now_.instant - dispatched <= max_age && fresh_enough(watch, s, sub, dispatched);
}

// Kept for those who were or will be told of this version, as long as they may be served from it.
void Engine::keep_result(Watch& watch, const ResultPtr& result) {
  const Instant until = watch.version->dispatched + upstream(watch.caller->upstream).reads_max_age;
  const bool awaited = std::ranges::any_of(watch.holders, [](const Subscription* s) { return s->owed_or_told(); });
  if (!awaited || result == nullptr || until <= now_.instant) return;
  watch.result = result;
  timers_.set({TimerKind::kept, index(watch.id)}, until);
}

void Engine::forget_result(Watch& watch) {
  watch.result.reset();
  timers_.cancel({TimerKind::kept, index(watch.id)});
}

// Who writes reads what was written, who was told of an update what it told, and nobody goes back behind what he read.
bool Engine::fresh_enough(const Watch& watch, const Subscriber& s, const Subscription* sub, Instant dispatched) {
  return dispatched > s.write_ended && dispatched > watch.updated && (sub == nullptr || dispatched > sub->delivered_at);
}

// A read of our own that is under way already serves, if it was dispatched late enough to show what this session wrote.
Read* Engine::joinable(const Watch& watch, const Subscriber& s, const Subscription* sub) {
  if (!watch.in_flight || upstream(s.upstream).reads_max_age == Duration::zero()) return nullptr;
  Read& read = reads_.at(*watch.in_flight);
  if (watch.version && read.ordinal <= watch.version->issued) return nullptr;  // may be older than what was told
  return fresh_enough(watch, s, sub, read.dispatched) && sees_the_same(watch, s, read.via) ? &read : nullptr;
}

bool Engine::sees_the_same(const Watch& watch, const Subscriber& s, SubscriberId via) {
  if (s.id == via || !s.declared.sessions) return true;
  const Subscription* mine = holder(watch, s.id);
  const Subscription* other = holder(watch, via);
  return mine != nullptr && other != nullptr && mine->agrees && other->agrees;
}

void Engine::on(const ServedDelivered& e) {
  const Subscription* sub = find_subscription(e.subscriber, e.uri);
  const std::uint32_t told = sub == nullptr ? 0 : sub->told_at_serve;
  if (Subscriber* s = find(e.subscriber)) deliver(*s, e.uri, {e.digest, e.dispatched, told});
}

std::optional<std::pair<RawDigest, Digest>> Engine::known(ReadId id) const {
  const auto read = reads_.find(id);
  if (read == reads_.end() || !read->second.watch) return std::nullopt;
  const auto watch = watches_.find(*read->second.watch);
  if (watch == watches_.end() || !watch->second->version) return std::nullopt;
  return std::pair(watch->second->version->raw, watch->second->version->digest);
}

void Engine::on(const ReadEnded& e) {
  auto node = reads_.extract(e.read);
  assert(!node.empty());
  Read& read = node.mapped();
  Watch* watch = read.watch ? find(*read.watch) : nullptr;
  if (read.kind != ReadKind::client) settle_budget(read.upstream, read.dispatched, health_of(e.outcome));
  if (watch != nullptr && watch->in_flight == read.id) watch->in_flight.reset();
  std::visit([&](const auto& outcome) { judge(watch, read, outcome, e.delivered); }, e.outcome);
  release_joined(read, std::get_if<Content>(&e.outcome));
}

// Those who joined get the same content; where there is none, each goes on its own.
void Engine::release_joined(Read& read, const Content* content) {
  for (const auto& [request, subscriber] : read.joined) {
    Subscriber* s = find(subscriber);
    if (s == nullptr) {
      emit(RefuseRequest{request, server_error, "the session is closed"});
    } else if (content != nullptr && content->result != nullptr) {
      emit(ServeRead{request, content->result, content->digest, read.dispatched});
    } else {
      Read& own = issue(read.watch ? find(*read.watch) : nullptr, ReadKind::client, *s, read.uri);
      own.caller = read.caller;  // it was asked with this credential, whatever the session has adopted since
      if (const Subscription* sub = find_subscription(subscriber, read.uri)) own.told = sub->told_at_serve;
      emit(ForwardRead{request, own.id});
    }
  }
}

void Engine::delivered_to(const Read& read, Digest digest) {
  if (Subscriber* s = find(read.via)) deliver(*s, read.uri, {digest, read.dispatched, read.told});
}

// Some client of the principal now holds this content, and any of its streams may be that client's.
void Engine::on(const ReadDelivered& e) {
  read_by_principals_[index(e.upstream)].remember(reader_key(e.principal, e.uri), e.digest);
  const auto caller = callers_.find({e.upstream, e.principal});
  if (caller == callers_.end()) return;
  const auto watched = caller->second.watches.find({e.uri, SubscriberId{}});
  if (watched == caller->second.watches.end()) return;
  for (Subscription* sub : watched->second.holders) {
    if (sub->subscriber->listen) somebody_holds(*sub, e.digest);
  }
}

// Where that is not the newest, the stream is told; where it may turn out not to be, or not to be what the stream was
// told of, the next read tells.
void Engine::somebody_holds(Subscription& sub, Digest digest) {
  const Watch& watch = *sub.watch;
  if (!watch.version || watch.version->digest != digest) sub.delivered_at = now_.instant;
  const bool settled = state::live(sub.state) && watch.version;
  if (!settled || watch.version->digest == digest) {
    const bool same = sub.seen.value_or(digest) == digest;
    sub.seen = same ? digest : settled ? unsure_digest : undecided_digest;
    return;
  }
  if (watch.presence == Presence::tombstone_pending || !watch.doubts.empty()) {
    sub.seen = undecided_digest;
    return;
  }
  found(sub, Origin::client, watch.version->dispatched);
  progress(sub);
  tell(sub);
}

// What any client of a stream's principal read last.
std::optional<Digest> Engine::read_before(const Subscriber& s, const std::string& uri) const {
  return read_by_principals_[index(s.upstream)].find(reader_key(s.caller->principal, uri));
}

std::string Engine::reader_key(const Principal& principal, const std::string& uri) {
  std::string key(reinterpret_cast<const char*>(principal.digest.data()), principal.digest.size());
  return key + uri;
}

// The subscriber now holds this content, whether it is the newest or a slow old one.
void Engine::deliver(Subscriber& s, const std::string& uri, const Delivery& delivery) {
  const auto [digest, dispatched, told] = delivery;
  if (s.listen) return;  // ReadDelivered says it of the principal
  Subscription* sub = find_subscription(s.id, uri);
  if (sub == nullptr || state::fenced(sub->state)) return s.seen.remember(uri, digest);
  const std::optional<Digest> held = std::exchange(sub->seen, digest);
  sub->delivered = true;
  sub->delivered_at = now_.instant;
  sub->answered = std::max(sub->answered, std::min(told, sub->told));
  if (sub->watchdog && !sub->watchdog->base && dispatched > sub->last_update()) sub->rebase(digest);
  const Watch& watch = *sub->watch;
  if (!state::live(sub->state) || !watch.version) return;
  // What is not judged yet is news if it differs in the end.
  const bool pending = digest == absent_digest && watch.presence == Presence::tombstone_pending;
  const bool waits = pending || in_doubt(watch, s.id);
  if (waits) return;
  if (!compared(*sub, watch.version)) return ask_soon(*sub, Errand::catchup);
  const Digest current = watch.version->digest;
  if (digest == current) {
    if (sub->last_update() < dispatched) sub->nothing_owed();
  } else if (held == current || !sub->owed_or_told()) {
    found(*sub, Origin::client, watch.version->dispatched);
  }
  progress(*sub);
  tell(*sub);
}

}  // namespace freshet
