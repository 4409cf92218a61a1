#include "strategies/engine.hpp"

#include <cassert>
#include <utility>

namespace freshet {

Engine::Engine(Settings settings, std::uint64_t seed) : settings_(std::move(settings)), random_(seed) {
  for (std::size_t i = 0; i < settings_.upstreams.size(); ++i) {
    read_by_principals_.emplace_back(settings_.limits.seen_by_principals_max);
  }
  partners_.reserve(settings_.partners.size());
  for (const PartnerSettings& partner : settings_.partners) {
    partners_.push_back(Partner{.limiter = Limiter(partner.budget),
                                .breaker = Breaker(partner.breaker),
                                .concurrency = ConcurrencyLimit(partner.budget.concurrency),
                                .schedule = Scheduler(partner.budget.rate_per_s, random_.next()),
                                .by_handle = {},
                                .free_handles = {},
                                .waited_for = {},
                                .background = {},
                                .paused = false,
                                .held = false,
                                .poll_is_next = false});
  }
  weigh_upstreams();
}

void Engine::apply(const Event& event, Now now, Effects& effects) {
  assert(now.instant >= now_.instant);
  now_ = now;
  effects_ = &effects;
  std::visit([this](const auto& e) { on(e); }, event);
  advance();
  effects_ = nullptr;
}

Subscriber* Engine::find(SubscriberId id) {
  const auto it = subscribers_.find(id);
  return it == subscribers_.end() ? nullptr : &it->second;
}

Watch* Engine::find(WatchId id) {
  const auto it = watches_.find(id);
  return it == watches_.end() ? nullptr : it->second;
}

Caller* Engine::find_caller(std::uint64_t id) {
  const auto it = callers_by_id_.find(id);
  return it == callers_by_id_.end() ? nullptr : it->second;
}

Subscription* Engine::find_subscription(std::uint64_t id) {
  const auto it = subscriptions_.find(id);
  return it == subscriptions_.end() ? nullptr : it->second;
}

Subscription* Engine::find_subscription(SubscriberId subscriber, const std::string& uri) {
  Subscriber* s = find(subscriber);
  if (s == nullptr) return nullptr;
  const auto it = s->subscriptions.find(uri);
  return it == s->subscriptions.end() ? nullptr : &it->second;
}

void Engine::on(const SubscriberOpened& e) {
  assert(index(e.upstream) < settings_.upstreams.size());
  const auto [it, added] =
      subscribers_.try_emplace(e.subscriber, Subscriber{.id = e.subscriber,
                                                        .upstream = e.upstream,
                                                        .declared = e.declared,
                                                        .strategy = choose_strategy(e.declared),
                                                        .shadow = e.shadow,
                                                        .listen = e.listen,
                                                        .subscriptions = {},
                                                        .seen = SeenMemory(settings_.limits.seen_per_subscriber_max)});
  assert(added);
  enter(it->second, caller_for(e.upstream, e.principal));
  timers_.set({TimerKind::absence, index(e.subscriber)}, now_.instant + upstream(e.upstream).absent_grace);
}

void Engine::on(const SessionRenewed& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return;
  const Strategy before = s->strategy;
  s->declared = e.declared;
  s->strategy = choose_strategy(e.declared);
  s->native_refused = false;
  if (before != s->strategy) {
    emit(StrategyChanged{s->upstream, s->id, {}, before, s->strategy, StrategyReason::redeclared});
  }
  for (auto& [uri, sub] : s->subscriptions) renew(sub);
  if (s->caller->list.scan && s->caller->list.via == s->id) drop_review(*s->caller);
  next_review(*s->caller);
}

void Engine::on(const SubscriberClosed& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return;
  for (auto& [uri, sub] : s->subscriptions) drop(sub);
  timers_.cancel({TimerKind::absence, index(s->id)});
  exit(*s);
  subscribers_.erase(e.subscriber);
}

void Engine::on(const StreamAttached& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return;
  const bool returned = std::exchange(s->absent, false);
  s->attached = true;
  timers_.cancel({TimerKind::absence, index(s->id)});
  for (auto& [uri, sub] : s->subscriptions) {
    if (!state::live(sub.state)) continue;
    if (!e.resumed) sub.stream_lost();
    if (returned) {
      retry_native(sub);
      ask_soon(sub, Errand::catchup);
      reschedule(*sub.watch);
    }
    tell(sub);
  }
  if (returned) next_review(*s->caller);
}

void Engine::on(const StreamDetached& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr || !s->attached) return;
  s->attached = false;
  timers_.set({TimerKind::absence, index(s->id)}, now_.instant + upstream(s->upstream).absent_grace);
}

void Engine::absence_over(Subscriber& s) {
  s.absent = true;
  for (auto& [uri, sub] : s.subscriptions) {
    if (sub.watch != nullptr) reschedule(*sub.watch);
  }
  if (costs_nothing(*s.caller)) drop_review(*s.caller);
}

void Engine::on(const ClientRequestSent& e) {
  Partner& p = partner_of(e.upstream);
  p.limiter.charge_client(now_.instant);
  p.limiter.client_began();
}

void Engine::on(const ClientRequestEnded& e) {
  Partner& p = partner_of(e.upstream);
  p.limiter.client_ended();
  if (e.given_up) return;
  if (e.http_status == 429 || e.http_status == 503) {
    throttled(e.upstream, e.retry_after);
  } else if (e.http_status == 0 || e.http_status == 502 || e.http_status == 504) {
    failing(e.upstream);
  } else {
    p.breaker.on_success(now_.instant);
  }
}

void Engine::on(const WriteEnded& e) {
  if (Subscriber* s = find(e.subscriber)) s->write_ended = now_.instant;
}

std::optional<Duration> Engine::admit_client(UpstreamId upstream_id, Instant now) {
  Limiter& limiter = partner_of(upstream_id).limiter;
  if (limiter.try_take_client(now)) return std::nullopt;
  return limiter.client_available_at(now) - now;
}

void Engine::fire(const TimerKey& timer) {
  switch (timer.kind) {
    case TimerKind::absence:
      return absence_over(*find(SubscriberId{timer.id}));
    case TimerKind::check:
      return check_credential(*find_caller(timer.id));
    case TimerKind::list:
      return list_due(*find_caller(timer.id));
    case TimerKind::kept:
      return find(WatchId{timer.id})->result.reset();
    default:
      return fire(timer.kind, *subscriptions_.at(timer.id));
  }
}

void Engine::fire(TimerKind kind, Subscription& sub) {
  switch (kind) {
    case TimerKind::baseline_wait:
      return activate_degraded(sub);
    case TimerKind::native_wait:
      return native_slow(sub);
    case TimerKind::notify:
      return tell(sub);
    case TimerKind::watchdog:
      return silence_over(sub);
    case TimerKind::grace:
      return grace_over(sub);
    case TimerKind::native_retry:
      return retry_native(sub);
    case TimerKind::reread:
      return ask_soon(sub, Errand::catchup);
    case TimerKind::absence:
    case TimerKind::check:
    case TimerKind::list:
    case TimerKind::kept:
      break;
  }
}

Instant Engine::next_wake() const {
  Instant wake = timers_.next();
  for (const Partner& p : partners_) wake = std::min(wake, next_read_at(p));
  return wake;
}

}  // namespace freshet
