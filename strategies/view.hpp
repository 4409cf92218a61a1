// How things stand, to be shown. Views live until the engine's next apply().
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strategies/ids.hpp"
#include "strategies/ledger.hpp"
#include "strategies/list_scan.hpp"
#include "strategies/strategy.hpp"
#include "strategies/time.hpp"

namespace freshet {

// How one subscription stands, to be shown. Views live until the next apply().
struct SubscriptionView {
  SubscriberId subscriber;
  UpstreamId upstream;
  std::string_view uri;
  std::string_view state;
  Strategy strategy;
  Presence presence;
  bool attached;
  bool degraded;
  bool absent;
  std::optional<Duration> age;  // none: nothing was read yet
  Duration bound;
  std::optional<Duration> overdue_after;  // an age that its settings do not ask for; none: nothing reads it
  std::optional<WallTime> confirmed_at;   // last accepted read
  std::optional<WallTime> changed_at;
  std::optional<Duration> next_read_in;
  double changes_per_s;  // learned
  std::string version;
  std::string_view mime_type;
  std::string_view server_name;  // the implementation that it came from, as it named itself
  std::string_view server_version;

  [[nodiscard]] bool overdue() const { return age && overdue_after && *age > *overdue_after; }
};

struct SubscriberView {
  SubscriberId subscriber;
  UpstreamId upstream;
  Strategy strategy;
  bool attached;
  bool absent;
  std::size_t subscriptions;
  const Declaration* declared;  // what its strategy was chosen from
};

// What is believed of one principal's resources/list.
struct SnapshotView {
  UpstreamId upstream;
  SnapshotProof proof;
  WallTime measured_at;
  Duration bound;
  std::optional<Duration> next_review_in;
  std::size_t resources;
};

struct PartnerView {
  PartnerId partner;
  double rate_per_s;    // what the budget allows
  double wished_per_s;  // what the present watches would like
  unsigned in_flight;
  std::optional<Duration> paused_for;  // none: not paused, or held by the operator until let go
  std::string_view pause_reason;       // empty: not paused
  std::size_t waiting;                 // baselines, catch-ups and watchdog reads that wait for the budget
  std::size_t polled;                  // watches in the poll schedule
};

}  // namespace freshet
