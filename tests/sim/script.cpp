#include "script.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "strategies/random.hpp"

namespace freshet::sim {

namespace {

constexpr std::array<const char*, deeds> names{
    "change", "revert", "vanish", "reappear",  "forbid", "allow", "revoke", "rotate",  "subscribe",  "unsubscribe",
    "read",   "write",  "leave",  "come_back", "resume", "close", "outage", "restart", "reconfigure"};
// How often each happens, relative to the others; the rare ones only in worlds that have them.
constexpr std::array<unsigned, deeds> weights{30, 6, 3, 4, 2, 3, 1, 2, 8, 5, 8, 3, 5, 8, 3, 1, 2, 2, 0};

World make_world(Random& random) {
  const auto one_in = [&](std::uint64_t n) { return random.below(n) == 0; };
  World w;
  const std::uint64_t kind = random.below(8);
  w.upstream = kind < 4 ? Upstream::polled : kind < 6 ? Upstream::notifies : kind < 7 ? Upstream::lies : Upstream::late;
  const std::uint64_t who = random.below(8);
  w.subscribers = who < 4 ? Subscribers::sessions : who < 5 ? Subscribers::minted : Subscribers::listens;
  w.reverts = one_in(3);
  w.duplicates = one_in(3);
  w.loses_updates = one_in(4);
  w.per_principal = one_in(3);
  w.per_session = one_in(10) && w.subscribers == Subscribers::sessions;
  w.unreliable = one_in(3);
  w.drops_answers = one_in(4);
  w.lists = !one_in(6);
  w.anonymous = one_in(4);
  w.interval = one_in(8) ? std::chrono::seconds(30) : std::chrono::seconds(10);
  w.latency = one_in(4) ? std::chrono::milliseconds(2400) : std::chrono::milliseconds(40);
  return w;
}

Deed make_deed(Random& random) {
  unsigned total = 0;
  for (const unsigned w : weights) total += w;
  auto draw = static_cast<unsigned>(random.below(total));
  for (unsigned i = 0; i < deeds; ++i) {
    if (draw < weights[i]) return static_cast<Deed>(i);
    draw -= weights[i];
  }
  return Deed::change;
}

// Given back, asked for again, and changed while Freshet asks the upstream: chance alone brings that too rarely.
void subscribe_while_it_changes(Script& script, Random& random) {
  const auto client = static_cast<unsigned>(random.below(clients));
  const Duration within = script.world.latency * 3;
  Duration when = from_seconds(seconds(script.length) * random.unit());
  for (const Deed deed : {Deed::unsubscribe, Deed::subscribe, Deed::change}) {
    script.steps.push_back(
        {.at = std::min(when, script.length), .deed = deed, .client = client, .uri = 0, .chance = random.next()});
    when += deed == Deed::unsubscribe ? within : from_seconds(seconds(within) * random.unit());
  }
}

}  // namespace

std::string name(Deed deed) {
  return names[static_cast<unsigned>(deed)];
}

Script make_script(std::uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15ULL + 1);
  Script script;
  script.seed = seed;
  script.world = make_world(random);
  script.length = script.world.interval * 6;
  const std::uint64_t count = 4 + random.below(24);
  for (std::uint64_t i = 0; i < count; ++i) {
    Step step{.at = from_seconds(seconds(script.length) * random.unit()),
              .deed = make_deed(random),
              .client = static_cast<unsigned>(random.below(clients)),
              .uri = static_cast<unsigned>(random.below(uris - 1)),
              .chance = random.next()};
    // Half of what happens follows closely on something else: that is where races are.
    if (i > 0 && random.below(2) == 0) {
      step.at = script.steps.back().at + from_seconds(seconds(script.world.latency) * 2 * random.unit());
      if (random.below(2) == 0) step.uri = script.steps.back().uri;
    }
    step.at = std::min(step.at, script.length);
    script.steps.push_back(step);
  }
  // Drawn last, and never by weight: what else a seed gives stays as it was.
  for (std::uint64_t i = random.below(4); i < 2; ++i) {
    script.steps.push_back({.at = from_seconds(seconds(script.length) * random.unit()),
                            .deed = Deed::reconfigure,
                            .client = 0,
                            .uri = 0,
                            .chance = random.next()});
  }
  if (random.below(2) == 0) subscribe_while_it_changes(script, random);
  std::ranges::sort(script.steps, {}, &Step::at);
  return script;
}

std::string describe(const Script& s) {
  std::ostringstream out;
  const World& w = s.world;
  constexpr std::array kinds{"polled", "notifies", "lies", "late"};
  constexpr std::array who{"sessions", "minted sessions", "listens"};
  out << "seed " << s.seed << ": " << who[static_cast<unsigned>(w.subscribers)] << ", upstream "
      << kinds[static_cast<unsigned>(w.upstream)] << (w.reverts ? " reverts" : "")
      << (w.duplicates ? " duplicates" : "") << (w.loses_updates ? " loses-updates" : "")
      << (w.per_principal ? " per-principal" : "") << (w.per_session ? " per-session" : "")
      << (w.unreliable ? " unreliable" : "") << (w.drops_answers ? " drops-answers" : "")
      << (w.lists ? "" : " no-lists") << (w.anonymous ? " anonymous" : "") << ", interval " << seconds(w.interval)
      << " s, latency " << seconds(w.latency) << " s\n";
  for (const Step& step : s.steps) {
    out << "  " << seconds(step.at) << " s  " << name(step.deed) << " client " << step.client << " uri " << step.uri
        << "\n";
  }
  return out.str();
}

}  // namespace freshet::sim
