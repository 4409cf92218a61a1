// The capability gate: one choice per connection, from what the upstream declared. Never from a trial subscribe:
// acceptance proves nothing about notification.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace freshet {

// The families of revisions: up to 2025-11-25 with `initialize` and sessions, from 2026-07-28 on without either.
enum class Era : std::uint8_t { legacy, modern };

[[nodiscard]] constexpr std::string_view to_string(Era e) {
  switch (e) {
    case Era::legacy:
      return "legacy";
    case Era::modern:
      return "modern";
  }
  return "";
}

// What an upstream said of its resources (initialize or server/discover result).
struct Declaration {
  Era era = Era::legacy;
  bool resources = false;
  bool subscribe = false;
  bool list_changed = false;
  bool list_snapshots = false;  // negotiated: every resources/list page names the snapshot that it belongs to
  bool sessions = true;         // false: it keeps none, so all of a principal's requests see the same
  std::string server_name;
  std::string server_version;
};

enum class Strategy : std::uint8_t { off, poll, subscribe };

[[nodiscard]] constexpr Strategy choose_strategy(const Declaration& declared) {
  if (!declared.resources) return Strategy::off;
  return declared.subscribe ? Strategy::subscribe : Strategy::poll;
}

[[nodiscard]] constexpr std::string_view to_string(Strategy s) {
  switch (s) {
    case Strategy::off:
      return "off";
    case Strategy::poll:
      return "poll";
    case Strategy::subscribe:
      return "subscribe";
  }
  return "";
}

// Why a connection or a subscription moved from one strategy to another. The texts are metric label values.
enum class StrategyReason : std::uint8_t {
  declared,            // the first choice
  redeclared,          // capabilities differ after a restart
  subscribe_refused,   // declared, but the method is not there
  subscribe_failed,    // the upstream subscribe failed in passing; it is tried again
  subscribe_slow,      // the upstream has not taken it yet, and the client waits
  restored,            // and succeeded
  no_upstream_stream,  // declared, but the upstream offers no stream to notify on
  silent,              // the watchdog saw a change that was never notified
  stream_lost,         // the upstream stream is gone and does not come back
  prompt_again,        // its updates proved prompt, twice
};

[[nodiscard]] constexpr std::string_view to_string(StrategyReason r) {
  switch (r) {
    case StrategyReason::declared:
      return "declared";
    case StrategyReason::redeclared:
      return "redeclared";
    case StrategyReason::subscribe_refused:
      return "subscribe_refused";
    case StrategyReason::subscribe_failed:
      return "subscribe_failed";
    case StrategyReason::subscribe_slow:
      return "subscribe_slow";
    case StrategyReason::restored:
      return "restored";
    case StrategyReason::no_upstream_stream:
      return "no_upstream_stream";
    case StrategyReason::silent:
      return "silent";
    case StrategyReason::stream_lost:
      return "stream_lost";
    case StrategyReason::prompt_again:
      return "prompt_again";
  }
  return "";
}

}  // namespace freshet
