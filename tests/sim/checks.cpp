// What must hold. Knows the world and what reached the clients, and nothing of how the engine keeps its books.
#include <algorithm>
#include <sstream>

#include "simulation.hpp"

namespace freshet::sim {

namespace {
using namespace std::chrono_literals;
// A slow partner is given one place in flight: a poll may wait there until a few other reads are back.
constexpr Duration waits_for_a_place = 15s;
}  // namespace

void Simulation::fail(const std::string& what) {
  if (!violation_.empty()) return;
  std::ostringstream out;
  out << what << " (at " << seconds(now_.time_since_epoch()) - 2.0 << " s)";
  violation_ = out.str();
}

// An upstream that notifies every change of a subscribed resource, and every session got all that it sent.
bool Simulation::notified_all() const {
  return world_.upstream == Upstream::notifies && !world_.loses_updates && !world_.per_session && !updates_lost_;
}

void Simulation::check_blame(const StrategyChanged& change) {
  if (notified_all() && change.reason == StrategyReason::silent) fail("an upstream that notifies was called silent");
}

// Whatever Freshet was busy with when the update came: it is passed on, not left to the next read.
void Simulation::expect_told_soon(unsigned client, unsigned uri) {
  const Client& c = clients_[client];
  if (world_.unreliable || world_.drops_answers || world_.reverts || world_.latency > 1s || !c.attached) return;
  at(1s, [this, client, uri, id = c.id, stream = c.stream, changed_to = sees(client, uri)] {
    const Client& told = clients_[client];
    const Held& held = told.held[uri];
    if (!notified_all() || told.id != id || told.stream != stream || !told.attached) return;
    if (!held.confirmed || held.unanswered()) return;
    if (held.content.value_or(-1) <= 0 || Truth::owner_of(*held.content) != Truth::owner_of(changed_to)) return;
    if (*held.content < changed_to) fail("P2: an update of the upstream was not passed on");
  });
}

// P6: in every window w, at most rate·w + burst.
void Simulation::check_budget() {
  const BudgetSettings budget;
  double least = 0.0;
  for (std::size_t i = 0; i < originated_.size(); ++i) {
    const double allowed = budget.rate_per_s * seconds(originated_[i].time_since_epoch());
    const double before = static_cast<double>(i) - allowed;
    least = i == 0 ? before : std::min(least, before);
    if (before + 1.0 - least > budget.burst + 1e-6) return fail("P6: the budget was exceeded");
  }
}

// P5: nothing shown is older than the bound that goes with it, nor, when all is well, than the bound promised before.
void Simulation::check_bounds(bool calm) {
  engine_.for_each_subscription(now_, [&](const SubscriptionView& v) {
    if (!v.age || v.absent) return;
    if (*v.age > v.bound) {
      fail("P5: " + std::string(v.uri) + " of " + std::to_string(index(v.subscriber)) + " (" + std::string(v.state) +
           ") is " + std::to_string(seconds(*v.age)) + " s old, its bound is " + std::to_string(seconds(v.bound)) +
           " s");
    }
    Promise& promise = promises_.try_emplace({v.subscriber, std::string(v.uri)}, Promise{now_, v.bound}).first->second;
    // Sessions that are being told apart hold their promises back: what they see counts once another was asked.
    if (calm && !world_.per_session && v.next_read_in && now_ - promise.made <= promise.bound &&
        *v.age > promise.bound + waits_for_a_place) {
      fail("P5: older than the bound that was promised");
    }
    promise = {now_, v.bound};
  });
}

// P4: no version that is shown is older than the one before.
void Simulation::check_versions() {
  if (world_.reverts || world_.per_session) return;
  engine_.for_each_subscription(now_, [&](const SubscriptionView& v) {
    if (v.version.empty()) return;
    const int number = Truth::number(v.version);
    int& shown = shown_.try_emplace({v.subscriber, std::string(v.uri)}, number).first->second;
    if (Truth::owner_of(number) == Truth::owner_of(shown) && number < shown) fail("P4: a version went back");
    shown = number;
  });
}

// P2: who listens holds what is, or was told that it does not.
void Simulation::check_convergence() {
  for (unsigned client = 0; client < clients; ++client) {
    for (unsigned uri = 0; uri < uris; ++uri) {
      const Held& held = clients_[client].held[uri];
      if (!held.subscribed || held.unanswered()) continue;
      if (held.content == refused) continue;  // it saw the refusal: only its own next read may end that
      if (!held.confirmed) return fail("P1: a subscribe was never answered");
      const int now = sees(client, uri);
      const bool holds = held.content ? *held.content == now : held.degraded || held.baselines.contains(now);
      if (!holds) {
        return fail("P2: client " + std::to_string(client) + " does not hold what resource " + std::to_string(uri) +
                    " is, and was not told");
      }
    }
  }
}

// P9: the counters return to where they were.
void Simulation::check_residue() {
  const std::size_t left = engine_.watch_count() + engine_.reads_in_flight() + engine_.timers() +
                           engine_.notices_under_way() + engine_.errands() + engine_.caller_count() +
                           engine_.subscription_count() + engine_.subscriber_count();
  if (left != 0) fail("P9: something is left after everything was closed");
}

// At an outage's end: who must learn of something.
void Simulation::note_debts() {
  if (world_.unreliable) return;  // the outage's end is not the end of the trouble
  for (unsigned client = 0; client < clients; ++client) {
    const Client& c = clients_[client];
    if (!c.open || !c.attached || !c.session_ok) continue;
    for (unsigned uri = 0; uri < uris; ++uri) {
      const Held& held = c.held[uri];
      const int now = sees(client, uri);
      if (looked_for_rarely_.contains(uri)) continue;
      if (held.confirmed && held.content.value_or(-1) > 0 && *held.content != now && now > 0 && !held.unanswered()) {
        debts_.push_back({client, uri, now_});
      }
    }
  }
}

void Simulation::settle_debts() {
  std::erase_if(debts_, [&](const Debt& debt) {
    const Held& held = clients_[debt.client].held[debt.uri];
    const int now = sees(debt.client, debt.uri);
    if (!held.confirmed || now < 0) return true;
    if (!held.unanswered() && held.content != now) return false;
    figures_->convergence_s.push_back(static_cast<float>(seconds(now_ - debt.since)));
    return true;
  });
}

void Simulation::drop_debts(std::optional<unsigned> client) {
  std::erase_if(debts_, [&](const Debt& debt) { return !client || debt.client == *client; });
}

}  // namespace freshet::sim
