// What the outcome of a read means: judged once, accepted in order, and met by each holder of its watch.
#include <algorithm>

#include "strategies/engine.hpp"

namespace freshet {

namespace {

Verdict verdict_of(Digest digest, bool differs) {
  if (digest == absent_digest) return Verdict::not_found;
  if (digest == refused_digest) return Verdict::refused;
  return differs ? Verdict::changed : Verdict::unchanged;
}

Content nothing(Digest standing_for) {
  Content content;
  content.digest = standing_for;
  return content;
}

bool is_missing(Presence p) {
  return p == Presence::tombstone_pending || p == Presence::absent;
}

}  // namespace

bool Engine::in_order(const Watch& watch, const Read& read) {
  return read.watch == watch.id && watch.accepts(read.ordinal);
}

void Engine::stale(const Read& read) {
  emit(ReadJudged{read.upstream, read.kind, Verdict::stale, std::nullopt});
}

// A result for a watch that was closed while it travelled: it leaves a count and nothing else.
void Engine::late(const Read& read) {
  emit(LateAfterClose{read.upstream});
  stale(read);
}

// A read that was sent after the principal's refusal was answered: its credential is good.
void Engine::credential_works(const Read& read) {
  Caller* caller = find_caller(read.caller);
  if (caller != nullptr && caller->refused_at && read.dispatched > *caller->refused_at) lift_suspension(*caller);
}

void Engine::judge(Watch* watch, Read& read, const Content& content, bool delivered) {
  credential_works(read);
  if (read.watch && watch == nullptr) late(read);
  if (watch != nullptr) judge_content(*watch, read, content, delivered);
  if (delivered) delivered_to(read, content.digest);
}

void Engine::judge_content(Watch& watch, const Read& read, const Content& content, bool delivered) {
  if (!in_order(watch, read) || overtaken(watch, read, content.digest)) return too_late(watch, read, content.digest);
  if (content.empty && is_missing(watch.presence)) return not_found(watch, read);
  weigh_doubts(watch, read, content.digest);
  if (find(*read.watch) != &watch) return;
  if (doubtful(watch, read, content)) return doubt(watch, read, content, delivered);
  accept(watch, read, content, delivered);
}

// A later read was accepted meanwhile, or may have been served later. A baseline has its answer all the same, unless
// what was accepted is another session's and may differ for that.
void Engine::too_late(Watch& watch, const Read& read, Digest digest) {
  stale(read);
  const std::optional<Version>& version = watch.version;
  Subscription* baseline = baseline_of(read);
  if (baseline != nullptr) {
    const bool comparable =
        !version || version->digest == digest || sees_the_same(watch, *baseline->subscriber, version->via);
    if (comparable) return baseline_accepted(*baseline, read, digest);
    return ask_soon(*baseline, Errand::baseline);
  }
  if (!in_order(watch, read)) return;
  Subscription* again = holder(watch, read.via);
  if (again == nullptr || !state::live(again->state) || again->subscriber->absent) again = reader(watch);
  if (again != nullptr) ask_soon(*again, Errand::poll);
}

// Two reads that were under way together may have been served in either order, and what a session saw that is closed
// by now may have been its own. Where such a read differs it is not believed, and another decides: a version never goes
// back.
bool Engine::overtaken(const Watch& watch, const Read& read, Digest digest) {
  if (!watch.version || digest == watch.version->digest) return false;
  return read.ordinal <= watch.version->issued || find(read.via) == nullptr;
}

void Engine::judge(Watch* watch, Read& read, const NotFound& outcome, bool delivered) {
  credential_works(read);
  if (refuse_baseline(read, Verdict::not_found, outcome.refusal)) return;
  if (read.watch && watch == nullptr) {
    late(read);
  } else if (watch != nullptr && in_order(*watch, read)) {
    not_found(*watch, read);
  } else if (watch != nullptr) {
    stale(read);
  }
  if (delivered) delivered_to(read, absent_digest);
}

void Engine::judge(Watch* watch, Read& read, const Forbidden& outcome, bool delivered) {
  if (refuse_baseline(read, Verdict::refused, outcome.refusal)) return;
  if (read.watch && watch == nullptr) return late(read);
  if (watch == nullptr) return;
  if (!in_order(*watch, read)) {
    stale(read);
  } else {
    const bool known = watch->forbidden;
    accept(*watch, read, nothing(refused_digest), delivered);
    watch->forbidden = true;
    reschedule(*watch);
    if (!known) emit(ResourceRefused{read.upstream, watch->key->uri});
  }
  if (delivered) delivered_to(read, refused_digest);
}

void Engine::judge(Watch* watch, Read& read, const Unauthorized& outcome, bool delivered) {
  if (!refuse_baseline(read, Verdict::refused, outcome.refusal) && read.watch) {
    if (watch == nullptr) {
      late(read);
    } else if (!in_order(*watch, read)) {
      stale(read);
    } else {
      accept(*watch, read, nothing(refused_digest), delivered);
    }
  }
  if (Caller* caller = find_caller(read.caller)) suspend(*caller, read.via);
  if (delivered && read.watch && find(*read.watch) != nullptr) delivered_to(read, refused_digest);
}

// The right is gone: what was kept is dropped, and its absence is a version like others.
void Engine::refused(Watch& watch, SubscriberId via) {
  Read as_if;
  as_if.watch = watch.id;
  as_if.ordinal = ++watch.issued;
  as_if.kind = ReadKind::poll;
  as_if.via = via;
  as_if.upstream = watch.caller->upstream;
  as_if.dispatched = now_.instant;
  accept(watch, as_if, nothing(refused_digest), false);
}

void Engine::judge(Watch* watch, Read& read, const Rejected& outcome, bool) {
  credential_works(read);
  if (refuse_baseline(read, Verdict::error, outcome.refusal)) return;
  passing_failure(watch, read, Verdict::error);
}

void Engine::judge(Watch* watch, Read& read, const Throttled&, bool) {
  passing_failure(watch, read, Verdict::throttled);
}

void Engine::judge(Watch* watch, Read& read, const Failed&, bool) {
  passing_failure(watch, read, Verdict::error);
}

// Says nothing of the resource: no version, no notification; read again later, ever more slowly.
void Engine::passing_failure(Watch* watch, const Read& read, Verdict verdict) {
  emit(ReadJudged{read.upstream, read.kind, verdict, std::nullopt});
  if (watch == nullptr || read.kind == ReadKind::client) return;
  if (read.kind == ReadKind::watchdog) emit(WatchdogChecked{read.upstream, WatchdogResult::failed});
  if (Subscription* sub = baseline_of(read)) activate_degraded(*sub);
  for (Subscription* sub : watch->holders) {
    if (const auto* pending = std::get_if<state::ReadPending>(&sub->state)) sub->state = pending->lose_read();
  }
  const Duration longest = std::max<Duration>(std::chrono::seconds(30), watch->freshness->plan.interval);
  read_again(*watch, now_.instant + backoff(watch->failures++, longest));
}

Subscription* Engine::baseline_of(const Read& read) {
  if (read.kind != ReadKind::baseline) return nullptr;
  Subscription* sub = find_subscription(read.subscription);
  if (sub == nullptr || sub->generation != read.generation) return nullptr;
  return std::holds_alternative<state::Subscribing>(sub->state) ? sub : nullptr;
}

bool Engine::baseline_under_way(const Subscription& sub) {
  if (sub.waits(Errand::baseline)) return true;
  return sub.watch->in_flight && baseline_of(reads_.at(*sub.watch->in_flight)) == &sub;
}

// A definite answer without content to a baseline is the answer to the subscribe.
bool Engine::refuse_baseline(const Read& read, Verdict verdict, const RefusalPtr& refusal) {
  Subscription* sub = baseline_of(read);
  if (sub == nullptr) return false;
  emit(ReadJudged{read.upstream, read.kind, verdict, std::nullopt});
  refuse(*sub, refusal);
  return true;
}

// Not found is not deletion: the list has to confirm it before anybody is told.
void Engine::not_found(Watch& watch, const Read& read) {
  if (watch.presence == Presence::absent) {
    accept(watch, read, nothing(absent_digest), false);
    return slow_down(watch);
  }
  emit(ReadJudged{read.upstream, read.kind, Verdict::not_found, std::nullopt});
  watch.accepted = read.ordinal;
  watch.confirmed = read.dispatched;
  watch.failures = 0;
  if (std::exchange(watch.forbidden, false)) reschedule(watch);
  ++watch.missing;
  observe(watch, read, false);
  if (watch.presence != Presence::tombstone_pending) {
    watch.presence = Presence::tombstone_pending;
    watch.missing_since = read.dispatched;
    watch.missing = 1;
  }
  watch.listed = false;
  if (!watch.caller->list.unreliable) return review(*watch.caller);
  if (watch.missing >= missing_reads_to_confirm) confirm_absent(watch);
}

void Engine::accept(Watch& watch, const Read& read, const Content& content, bool delivered) {
  take(watch, read, content, delivered);
  if (content.shareable_across_principals) share(watch, read, content);
}

// The upstream itself said that this content is the same for everybody: it counts for all who were told so before.
void Engine::share(const Watch& watch, const Read& read, const Content& content) {
  const auto [first, last] = public_.equal_range(watch.key->uri);
  std::vector<Watch*> others;
  for (auto it = first; it != last; ++it) {
    Watch* other = it->second;
    const bool same = other->caller->upstream == watch.caller->upstream && other->presence == Presence::present;
    if (other != &watch && same && !other->caller->refused_at && other->doubts.empty()) others.push_back(other);
  }
  std::ranges::sort(others, {}, [](const Watch* w) { return w->id; });
  for (Watch* other : others) {
    Read as_if = read;
    as_if.watch = other->id;
    as_if.subscription = 0;
    as_if.ordinal = ++other->issued;
    take(*other, as_if, content, false);
  }
}

void Engine::take(Watch& watch, const Read& read, const Content& content, bool delivered) {
  const std::optional<Version> before = watch.version;
  const bool differs = before && before->digest != content.digest;
  const bool was_forbidden = std::exchange(watch.forbidden, false);
  watch.accepted = read.ordinal;
  watch.confirmed = read.dispatched;
  watch.failures = 0;
  watch.missing = 0;
  watch.presence = content.digest == absent_digest    ? Presence::absent
                   : content.digest == refused_digest ? Presence::unknown
                                                      : Presence::present;
  mark_public(watch, content.shareable_across_principals);
  forget_result(watch);
  follow(watch, read, content.digest);
  watch.version = Version{.digest = content.digest,
                          .raw = content.raw,
                          .ordinal = read.ordinal,
                          .dispatched = read.dispatched,
                          .issued = watch.issued,
                          .observed_at = now_.wall,
                          .changed_at = before && !differs ? before->changed_at : now_.wall,
                          .via = read.via,
                          .mime_type = mime_type(content.mime_type)};
  emit(ReadJudged{
      read.upstream, read.kind, verdict_of(content.digest, differs),
      before ? std::optional(now_.instant - before->dispatched) : std::nullopt,
      differs && content.last_modified ? std::optional<Duration>(now_.wall - *content.last_modified) : std::nullopt});
  observe(watch, read, differs);
  if (watch.handle && content.ttl) partner_of(read.upstream).schedule.set_hint(*watch.handle, *content.ttl);
  if (was_forbidden) reschedule(watch);
  const WatchId id = watch.id;
  std::erase_if(watch.doubts, [&](const Doubt& d) { return d.read.via == read.via; });  // it speaks for itself
  if (differs) settle_doubts(watch, read.via);
  if (find(id) == nullptr) return;  // nobody was left to watch it for
  for (std::size_t i = 0; i < watch.holders.size(); ++i) learn(*watch.holders[i], read, before, delivered);
  keep_result(watch, content.result);
}

// Few differ and each watch has one. An upstream that invents ever new ones is not believed.
const std::string* Engine::mime_type(const std::string& reported) {
  constexpr std::size_t different_max = 1'000;
  static const std::string unknown;
  const auto known = mime_types_.find(reported);
  if (known != mime_types_.end()) return &*known;
  return mime_types_.size() < different_max ? &*mime_types_.insert(reported).first : &unknown;
}

void Engine::mark_public(Watch& watch, bool is_public) {
  if (watch.is_public == is_public) return;
  watch.is_public = is_public;
  if (is_public) {
    public_.emplace(watch.key->uri, &watch);
    return;
  }
  const auto [first, last] = public_.equal_range(watch.key->uri);
  public_.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == &watch; }));
}

