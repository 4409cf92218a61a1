// Servers do keep resources per session. Sessions of one principal share a watch while they agree: what one of them
// sees differently counts only once a read in another session saw the same; where that one still sees the old content,
// the first is watched apart from then on. Sessions that followed a change together are believed without asking.
#include <algorithm>

#include "strategies/engine.hpp"

namespace freshet {

namespace {

// The session that is asked for a second opinion.
Subscription* witness(const Watch& watch, SubscriberId apart_from) {
  const auto it = std::ranges::find_if(watch.holders, [&](const Subscription* sub) {
    return sub->subscriber->id != apart_from && state::live(sub->state) && !sub->subscriber->absent;
  });
  return it == watch.holders.end() ? nullptr : *it;
}

}  // namespace

bool Engine::doubtful(const Watch& watch, const Read& read, const Content& content) {
  const std::optional<Version>& version = watch.version;
  if (!version || !is_content(version->digest) || version->digest == content.digest) return false;
  const Subscriber* via = find(read.via);
  if (version->via == read.via || via == nullptr || !via->declared.sessions) return false;
  if (witness(watch, read.via) == nullptr) return false;
  Subscription* sub = holder(watch, read.via);
  const Subscription* other = holder(watch, version->via);
  if (sub == nullptr || !sub->agrees || (other != nullptr && !other->agrees)) return true;
  // What this session still sees as before, and the others do not: it may have stopped to agree.
  if (sub->own == content.digest) sub->agrees = false;
  return !sub->agrees;
}

void Engine::doubt(Watch& watch, const Read& read, const Content& content, bool delivered) {
  if (watch.doubt) stale(watch.doubt->read);
  watch.doubt = std::make_unique<Doubt>(Doubt{read, content, delivered});
  if (Subscription* sub = holder(watch, read.via)) sub->own = content.digest;
  ask_soon(*witness(watch, read.via), Errand::poll);
  if (watch.handle) partner_of(read.upstream).schedule.postpone(*watch.handle, now_.instant + backoff(0));
}

// A read in another session than the doubted one: whom does it confirm? Where it confirms neither, the resource
// changes faster than it is read, and both are believed.
void Engine::resolve_doubt(Watch& watch, const Read& read, const Content& content) {
  if (content.digest == watch.version->digest) {
    const std::unique_ptr<Doubt> apart = std::move(watch.doubt);
    return split(watch, *apart);
  }
  const SubscriberId first = watch.doubt->read.via;
  accept_doubted(watch);
  for (const SubscriberId session : {first, read.via}) {
    if (Subscription* sub = holder(watch, session)) sub->agrees = true;
  }
}

void Engine::accept_doubted(Watch& watch) {
  const std::unique_ptr<Doubt> doubted = std::move(watch.doubt);
  if (!in_order(watch, doubted->read)) return;
  accept(watch, doubted->read, doubted->content, doubted->delivered);
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

void Engine::split(Watch& watch, const Doubt& doubted) {
  Subscription* sub = holder(watch, doubted.read.via);
  if (sub == nullptr) return stale(doubted.read);  // not watched in that session: nothing to keep apart
  emit(SessionsDisagreed{doubted.read.upstream, sub->subscriber->id, *sub->uri});
  Watch& apart = watch_for(*watch.caller, {watch.key->uri, sub->subscriber->id});
  rejoin(*sub, apart);
  Read as_if = doubted.read;
  as_if.watch = apart.id;
  as_if.ordinal = ++apart.issued;
  accept(apart, as_if, doubted.content, doubted.delivered);
}

}  // namespace freshet
