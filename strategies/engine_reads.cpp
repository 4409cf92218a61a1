// Reads: issued with an ordinal, judged once, accepted in order; the client's own count like polls.
#include <algorithm>
#include <cassert>

#include "strategies/engine.hpp"

namespace freshet {

namespace {

Origin origin_of(ReadKind kind) {
  switch (kind) {
    case ReadKind::client:
      return Origin::client;
    case ReadKind::watchdog:
      return Origin::watchdog;
    case ReadKind::baseline:
    case ReadKind::poll:
    case ReadKind::catchup:
      return Origin::poll;
  }
  return Origin::poll;
}

Content nothing(Digest standing_for) {
  Content content;
  content.digest = standing_for;
  return content;
}

}  // namespace

Read& Engine::issue(Watch* watch, ReadKind kind, Subscriber& via, const std::string& uri) {
  Read read;
  read.id = ReadId{++last_id_};
  read.kind = kind;
  read.via = via.id;
  read.upstream = via.upstream;
  read.uri = uri;
  read.dispatched = now_.instant;
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
  assert(s != nullptr);
  Subscription* sub = find_subscription(e.subscriber, e.uri);
  Watch* watch = sub != nullptr ? sub->watch : nullptr;
  if (watch == nullptr) {
    const auto it = by_key_.find({s->upstream, s->principal, e.uri, SubscriberId{}});
    if (it != by_key_.end()) watch = it->second;
  }
  if (watch != nullptr && e.shareable) {
    if (may_serve(*watch, *s, sub)) {
      return emit(ServeRead{e.request, watch->result, watch->version->digest, watch->version->dispatched});
    }
    if (Read* under_way = joinable(*watch, *s)) {
      under_way->joined.emplace_back(e.request, s->id);
      return;
    }
  }
  emit(ForwardRead{e.request, issue(watch, ReadKind::client, *s, e.uri).id});
}

// Only the read that a client makes on being notified is answered from the poll that found the change, and never from
// a picture older than what the session itself last did or than an update of that URI.
bool Engine::may_serve(const Watch& watch, const Subscriber& s, const Subscription* sub) const {
  const Duration max_age = upstream(s.upstream).reads_max_age;
  if (sub == nullptr || sub->told == sub->answered || watch.result == nullptr || !watch.version) return false;
  const Instant dispatched = watch.version->dispatched;
  return now_.instant - dispatched <= max_age && dispatched >= s.write_ended && dispatched >= watch.updated;
}

// A read of our own that is under way already serves, if it was dispatched late enough to show what this session wrote.
Read* Engine::joinable(const Watch& watch, const Subscriber& s) {
  if (!watch.in_flight || upstream(s.upstream).reads_max_age == Duration::zero()) return nullptr;
  Read& read = reads_.at(*watch.in_flight);
  return read.dispatched >= s.write_ended && read.dispatched >= watch.updated ? &read : nullptr;
}

void Engine::on(const WriteEnded& e) {
  if (Subscriber* s = find(e.subscriber)) s->write_ended = now_.instant;
}

void Engine::on(const ServedDelivered& e) {
  if (Subscriber* s = find(e.subscriber)) deliver(*s, e.uri, e.digest, e.dispatched);
}

std::optional<std::pair<RawDigest, Digest>> Engine::known(ReadId id) const {
  const auto read = reads_.find(id);
  if (read == reads_.end() || !read->second.watch) return std::nullopt;
  const auto watch = watches_.find(*read->second.watch);
  if (watch == watches_.end() || !watch->second->version) return std::nullopt;
  return std::pair(watch->second->version->raw, watch->second->version->digest);
}

void Engine::on(const ReadEnded& e) {
  const auto node = reads_.extract(e.read);
  assert(!node.empty());
  Read& read = node.mapped();
  Watch* watch = read.watch ? find(*read.watch) : nullptr;
  if (read.kind != ReadKind::client) settle_budget(read, e.outcome);
  if (watch != nullptr && watch->in_flight == read.id) watch->in_flight.reset();
  std::visit([&](const auto& outcome) { judge(watch, read, outcome, e.delivered); }, e.outcome);
  release_joined(read, std::get_if<Content>(&e.outcome));
}

void Engine::judge(Watch* watch, Read& read, const Content& content, bool delivered) {
  if (read.watch && watch == nullptr) late(read);
  if (watch != nullptr) {
    if (watch->accepts(read.ordinal)) {
      accept(*watch, read, content, delivered);
    } else {
      emit(ReadJudged{read.upstream, read.kind, Verdict::stale, std::nullopt});
    }
  }
  if (delivered) delivered_to(read, content.digest);
}

// A result for a watch that was closed while it travelled: it leaves a count and nothing else.
void Engine::late(const Read& read) {
  emit(LateAfterClose{read.upstream});
  emit(ReadJudged{read.upstream, read.kind, Verdict::stale, std::nullopt});
}

void Engine::delivered_to(const Read& read, Digest digest) {
  if (Subscriber* s = find(read.via)) deliver(*s, read.uri, digest, read.dispatched);
}

void Engine::accept(Watch& watch, const Read& read, const Content& content, bool delivered) {
  const std::optional<Version> before = watch.version;
  const bool differs = before && before->digest != content.digest;
  watch.accepted = read.ordinal;
  watch.failures = 0;
  watch.forbidden = false;
  watch.presence = content.digest == absent_digest ? Presence::absent : Presence::present;
  watch.result = content.result;
  watch.version = Version{.digest = content.digest,
                          .raw = content.raw,
                          .ordinal = read.ordinal,
                          .dispatched = read.dispatched,
                          .observed_at = now_.wall,
                          .changed_at = before && !differs ? before->changed_at : now_.wall,
                          .mime_type = content.mime_type};
  emit(ReadJudged{read.upstream, read.kind, verdict_of(content.digest, differs),
                  before ? std::optional(now_.instant - before->dispatched) : std::nullopt});
  if (content.digest != refused_digest && suspended_.erase({watch.key.upstream, watch.key.principal}) > 0) {
    for (Watch* other : watches_of(watch.key.upstream, watch.key.principal)) reschedule(*other);
  }
  observe(watch, read, differs);
  const std::vector<Subscription*> holders = watch.holders;
  for (Subscription* sub : holders) learn(*sub, read, before, delivered);
}

Verdict Engine::verdict_of(Digest digest, bool differs) {
  if (digest == absent_digest) return Verdict::not_found;
  if (digest == refused_digest) return Verdict::refused;
  return differs ? Verdict::changed : Verdict::unchanged;
}

// One holder meets a version that was just accepted.
void Engine::learn(Subscription& sub, const Read& read, const std::optional<Version>& before, bool delivered) {
  const Version& version = *sub.watch->version;
  const bool own_baseline = read.subscription == sub.id && read.generation == sub.generation;
  if (std::holds_alternative<state::Subscribing>(sub.state)) {
    if (own_baseline && read.kind == ReadKind::baseline) baseline_accepted(sub);
    return;
  }
  if (!state::live(sub.state)) return;
  sub.degraded = false;
  if (!sub.seen && is_content(version.digest)) sub.seen = version.digest;
  const bool reads_it_itself = read.kind == ReadKind::client && read.via == sub.subscriber->id && delivered;
  if (sub.strategy == Strategy::subscribe && !(own_baseline && read.kind == ReadKind::catchup)) {
    check_native(sub, read);
  } else if (reads_it_itself) {
    // deliver() follows and settles what it has seen.
  } else if (version.digest == sub.seen) {
    if (sub.last_update <= read.dispatched) sub.nothing_owed();
  } else if (!before || before->digest != version.digest || !sub.owed_or_told()) {
    found(sub, origin_of(read.kind), before ? std::optional(before->dispatched) : std::nullopt);
  }
  progress(sub);
  tell(sub);
}

void Engine::baseline_accepted(Subscription& sub) {
  const Version& version = *sub.watch->version;
  if (!sub.seen) sub.seen = version.digest;
  if (sub.strategy == Strategy::subscribe) sub.watchdog_base = version.digest;
  if (*sub.seen != version.digest) found(sub, Origin::poll, std::nullopt);
  activate(sub);
  progress(sub);
}

// The subscriber now holds this content, whether it is the newest or a slow old one.
void Engine::deliver(Subscriber& s, const std::string& uri, Digest digest, Instant dispatched) {
  Subscription* sub = find_subscription(s.id, uri);
  if (sub == nullptr || state::fenced(sub->state)) return s.seen.remember(uri, digest);
  const std::optional<Digest> held = std::exchange(sub->seen, digest);
  if (!state::live(sub->state) || !sub->watch->version) return;
  const Digest current = sub->watch->version->digest;
  if (digest == current) {
    if (sub->last_update <= dispatched) sub->nothing_owed();
  } else if (held == current || !sub->owed_or_told()) {
    found(*sub, Origin::client, sub->watch->version->dispatched);
  }
  progress(*sub);
  tell(*sub);
}

void Engine::judge(Watch* watch, Read& read, const NotFound& outcome, bool delivered) {
  conclude(watch, read, outcome.refusal, absent_digest, delivered);
}

void Engine::judge(Watch* watch, Read& read, const Forbidden& outcome, bool delivered) {
  const bool known = watch != nullptr && watch->forbidden;
  conclude(watch, read, outcome.refusal, refused_digest, delivered);
  watch = read.watch ? find(*read.watch) : nullptr;
  if (watch == nullptr || known) return;
  watch->forbidden = true;
  emit(ResourceRefused{read.upstream, watch->key.uri});
  reschedule(*watch);
}

void Engine::judge(Watch* watch, Read& read, const Unauthorized& outcome, bool delivered) {
  conclude(watch, read, outcome.refusal, refused_digest, delivered);
  const Subscriber* s = find(read.via);
  if (s == nullptr || !watches_principal(s->upstream, s->principal)) return;
  if (!suspended_.insert({s->upstream, s->principal}).second) return;
  emit(PrincipalRefused{s->upstream});
  for (Watch* other : watches_of(s->upstream, s->principal)) {
    if (!other->version || other->version->digest != refused_digest) refuse_unread(*other, read);
    reschedule(*other);
  }
}

// The principal lost its right: what was kept of a watch that was not itself refused is dropped all the same.
void Engine::refuse_unread(Watch& watch, const Read& read) {
  Read as_if = read;
  as_if.subscription = 0;
  as_if.kind = ReadKind::poll;
  as_if.ordinal = ++watch.issued;
  accept(watch, as_if, nothing(refused_digest), false);
}

// A definite answer without content: a baseline's is the answer to the subscribe, any other is a version like others.
void Engine::conclude(Watch* watch, Read& read, const RefusalPtr& refusal, Digest digest, bool delivered) {
  if (read.watch && watch == nullptr) return late(read);
  if (watch == nullptr) return;
  if (Subscription* sub = baseline_of(read)) {
    emit(ReadJudged{read.upstream, read.kind, verdict_of(digest, false), std::nullopt});
    return refuse(*sub, refusal);
  }
  if (!watch->accepts(read.ordinal)) {
    emit(ReadJudged{read.upstream, read.kind, Verdict::stale, std::nullopt});
  } else {
    accept(*watch, read, nothing(digest), delivered);
  }
  if (delivered) delivered_to(read, digest);
}

void Engine::judge(Watch* watch, Read& read, const Rejected& outcome, bool) {
  if (Subscription* sub = baseline_of(read)) {
    emit(ReadJudged{read.upstream, read.kind, Verdict::error, std::nullopt});
    return refuse(*sub, outcome.refusal);
  }
  passing_failure(watch, read, Verdict::error);
}

void Engine::judge(Watch* watch, Read& read, const Throttled&, bool) {
  passing_failure(watch, read, Verdict::throttled);
}

void Engine::judge(Watch* watch, Read& read, const Failed& outcome, bool) {
  if (outcome.reason == Failure::cancelled) {
    if (watch != nullptr && read.kind != ReadKind::client) reschedule(*watch);
    return;
  }
  passing_failure(watch, read, Verdict::error);
}

// Says nothing of the resource: no version, no notification; read again later, ever more slowly.
void Engine::passing_failure(Watch* watch, const Read& read, Verdict verdict) {
  emit(ReadJudged{read.upstream, read.kind, verdict, std::nullopt});
  if (watch == nullptr || read.kind == ReadKind::client) return;
  if (Subscription* sub = baseline_of(read)) activate_degraded(*sub);
  for (Subscription* sub : watch->holders) {
    if (const auto* pending = std::get_if<state::ReadPending>(&sub->state)) sub->state = pending->lose_read();
  }
  ++watch->failures;
  retry_later(*watch, read);
}

Subscription* Engine::baseline_of(const Read& read) {
  if (read.kind != ReadKind::baseline) return nullptr;
  const auto it = subscriptions_.find(read.subscription);
  if (it == subscriptions_.end() || it->second->generation != read.generation) return nullptr;
  return std::holds_alternative<state::Subscribing>(it->second->state) ? it->second : nullptr;
}

// Those who joined get the same content; where there is none, each goes on its own.
void Engine::release_joined(Read& read, const Content* content) {
  for (const auto& [request, subscriber] : read.joined) {
    if (content != nullptr && content->result != nullptr) {
      emit(ServeRead{request, content->result, content->digest, read.dispatched});
      continue;
    }
    Subscriber* s = find(subscriber);
    if (s == nullptr) continue;
    emit(ForwardRead{request, issue(read.watch ? find(*read.watch) : nullptr, ReadKind::client, *s, read.uri).id});
  }
}

}  // namespace freshet
