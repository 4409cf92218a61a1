// What the sessions of one principal share: watches, the list, the right to read.
#include <algorithm>
#include <cassert>

#include "strategies/engine.hpp"

namespace freshet {

namespace {
constexpr double check_jitter = 0.1;      // only ever sooner
constexpr unsigned check_tries_max = 16;  // watches looked at for one that may be read
}  // namespace

Caller& Engine::caller_for(UpstreamId upstream_id, const Principal& principal) {
  Caller& caller = callers_[{upstream_id, principal}];
  if (caller.id == 0) {
    caller.id = ++last_id_;
    caller.upstream = upstream_id;
    caller.principal = principal;
    callers_by_id_[caller.id] = &caller;
  }
  return caller;
}

void Engine::enter(Subscriber& s, Caller& caller) {
  s.caller = &caller;
  caller.sessions.push_back(&s);
  next_review(caller);
}

void Engine::exit(Subscriber& s) {
  Caller& caller = *s.caller;
  s.caller = nullptr;
  std::erase(caller.sessions, &s);
  if (caller.list.scan && caller.list.via == s.id) drop_review(caller);
  if (!caller.sessions.empty()) return next_review(caller);
  assert(caller.watches.empty());
  drop_review(caller);
  timers_.cancel({TimerKind::check, caller.id});
  callers_by_id_.erase(caller.id);
  callers_.erase({caller.upstream, caller.principal});
}

// The upstream accepted another credential on a known session: what was seen stays, the picture is the new
// principal's own.
void Engine::on(const PrincipalAdopted& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr || s->caller->principal == e.principal) return;
  Caller& caller = caller_for(s->upstream, e.principal);
  if (caller.refused_at) lift_suspension(caller);  // it was accepted just now
  for (auto& [uri, sub] : s->subscriptions) {
    if (sub.watch == nullptr) continue;
    rejoin(sub, watch_for(caller, {uri, SubscriberId{}}));
    if (state::live(sub.state)) {
      ask_soon(sub, Errand::catchup);
      tell_refusal(sub);
    }
    reschedule(*sub.watch);
  }
  exit(*s);
  enter(*s, caller);
}

Watch& Engine::watch_for(Caller& caller, const WatchKey& key) {
  const auto [it, added] = caller.watches.try_emplace(key);
  Watch& watch = it->second;
  if (!added) return watch;
  watch.id = WatchId{++last_id_};
  watch.key = &it->first;
  watch.caller = &caller;
  watch.freshness = &freshness_of(caller.upstream, key.uri);
  watches_.emplace(watch.id, &watch);
  begin_checks(caller);
  return watch;
}

void Engine::begin_checks(const Caller& caller) {
  const Duration period = upstream(caller.upstream).principal_check;
  const TimerKey check{TimerKind::check, caller.id};
  if (caller.principal == Principal{} || caller.watches.empty() || period == Duration::zero()) {
    timers_.cancel(check);
  } else if (!timers_.at(check)) {
    timers_.set(check, now_.instant + period);
  }
}

const Freshness& Engine::freshness_of(UpstreamId id, std::string_view uri) const {
  const UpstreamSettings& settings = upstream(id);
  for (const Rule& rule : settings.rules) {
    if (glob_match(rule.match, uri)) return rule.freshness;
  }
  return settings.freshness;
}

void Engine::join(Subscription& sub, Watch& watch) {
  watch.holders.push_back(&sub);
  sub.watch = &watch;
  sub.opened_at = watch.issued;
  sub.own.reset();
  sub.agrees = false;
  sub.unsure = 0;
}

void Engine::leave(Subscription& sub) {
  Watch& watch = *sub.watch;
  watch.holders.erase(std::ranges::find(watch.holders, &sub));
  sub.watch = nullptr;
  if (!watch.holders.empty()) {
    std::erase_if(watch.doubts, [&](const Doubt& d) { return d.read.via == sub.subscriber->id; });
    if (watch.witness == sub.subscriber->id) lose_witness(watch);
    return reschedule(watch);
  }
  unschedule(watch);
  forget_result(watch);
  mark_public(watch, false);
  watches_.erase(watch.id);
  std::map<WatchKey, Watch>& all = watch.caller->watches;
  all.erase(all.find(*watch.key));
}

