// One schedule: what kind of world it is, and all that happens in it that nobody decides. Made from a seed; each step
// carries its own chance, so that steps can be taken out without changing the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strategies/time.hpp"

namespace freshet::sim {

inline constexpr unsigned clients = 3;
inline constexpr unsigned uris = 3;  // the last one never changes
inline constexpr unsigned principals = 2;

enum class Upstream : std::uint8_t { polled, notifies, lies, late };

// Who subscribes: sessions of a server that keeps some, sessions that Freshet made up, or modern listen streams.
enum class Subscribers : std::uint8_t { sessions, minted, listens };

struct World {
  Upstream upstream = Upstream::polled;
  Subscribers subscribers = Subscribers::sessions;
  bool reverts = false;        // contents come back: A, B, A
  bool duplicates = false;     // updates come twice
  bool loses_updates = false;  // some never come
  bool per_principal = false;  // each principal sees its own content
  bool per_session = false;    // the first client's session sees its own content
  bool unreliable = false;     // reads fail, time out and are throttled now and then
  bool drops_answers = false;  // answers to upstream subscribes and unsubscribes are lost now and then
  bool lists = true;           // resources/list can be had
  bool anonymous = false;      // no credentials
  Duration interval{};
  Duration latency{};  // the longest time to the upstream, and back
};

enum class Deed : std::uint8_t {
  change,
  revert,
  vanish,
  reappear,
  forbid,
  allow,
  revoke,
  rotate,
  subscribe,
  unsubscribe,
  read,
  write,
  leave,
  come_back,
  resume,
  close,
  outage,
  restart,
  reconfigure,
};
inline constexpr unsigned deeds = 19;
[[nodiscard]] std::string name(Deed deed);

struct Step {
  Duration at;  // from the beginning
  Deed deed;
  unsigned client;
  unsigned uri;
  std::uint64_t chance;
};

struct Script {
  std::uint64_t seed = 0;
  World world;
  std::vector<Step> steps;  // by time
  Duration length{};        // after this nothing happens any more, and all is well
};

[[nodiscard]] Script make_script(std::uint64_t seed);
[[nodiscard]] std::string describe(const Script& script);

}  // namespace freshet::sim
