// What nobody decides.
#include "simulation.hpp"

namespace freshet::sim {

namespace {
using namespace std::chrono_literals;
}  // namespace

void Simulation::perform(const Step& step) {
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
      return subscribe(step.client, step.uri);
    case Deed::unsubscribe:
      return unsubscribe(step.client, step.uri);
    case Deed::read:
      return read(step.client, step.uri, false);
    case Deed::write:
      if (!c.open || sees(step.client, step.uri) < 0) return;
      change(step.uri, owner);
      held.written = sees(step.client, step.uri);
      return apply(WriteEnded{c.id});
    case Deed::leave:
      return detach(step.client);
    case Deed::come_back:
      return attach(step.client, false);
    case Deed::resume:
      return attach(step.client, true);
    case Deed::close:
      return close(step.client);
    case Deed::outage:
      return outage(from_seconds(seconds(world_.interval) * 2.0 * chance_.unit()));
    case Deed::restart:
      return restart(step.client);
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
    if (c.held[uri].subscribed && !c.held[uri].confirmed) c.held[uri].baselines.insert(sees(client, uri));
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
  c.principal = other;
  drop_debts(client);
  for (Held& held : c.held) {
    held.quiet_broken = true;
    held.told = held.written = 0;
  }
  std::erase_if(shown_, [&](const auto& entry) { return entry.first.first == c.id; });
  Principal p;
  p.digest[0] = std::byte(other + 1);
  apply(PrincipalAdopted{c.id, p});
}

void Simulation::close(unsigned client) {
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

// From here on nothing goes wrong any more, and everybody listens.
void Simulation::calm_down() {
  faults_ = false;
  if (now_ < down_until_) run_until(down_until_);
  run_until(now_ + 3s);  // sessions that are being made anew, clients that are coming back
  for (unsigned client = 0; client < clients; ++client) {
    if (!clients_[client].open) open(client);
    attach(client, false);
  }
}

}  // namespace freshet::sim
