// The numbers that an operator watches. Most follow from the engine's events and effects by one exhaustive visit: a new
// effect does not compile until it is said what it counts. The shell tells what only it knows (sessions, streams,
// heals), and what stands at one moment is taken from the engine at each scrape.
//
// Requests are counted once: a client's by the event ClientRequestSent, Freshet's own reads and list pages by their
// effects, everything else that Freshet sends to keep a session going (initialize, native subscribe and unsubscribe,
// streams, DELETE) by session_request. SendRead never counts a client's own read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/registry.h>

#include "metrics/label_values.hpp"
#include "metrics/process_stats.hpp"
#include "metrics/series.hpp"
#include "metrics/subscription_totals.hpp"
#include "strategies/effect.hpp"
#include "strategies/engine.hpp"
#include "strategies/event.hpp"
#include "strategies/ids.hpp"
#include "strategies/settings.hpp"
#include "strategies/time.hpp"

namespace freshet {

inline constexpr std::string_view exposition_content_type = "text/plain; version=0.0.4; charset=utf-8";

// Ids are those of the settings that it was made from; another one ends the process.
class Metrics {
 public:
  // All series are made here, at 0: later calls never add one.
  Metrics(const Settings& settings, std::string_view version);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void observe(const Event& event);
  void observe(const Effect& effect);

  void session_request(UpstreamId upstream);
  void heal(UpstreamId upstream, HealResult result);
  void message_dropped(UpstreamId upstream);
  void set_sessions(UpstreamId upstream, std::size_t sessions);
  void set_streams(UpstreamId upstream, std::size_t streams);

  // The configuration of the start is running.
  void configured(WallTime now);
  // It was read again.
  void reloaded(ReloadResult result, WallTime now);

  // To be called before expose(): takes what stands at this moment from the engine and the system. `totals`: of all
  // that the engine shows; whoever calls counts them, since a walk over many is taken in steps.
  void refresh(const SubscriptionTotals& totals, const Engine& engine, Instant now);
  void set(const SubscriptionTotals& totals);
  void set(const PartnerView& partner);
  void set_reads_in_flight(std::size_t reads);
  void set(const ProcessStats& process);

  // As counted so far.
  [[nodiscard]] double requests(UpstreamId upstream, RequestKind kind) const {
    return upstreams_.at(index(upstream)).requests[kind]->Value();
  }
  [[nodiscard]] double heals(UpstreamId upstream, HealResult result) const {
    return upstreams_.at(index(upstream)).heals[result]->Value();
  }

  // The Prometheus text format, families by name and series by labels.
  [[nodiscard]] std::string expose() const;

 private:
  struct CountEvent;
  struct CountEffect;

  prometheus::Registry registry_;
  std::vector<PartnerSeries> partners_;    // by PartnerId
  std::vector<UpstreamSeries> upstreams_;  // by UpstreamId
  ConfigSeries config_;
  ProcessSeries process_;
};

}  // namespace freshet
