// What the upstream does: serves late, out of order, wrongly or not at all, and notifies as it likes.
#include "simulation.hpp"

namespace freshet::sim {

namespace {
using namespace std::chrono_literals;
}  // namespace

Duration Simulation::some_latency() {
  return from_seconds(seconds(world_.latency) * chance_.unit());
}

// What goes wrong with a request, if something does.
std::optional<ReadOutcome> Simulation::trouble(unsigned client, unsigned session) {
  if (now_ < down_until_) return Failed{Failure::connection};
  if (clients_[client].session != session || !clients_[client].session_ok) return Failed{Failure::session_lost};
  if (!faults_ || !world_.unreliable) return std::nullopt;
  switch (chance_.below(24)) {
    case 0:
      return Failed{Failure::internal};
    case 1:
      return Failed{Failure::status};
    case 2:
      return Throttled{chance_.below(2) == 0 ? std::optional<Duration>(5s) : std::nullopt};
    case 3:
      return Failed{Failure::timeout};
    default:
      return std::nullopt;
  }
}

void Simulation::originated() {
  originated_.push_back(now_);
}

void Simulation::serve_own(const SendRead& asked) {
  originated();
  const unsigned client = by_id_.at(asked.via);
  const unsigned principal = clients_[client].principal;
  const unsigned uri = uri_of(asked.uri);
  if (asked.kind != ReadKind::baseline) last_own_read_[principal] = now_;
  if (asked.kind != ReadKind::baseline && !clients_[client].attached && clients_[client].absent_since &&
      now_ - *clients_[client].absent_since > 15s) {
    fail("an absent client costs reads");
  }
  at(some_latency(), [this, client, principal, uri, id = asked.read, session = clients_[client].session] {
    std::optional<ReadOutcome> bad = trouble(client, session);
    const bool lost = bad && std::holds_alternative<Failed>(*bad) && std::get<Failed>(*bad).reason == Failure::timeout;
    ReadOutcome outcome = bad ? *bad : truth_.read(client, principal, uri);
    at(lost ? 5s : some_latency(), [this, id, outcome = std::move(outcome)] {
      apply(ReadEnded{id, outcome, false});
      check_versions();
    });
  });
}

void Simulation::serve_client(const ForwardRead& asked) {
  const Question q = questions_.at(asked.request);
  questions_.erase(asked.request);
  if (q.because_told && world_.duplicates) ++figures_->double_reads;
  at(Duration{}, [this] { apply(ClientRequestSent{UpstreamId{0}}); });
  at(some_latency(), [this, q, id = asked.read, session = clients_[q.client].session] {
    std::optional<ReadOutcome> bad = trouble(q.client, session);
    ReadOutcome outcome = bad ? *bad : truth_.read(q.client, q.principal, q.uri);
    const bool breaks = faults_ && world_.unreliable && chance_.below(10) == 0;
    at(some_latency(), [this, q, id, outcome = std::move(outcome), bad = bad.has_value(), breaks] {
      const bool delivered = hears(q) && !bad && !breaks;
      if (delivered) {
        const auto* content = std::get_if<Content>(&outcome);
        const int number = content != nullptr                          ? Truth::number(content->digest)
                           : std::holds_alternative<NotFound>(outcome) ? absent
                                                                       : refused;
        got(q, number);
      }
      apply(ClientRequestEnded{UpstreamId{0}, bad ? 0 : 200, std::nullopt});
      apply(ReadEnded{id, outcome, delivered});
      if (delivered) read_delivered(q, outcome);
      check_versions();
    });
  });
}

// A modern read that no stream names: it passes, and what it saw is remembered for the principal.
void Simulation::serve_unwatched(RequestId request) {
  const Question q = questions_.at(request);
  questions_.erase(request);
  at(some_latency(), [this, q] {
    if (trouble(q.client, clients_[q.client].session)) return;
    const int number = sees(q.client, q.uri);
    const ReadOutcome outcome = truth_.read(q.client, q.principal, q.uri);
    at(some_latency(), [this, q, number, outcome] {
      if (number == refused) return;
      got(q, number);
      read_delivered(q, outcome);
    });
  });
}

void Simulation::read_delivered(const Question& q, const ReadOutcome& outcome) {
  if (world_.subscribers != Subscribers::listens) return;
  const auto* content = std::get_if<Content>(&outcome);
  if (content == nullptr && !std::holds_alternative<NotFound>(outcome)) return;
  const Digest digest = content != nullptr ? content->digest : absent_digest;
  apply(ReadDelivered{UpstreamId{0}, principal_of(world_, q.principal), uri_name(q.uri), digest});
}

void Simulation::serve_native(SubscriberId id, const std::string& name, Generation generation, bool subscribe) {
  originated();
  const unsigned client = by_id_.at(id);
  const unsigned uri = uri_of(name);
  at(some_latency(), [=, this, session = clients_[client].session] {
    NativeOutcome outcome = Accepted{};
    if (now_ < down_until_) {
      outcome = Failed{Failure::connection};
    } else if (clients_[client].session != session || !clients_[client].session_ok) {
      outcome = Failed{Failure::session_lost};
    } else if (subscribe) {
      clients_[client].native.insert(uri);
    } else {
      clients_[client].native.erase(uri);
    }
    if (faults_ && world_.drops_answers && chance_.below(5) == 0) outcome = Failed{Failure::timeout};
    at(some_latency(), [=, this] {
      if (subscribe) {
        apply(NativeSubscribeEnded{id, name, generation, outcome});
      } else {
        apply(NativeUnsubscribeEnded{id, name, generation, outcome});
      }
    });
  });
}

void Simulation::serve_list(const SendListPage& asked) {
  originated();
  const unsigned client = by_id_.at(asked.via);
  const unsigned principal = clients_[client].principal;
  last_own_read_[principal] = now_;
  at(some_latency(), [this, client, principal, asked, session = clients_[client].session] {
    ListOutcome outcome = Rejected{};
    if (const std::optional<ReadOutcome> bad = trouble(client, session)) {
      if (const auto* throttle = std::get_if<Throttled>(&*bad)) outcome = *throttle;
      if (const auto* failed = std::get_if<Failed>(&*bad)) outcome = *failed;
    } else if (truth_.revoked(principal)) {
      outcome = Unauthorized{};
    } else if (world_.lists) {
      ListPage page;
      const bool second = asked.cursor.has_value();
      for (unsigned uri = second ? 1 : 0; uri < (second ? uris : 1); ++uri) {
        if (truth_.present(uri)) page.resources.push_back({uri_name(uri), Digest{{uri, 1}}});
      }
      if (!second) page.next_cursor = "";
      outcome = page;
    }
    at(some_latency(), [this, page = asked.page, outcome] { apply(ListPageEnded{page, outcome}); });
  });
}

// Tells the sessions that subscribed, as this upstream does. No owner: everybody's changed.
void Simulation::announce(unsigned uri, std::optional<unsigned> owner) {
  if (world_.upstream == Upstream::polled || world_.upstream == Upstream::lies) return;
  for (unsigned client = 0; client < clients; ++client) {
    const Client& c = clients_[client];
    if (!c.open || !c.native.contains(uri)) continue;
    if (owner && truth_.owner(client, c.principal) != *owner) continue;
    if (faults_ && world_.loses_updates && chance_.below(4) == 0) continue;
    const Duration delay =
        world_.upstream == Upstream::late ? from_seconds(8.0 + 12.0 * chance_.unit()) : some_latency();
    send_update(client, uri, delay);
    if (world_.duplicates) send_update(client, uri, delay + from_seconds(0.005 * chance_.unit()));
  }
}

void Simulation::send_update(unsigned client, unsigned uri, Duration delay) {
  at(delay, [this, client, uri, id = clients_[client].id, session = clients_[client].session] {
    const Client& c = clients_[client];
    if (c.id != id || !c.open || c.session != session || !c.session_ok || now_ < down_until_) return;
    static const auto message = std::make_shared<const std::string>("{}");
    apply(UpdateArrived{id, uri_name(uri), message});
  });
}

void Simulation::announce_list() {
  for (unsigned client = 0; client < clients; ++client) {
    at(some_latency(), [this, client] {
      if (clients_[client].open && now_ >= down_until_) apply(ListChangeArrived{clients_[client].id});
    });
  }
}

void Simulation::outage(Duration length) {
  updates_lost_ = true;
  drop_debts(std::nullopt);
  for (std::optional<Instant>& at : revoked_at_) {  // who cannot ask cannot be refused
    if (at && now_ - *at < 30s) at.reset();
  }
  down_until_ = std::max(down_until_, now_ + length);
  for (const Client& c : clients_) {
    if (c.open) apply(UpstreamStreamLost{c.id});
  }
  at(down_until_ - now_, [this] {
    if (now_ < down_until_) return;
    note_debts();
    for (unsigned client = 0; client < clients; ++client) {
      at(from_seconds(0.5 * chance_.unit()), [this, client, id = clients_[client].id] {
        const Client& c = clients_[client];
        if (c.open && c.id == id && c.session_ok && now_ >= down_until_) apply(UpstreamStreamRestored{id});
      });
    }
  });
}

// The upstream forgets a session; the shell notices and makes it anew.
void Simulation::restart(unsigned client) {
  Client& c = clients_[client];
  if (!c.open || !c.session_ok || world_.subscribers == Subscribers::listens) return;
  updates_lost_ = true;
  c.native.clear();
  ++c.session;
  c.session_ok = false;
  apply(UpstreamStreamLost{c.id});
  at(from_seconds(0.2 + 2.0 * chance_.unit()), [this, client, id = c.id] {
    Client& again = clients_[client];
    if (!again.open || again.id != id) return;
    again.session_ok = true;
    apply(SessionRenewed{id, declaration_of(world_)});
    apply(UpstreamStreamRestored{id});
  });
}

}  // namespace freshet::sim
