// What nobody decides.
#include "simulation.hpp"

namespace freshet::sim {

namespace {
using namespace std::chrono_literals;
}  // namespace

void Simulation::perform(const Step& step) {
  act(step);
  for (unsigned client = 0; client < clients; ++client) {
    Held& held = clients_[client].held[step.uri];
    if (held.subscribed && !held.confirmed) held.baselines.insert(sees(client, step.uri));
  }
}

void Simulation::act(const Step& step) {
  chance_ = Random(step.chance);
  Client& c = clients_[step.client];
  Held& held = c.held[step.uri];
  const unsigned owner = truth_.owner(step.client, c.principal);
  switch (step.deed) {
    case Deed::change:
      return change(step.uri, owner);
    case Deed::revert:
      if (!world_.reverts) return change(step.uri, owner);
      truth_.revert(step.uri, owner);
      return announce(step.uri, owner);
    case Deed::vanish:
      truth_.set_present(step.uri, false);
      looked_for_rarely_.insert(step.uri);
      return chance_.below(2) == 0 ? announce_list() : announce(step.uri, std::nullopt);
    case Deed::reappear:
      truth_.set_present(step.uri, true);
      announce(step.uri, std::nullopt);
      return chance_.below(2) == 0 ? announce_list() : void();
    case Deed::forbid:
      return truth_.set_forbidden(step.uri, c.principal, true);
    case Deed::allow:
      return truth_.set_forbidden(step.uri, c.principal, false);
    case Deed::revoke:
      return revoke(c.principal);
    case Deed::rotate:
      return rotate(step.client);
    case Deed::subscribe:
      if (world_.subscribers == Subscribers::listens) return listen_again(step.client, step.uri, true);
      return subscribe(step.client, step.uri);
    case Deed::unsubscribe:
      if (world_.subscribers == Subscribers::listens) return listen_again(step.client, step.uri, false);
      return unsubscribe(step.client, step.uri);
    case Deed::read:
      return read(step.client, step.uri, false);
    case Deed::write:
      if (!c.open || sees(step.client, step.uri) < 0) return;
      change(step.uri, owner);
      held.written = sees(step.client, step.uri);
      return write_ended(step.client);
    case Deed::leave:
      return leave(step.client);
    case Deed::come_back:
      return come_back(step.client, false);
    case Deed::resume:
      return come_back(step.client, true);
    case Deed::close:
      return close(step.client);
    case Deed::outage:
      return outage(from_seconds(seconds(world_.interval) * 2.0 * chance_.unit()));
    case Deed::restart:
      return restart(step.client);
    case Deed::reconfigure:
      return reconfigure();
  }
}

void Simulation::write_ended(unsigned client) {
  const Client& writer = clients_[client];
  if (world_.subscribers != Subscribers::listens) return apply(WriteEnded{writer.id});
  for (const Client& c : clients_) {
    if (c.open && c.principal == writer.principal) apply(WriteEnded{c.id});
  }
}

void Simulation::change(unsigned uri, unsigned owner) {
  truth_.change(uri, owner);
  announce(uri, owner);
  for (unsigned client = 0; client < clients; ++client) {
    Client& c = clients_[client];
    if (world_.duplicates && c.attached && c.held[uri].confirmed && truth_.owner(client, c.principal) == owner) {
      ++figures_->doubles;
    }
    if (truth_.owner(client, c.principal) == owner) expect_told_soon(client, uri);
  }
}

void Simulation::revoke(unsigned principal) {
  if (world_.anonymous || truth_.revoked(principal)) return;
  truth_.revoke(principal);
  if (now_ >= down_until_) revoked_at_[principal] = now_;
  for (unsigned client = 0; client < clients; ++client) {
    if (clients_[client].principal != principal) continue;
    drop_debts(client);
    for (Held& held : clients_[client].held) held.quiet_broken = true;
  }
}

// The client comes with another credential, and the upstream accepts it.
void Simulation::rotate(unsigned client) {
  Client& c = clients_[client];
  const unsigned other = 1 - c.principal;
  if (world_.anonymous || !c.open || truth_.revoked(other)) return;
  if (world_.subscribers == Subscribers::listens) return;  // the next stream is another principal's, that is all
  c.principal = other;
  drop_debts(client);
  for (Held& held : c.held) {
    held.quiet_broken = true;
    held.told = held.written = 0;
  }
  std::erase_if(shown_, [&](const auto& entry) { return entry.first.first == c.id; });
  apply(PrincipalAdopted{c.id, principal_of(world_, other)});
}

// A listen stream is its subscriber: it ends with it, and the next one asks for everything again.
void Simulation::leave(unsigned client) {
  if (world_.subscribers != Subscribers::listens) return detach(client);
  Client& c = clients_[client];
  if (!c.open) return;
  detach(client);
  c.open = false;
  apply(SubscriberClosed{c.id});
}

void Simulation::come_back(unsigned client, bool resumed) {
  if (world_.subscribers != Subscribers::listens) return attach(client, resumed);
  Client& c = clients_[client];
  if (c.open) return;
  open(client);
  for (const unsigned uri : c.wanted) subscribe(client, uri);
  at(from_seconds(2.0 * chance_.unit()), [this, client, id = c.id] {  // the acknowledgement went out
    if (clients_[client].id == id) attach(client, false);
  });
}

void Simulation::listen_again(unsigned client, unsigned uri, bool wanted) {
  Client& c = clients_[client];
  if (c.wanted.contains(uri) == wanted) return;
  leave(client);
  wanted ? void(c.wanted.insert(uri)) : void(c.wanted.erase(uri));
  come_back(client, false);
}

void Simulation::close(unsigned client) {
  if (world_.subscribers == Subscribers::listens) return leave(client);
  Client& c = clients_[client];
  if (!c.open) return;
  drop_debts(client);
  c.open = c.attached = false;
  c.queued.clear();
  apply(SubscriberClosed{c.id});
  at(1s, [this, client] {
    if (!clients_[client].open) open(client);
  });
  at(1500ms, [this, client] { attach(client, false); });
}

// The operator sets other times, never slower ones than the world's: its figures on speed hold.
void Simulation::reconfigure() {
  Settings changed = settings_for(world_);
  UpstreamSettings& upstream = changed.upstreams[0];
  if (chance_.below(2) == 0) upstream.freshness.plan.interval /= 2;
  // Checks go before polls: more of them than a slow partner answers would leave no place for polls.
  if (chance_.below(2) == 0 && world_.latency < 1s) upstream.freshness.watchdog_silence /= 2;
  if (chance_.below(2) == 0) upstream.absent_grace /= 2;
  if (chance_.below(2) == 0) upstream.list_interval /= 2;
  promises_.clear();  // they were made by the schedule that was
  apply(Reconfigured{std::make_shared<const Settings>(std::move(changed))});
}

// From here on nothing goes wrong any more, and everybody listens.
void Simulation::calm_down() {
  faults_ = false;
  if (now_ < down_until_) run_until(down_until_);
  // A partner that said 429 again and again is left alone for minutes: what changes meanwhile is told after that.
  if (const auto pause = engine_.partners(now_).front().paused_for) run_until(now_ + *pause);
  run_until(now_ + 3s);  // sessions that are being made anew, clients that are coming back
  for (unsigned client = 0; client < clients; ++client) {
    if (world_.subscribers == Subscribers::listens) {
      come_back(client, false);
      continue;
    }
    if (!clients_[client].open) open(client);
    attach(client, false);
  }
}

}  // namespace freshet::sim