// One holder meets a version that was just accepted.
void Engine::learn(Subscription& sub, const Read& read, const std::optional<Version>& before, bool delivered) {
  const Version& version = *sub.watch->version;
  if (read.ordinal <= sub.opened_at) return;  // sent before the subscribe: an older generation's
  if (Subscription* waiting = baseline_of(read); waiting == &sub) return baseline_accepted(sub, read, version.digest);
  if (!state::live(sub.state)) return;
  if (in_doubt(*sub.watch, sub.subscriber->id)) return;
  if (read.via != sub.subscriber->id && !compared(sub, before)) return ask_soon(sub, Errand::catchup);
  const bool first = std::exchange(sub.degraded, false);
  if (!sub.seen && is_content(version.digest)) sub.seen = version.digest;
  const bool catches_up = sub.catch_up_from && read.dispatched >= *sub.catch_up_from;
  if (catches_up) sub.catch_up_from.reset();
  // Coming, going and refusals are told by whoever finds them: no upstream has to notify those.
  const bool comes_or_goes = !is_content(version.digest) || (sub.seen && !is_content(*sub.seen));
  const bool told_at_once = first || catches_up || comes_or_goes;
  if (told_at_once && read.dispatched > sub.last_update()) sub.rebase(version.digest);
  const bool listen = sub.subscriber->listen;
  if (listen && sub.will_be_told()) sub.seen = version.digest;
  const bool reads_it_itself = !listen && read.kind == ReadKind::client && read.via == sub.subscriber->id && delivered;
  if (sub.strategy == Strategy::subscribe && !told_at_once) {
    check_native(sub, read);
  } else if (reads_it_itself) {
    // deliver() follows and settles what it has seen.
  } else if (version.digest == sub.seen) {
    if (!listen && sub.last_update() < read.dispatched) sub.nothing_owed();
  } else if (!before || before->digest != version.digest || !sub.will_be_told()) {
    found(sub, origin_of(read.kind), before ? std::optional(before->dispatched) : std::nullopt);
  }
  weigh_promptness(sub, before);
  progress(sub);
  tell(sub);
}

// What it saw may be older than the accepted version already, or than an update that came meanwhile.
void Engine::baseline_accepted(Subscription& sub, const Read& read, Digest digest) {
  const std::optional<Version>& version = sub.watch->version;
  if (!sub.seen) sub.seen = digest;
  const bool updated_since = sub.last_update() >= read.dispatched;
  const bool newest = !version || version->digest == digest;
  if (sub.strategy == Strategy::subscribe && !updated_since && newest) sub.rebase(digest);
  if (version && version->digest != *sub.seen) {
    found(sub, Origin::poll, std::nullopt);
  } else if (updated_since) {
    found(sub, Origin::upstream, read.dispatched);
  }
  activate(sub);
}

}  // namespace freshet
