// What resources/list says: it confirms that a resource which was not found is gone, and, where the operator turned
// list polling on for an upstream that does not tell, its changes are told. Never a word on contents.
#include <algorithm>
#include <cassert>

#include "strategies/engine.hpp"

namespace freshet {

namespace {
constexpr unsigned page_failures_max = 5;  // in a row, before lists count as unreliable
}  // namespace

bool Engine::polls_lists(const Caller& caller) const {
  return upstream(caller.upstream).list_polling && std::ranges::any_of(caller.sessions, [](const Subscriber* s) {
           return s->declared.resources && !s->declared.list_changed;
         });
}

bool Engine::pending_tombstone(const Caller& caller) {
  return std::ranges::any_of(caller.watches,
                             [](const auto& entry) { return entry.second.presence == Presence::tombstone_pending; });
}

bool Engine::wants_page(const Caller& caller) const {
  return caller.list.scan.has_value() && !costs_nothing(caller);
}

// Starts a reconciliation, unless one is under way.
void Engine::review(Caller& caller) {
  ListReview& list = caller.list;
  if (list.scan || costs_nothing(caller)) return;
  const bool snapshots =
      std::ranges::any_of(caller.sessions, [](const Subscriber* s) { return s->declared.list_snapshots; });
  std::optional<Hash128> known;
  if (list.snapshot && !pending_tombstone(caller)) known = list.snapshot->digest;
  list.scan.emplace(now_.instant, snapshots, known);
  list.via = SubscriberId{};
  list.failures = 0;
  ask_page(caller);
}

void Engine::drop_review(Caller& caller) {
  caller.list.scan.reset();
  caller.list.page.reset();
  timers_.cancel({TimerKind::list, caller.id});
}

void Engine::ask_page(Caller& caller) {
  timers_.cancel({TimerKind::list, caller.id});
  if (caller.list.queued) return;
  caller.list.queued = true;
  partner_of(caller.upstream).background.push_back({caller.id, Errand::list_page, now_.instant});
}

// Cursors belong to a session: where theirs is gone, the scan begins again in another.
void Engine::send_page(Partner& p, Caller& caller) {
  ListReview& list = caller.list;
  const auto open = [](const Subscriber* s) { return !s->absent; };
  auto via = std::ranges::find_if(caller.sessions, [&](const Subscriber* s) { return s->id == list.via && open(s); });
  if (via == caller.sessions.end()) {
    via = std::ranges::find_if(caller.sessions, open);
    if (list.scan->cursor()) list.scan->overtaken(now_.instant);
    list.via = (*via)->id;
  }
  const PageId page{++last_id_};
  list.page = page;
  pages_[page] = {.upstream = caller.upstream, .caller = caller.id, .dispatched = now_.instant};
  caller.last_read = now_.instant;
  p.limiter.own_began();
  p.breaker.on_sent(now_.instant);
  emit(SendListPage{page, list.via, caller.upstream, list.scan->cursor(), upstream(caller.upstream).read_timeout});
}

void Engine::on(const ListPageEnded& e) {
  const auto node = pages_.extract(e.page);
  assert(!node.empty());
  const PageUnderWay& sent = node.mapped();
  settle_budget(sent.upstream, sent.dispatched, health_of(e.outcome));
  Caller* caller = find_caller(sent.caller);
  if (caller == nullptr || caller->list.page != e.page) return;  // of a scan that was overtaken
  caller->list.page.reset();
  page_ended(*caller, e.outcome);
}

void Engine::page_ended(Caller& caller, const ListOutcome& outcome) {
  ListReview& list = caller.list;
  if (const auto* page = std::get_if<ListPage>(&outcome)) {
    list.failures = 0;
    step_review(caller, list.scan->page(*page, now_.instant));
  } else if (std::holds_alternative<CursorRefused>(outcome)) {
    step_review(caller, list.scan->cursor_refused(now_.instant));
  } else if (std::holds_alternative<Unauthorized>(outcome)) {
    suspend(caller, list.via);
  } else if (std::holds_alternative<Throttled>(outcome) || std::holds_alternative<Failed>(outcome)) {
    if (++list.failures > page_failures_max) return review_failed(caller, ListResult::failed);
    timers_.set({TimerKind::list, caller.id}, now_.instant + backoff(list.failures));
  } else {
    review_failed(caller, ListResult::failed);
  }
}

void Engine::step_review(Caller& caller, const ListScan::Step& step) {
  if (step.next == ListScan::Next::give_up) return review_failed(caller, *step.result);
  if (step.result) emit(ListScanned{caller.upstream, *step.result});
  if (step.next == ListScan::Next::done) return review_done(caller);
  ask_page(caller);
}

// What was not found before the evidence began and is not listed is gone. What is still listed stays pending, is read
// on rarely, and each read that does not find it asks the list again.
void Engine::review_done(Caller& caller) {
  ListReview& list = caller.list;
  const ListScan scan = std::move(*list.scan);
  list.scan.reset();
  const bool changed = list.snapshot && list.snapshot->digest != scan.digest();
  list.snapshot = Snapshot{.proof = scan.proof(),
                           .measured_at = now_.wall,
                           .bound = now_.instant - scan.evidence_since(),
                           .digest = scan.digest(),
                           .resources = scan.resources()};
  list.unreliable = false;
  for (auto& [key, watch] : caller.watches) {
    const bool listed = scan.contains(key.uri);
    if (watch.presence == Presence::tombstone_pending && watch.missing_since <= scan.evidence_since()) {
      watch.listed = listed;
      listed ? slow_down(watch) : confirm_absent(watch);
    } else if (watch.presence == Presence::absent && listed) {
      read_again(watch, now_.instant);
    }
  }
  if (changed && polls_lists(caller)) {
    for (const Subscriber* s : caller.sessions) {
      if (s->attached && !s->shadow && !s->declared.list_changed) emit(NotifyListChanged{s->id});
    }
  }
  next_review(caller);
}

// No picture of the list is to be had at present: repeated reads have to do.
void Engine::review_failed(Caller& caller, ListResult result) {
  emit(ListScanned{caller.upstream, result});
  drop_review(caller);
  caller.list.unreliable = true;
  for (auto& [key, watch] : caller.watches) {
    if (watch.presence != Presence::tombstone_pending) continue;
    if (watch.missing >= missing_reads_to_confirm) confirm_absent(watch);
  }
  timers_.set({TimerKind::list, caller.id},
              now_.instant + random_.jittered(upstream(caller.upstream).list_interval, 0.1));
}

// At once for a tombstone that came too late for the last scan, in its turn where lists are polled, else not at all.
void Engine::next_review(Caller& caller) {
  if (caller.list.scan || costs_nothing(caller)) return;
  if (caller.list.unreliable && timers_.at({TimerKind::list, caller.id})) return;
  const bool overdue = std::ranges::any_of(caller.watches, [](const auto& entry) {
    return entry.second.presence == Presence::tombstone_pending && !entry.second.listed;
  });
  if (overdue) return review(caller);
  if (!polls_lists(caller)) return timers_.cancel({TimerKind::list, caller.id});
  const UpstreamSettings& settings = upstream(caller.upstream);
  if (!caller.list.snapshot) return review(caller);
  if (!timers_.at({TimerKind::list, caller.id})) {
    timers_.set({TimerKind::list, caller.id},
                now_.instant + random_.jittered(settings.list_interval, settings.freshness.plan.jitter));
  }
}

void Engine::list_due(Caller& caller) {
  caller.list.unreliable = false;
  if (caller.list.scan) return ask_page(caller);
  if (polls_lists(caller) || pending_tombstone(caller)) review(caller);
}

// A scan that was under way may have torn; what is gone or doubtful may be listed again.
void Engine::on(const ListChangeArrived& e) {
  Subscriber* s = find(e.subscriber);
  if (s == nullptr) return;
  Caller& caller = *s->caller;
  if (caller.list.scan) {
    caller.list.page.reset();
    return step_review(caller, caller.list.scan->overtaken(now_.instant));
  }
  const bool concerned = std::ranges::any_of(caller.watches, [](const auto& entry) {
    return entry.second.presence == Presence::tombstone_pending || entry.second.presence == Presence::absent;
  });
  if (concerned) review(caller);
}

// The absence is a version like others; whoever holds a content is told once.
void Engine::confirm_absent(Watch& watch) {
  Read as_if;
  as_if.watch = watch.id;
  as_if.ordinal = ++watch.issued;
  as_if.kind = ReadKind::poll;
  as_if.via = watch.version ? watch.version->via : SubscriberId{};
  as_if.upstream = watch.caller->upstream;
  as_if.dispatched = watch.confirmed;
  Content nothing;
  nothing.digest = absent_digest;
  accept(watch, as_if, nothing, false);
  slow_down(watch);
}

}  // namespace freshet
