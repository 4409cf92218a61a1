// Servers do keep resources per session. Sessions of one principal share a watch while they agree: what one of them
// sees differently counts only once a read in another session saw the same; where that one still sees the old content,
// the first is watched apart from then on. Sessions that followed a change together are believed without asking.
#include <algorithm>

#include "strategies/engine.hpp"

namespace freshet {

namespace {

constexpr unsigned rounds_max = 3;
constexpr std::size_t doubts_max = 100;  // sessions that wait for one second opinion

// The session that is asked for a second opinion: the one that saw what stands, else any other that is not in doubt.
Subscription* witness_for(const Watch& watch, SubscriberId apart_from) {
  Subscription* found = nullptr;
  for (Subscription* sub : watch.holders) {
    const SubscriberId session = sub->subscriber->id;
    if (session == apart_from || !state::live(sub->state) || sub->subscriber->absent) continue;
    if (session == watch.version->via) return sub;
    if (found == nullptr && !in_doubt(watch, session)) found = sub;
  }
  return found;
}

}  // namespace

bool Engine::doubtful(const Watch& watch, const Read& read, const Content& content) {
  const std::optional<Version>& version = watch.version;
  if (!version || !is_content(version->digest) || version->digest == content.digest) return false;
  const Subscriber* via = find(read.via);
  if (version->via == read.via || via == nullptr || !via->declared.sessions) return false;
  if (!watch.doubts.empty() && watch.witness == read.via) return false;
  if (witness_for(watch, read.via) == nullptr) return false;
  Subscription* sub = holder(watch, read.via);
  const Subscription* other = holder(watch, version->via);
  if (sub == nullptr || !sub->agrees || (other != nullptr && !other->agrees)) return true;
  // What this session still sees as before, and the others do not: it may have stopped to agree.
  if (sub->own == content.digest) sub->agrees = false;
  return !sub->agrees;
}

// What others see says something to this subscriber only if its own session saw the same before, or sees it now, or
// was seen to follow the others.
bool Engine::compared(const Subscription& sub, const std::optional<Version>& before) {
  const Digest digest = sub.watch->version->digest;
  if (!sub.subscriber->declared.sessions || !is_content(digest) || sub.agrees) return true;
  if (!sub.own || sub.own == digest) return sub.own.has_value();
  return before && sub.own == before->digest && !sub.subscriber->absent;  // who is absent cannot be asked
}

void Engine::doubt(Watch& watch, const Read& read, const Content& content, bool delivered) {
  std::erase_if(watch.doubts, [&](const Doubt& d) { return d.read.via == read.via; });
  if (watch.doubts.size() >= doubts_max) return stale(read);
  Subscription* witness = witness_for(watch, read.via);
  watch.doubts.push_back({read, content, delivered, watch.issued});
  watch.witness = witness->subscriber->id;
  if (Subscription* sub = holder(watch, read.via)) sub->own = content.digest;
  ask_soon(*witness, Errand::poll);
  if (watch.handle) partner_of(read.upstream).schedule.postpone(*watch.handle, now_.instant + backoff(0));
}

// A later read in another session still sees what stands: those in doubt see something of their own.
void Engine::weigh_doubts(Watch& watch, const Read& read, Digest digest) {
  if (watch.doubts.empty() || digest != watch.version->digest) return;
  const bool decides = std::ranges::all_of(
      watch.doubts, [&](const Doubt& d) { return d.read.via != read.via && d.issued < read.ordinal; });
  if (!decides) return;
  for (const Doubt& apart : std::exchange(watch.doubts, {})) split(watch, apart);
}

// The accepted version changed. Who was in doubt for having seen it first agrees from now on; who saw something else is
// asked again, and watched apart if some rounds do not bring them together.
void Engine::settle_doubts(Watch& watch, SubscriberId seen_by) {
  for (const Doubt& doubt : std::exchange(watch.doubts, {})) {
    Subscription* sub = holder(watch, doubt.read.via);
    Subscription* baseline = baseline_of(doubt.read);
    const bool same = doubt.content.digest == watch.version->digest;
    if (!same && sub != nullptr && ++sub->unsure >= rounds_max) {
      split(watch, doubt);
      continue;
    }
    stale(doubt.read);
    if (sub == nullptr) continue;
    if (!same) {
      ask_soon(*sub, baseline != nullptr ? Errand::baseline : Errand::catchup);
      continue;
    }
    sub->agrees = true;
    if (Subscription* other = holder(watch, seen_by)) other->agrees = true;
    if (baseline != nullptr) baseline_accepted(*baseline, doubt.read, doubt.content.digest);
  }
}

// The witness is gone: another is asked, and where there is none, what was seen last counts.
void Engine::lose_witness(Watch& watch) {
  if (watch.doubts.empty()) return;
  if (Subscription* witness = witness_for(watch, watch.doubts.front().read.via)) {
    watch.witness = witness->subscriber->id;
    return ask_soon(*witness, Errand::poll);
  }
  for (const Doubt& doubt : std::exchange(watch.doubts, {})) {
    if (!in_order(watch, doubt.read)) continue;
    accept(watch, doubt.read, doubt.content, doubt.delivered);
  }
}

void Engine::split(Watch& watch, const Doubt& doubted) {
  Subscription* sub = holder(watch, doubted.read.via);
  if (sub == nullptr) return stale(doubted.read);  // not watched in that session: nothing to keep apart
  emit(SessionsDisagreed{doubted.read.upstream, sub->subscriber->id, *sub->uri});
  Watch& apart = watch_for(*watch.caller, {watch.key->uri, sub->subscriber->id});
  apart.updated = watch.updated;  // what was read before is no answer to who was told of an update
  rejoin(*sub, apart);
  Read as_if = doubted.read;
  as_if.watch = apart.id;
  as_if.ordinal = ++apart.issued;
  accept(apart, as_if, doubted.content, doubted.delivered);
  reschedule(apart);
}

// The read's session now sees what it sees; one that follows the others through a change agrees with them.
void Engine::follow(Watch& watch, const Read& read, Digest digest) {
  Subscription* sub = holder(watch, read.via);
  if (sub == nullptr || !is_content(digest)) return;
  const bool changed = sub->own && *sub->own != digest;
  sub->own = digest;
  if (!changed || !watch.version || watch.version->via == read.via || watch.version->digest != digest) return;
  sub->agrees = true;
  if (Subscription* other = holder(watch, watch.version->via)) other->agrees = true;
}

}  // namespace freshet