void Engine::rejoin(Subscription& sub, Watch& watch) {
  leave(sub);
  join(sub, watch);
  sub.trust_anew();
  timers_.cancel({TimerKind::grace, sub.id});
  if (std::holds_alternative<state::Subscribing>(sub.state) && !sub.native_busy) ask_soon(sub, Errand::baseline);
}

// 401: no read of our own in this principal's name until one of the client's own, sent later, succeeds. What was kept
// is dropped, and each subscriber is told once, so that its own read shows it the refusal.
void Engine::suspend(Caller& caller, SubscriberId via) {
  if (caller.refused_at) return;
  caller.refused_at = now_.instant;
  emit(PrincipalRefused{caller.upstream});
  drop_review(caller);
  for (auto& [key, watch] : caller.watches) {
    watch.doubts.clear();
    if (!watch.version || watch.version->digest != refused_digest) {
      refused(watch, via);
    }
    reschedule(watch);
  }
}

// Who joins what is refused or gone already is told so: no read of our own will say it again.
void Engine::tell_refusal(Subscription& sub) {
  Watch& watch = *sub.watch;
  if (watch.caller->refused_at && !watch.version) return refused(watch, sub.subscriber->id);
  if (!watch.version || is_content(watch.version->digest) || sub.seen == watch.version->digest) return;
  found(sub, Origin::poll, std::nullopt);
  tell(sub);
}

void Engine::lift_suspension(Caller& caller) {
  caller.refused_at.reset();
  for (auto& [key, watch] : caller.watches) reschedule(watch);
  next_review(caller);
}

// Some read each period, so that a credential that was revoked does not go unnoticed between rare polls.
void Engine::check_credential(Caller& caller) {
  const Duration period = upstream(caller.upstream).principal_check;
  if (caller.watches.empty()) return;
  const Instant next = std::max(caller.last_read, Instant{}) + period;
  if (next > now_.instant) return timers_.set({TimerKind::check, caller.id}, next);
  timers_.set({TimerKind::check, caller.id},
              now_.instant + from_seconds(seconds(period) * (1.0 - check_jitter * random_.unit())));
  auto it = caller.watches.upper_bound(caller.checked);
  for (unsigned tried = 0; tried < std::min<std::size_t>(check_tries_max, caller.watches.size()); ++tried, ++it) {
    if (it == caller.watches.end()) it = caller.watches.begin();
    caller.checked = it->first;
    if (Subscription* sub = reader(it->second)) return ask_soon(*sub, Errand::poll);
  }
}

// Polls travel in the sessions of a watch by turns.
Subscription* Engine::carrier(Watch& watch) {
  for (std::size_t tried = 0; tried < watch.holders.size(); ++tried) {
    watch.turn = static_cast<std::uint32_t>((watch.turn + 1) % watch.holders.size());
    Subscription* sub = watch.holders[watch.turn];
    if (state::live(sub->state) && sub->strategy == Strategy::poll && !sub->subscriber->absent) return sub;
  }
  return nullptr;
}

// Any session that a read of our own may travel in.
Subscription* Engine::reader(const Watch& watch) {
  const auto it = std::ranges::find_if(
      watch.holders, [](const Subscription* sub) { return state::live(sub->state) && !sub->subscriber->absent; });
  return it == watch.holders.end() ? nullptr : *it;
}

Subscription* Engine::holder(const Watch& watch, SubscriberId subscriber) {
  Subscription* sub = find_subscription(subscriber, watch.key->uri);
  return sub != nullptr && sub->watch == &watch ? sub : nullptr;
}

bool Engine::costs_nothing(const Caller& caller) const {
  return caller.refused_at || std::ranges::all_of(caller.sessions, [](const Subscriber* s) { return s->absent; });
}

}  // namespace freshet
