// Pause and circuit breaker of one partner: when it asks for less (429, 503) or keeps failing, every own request waits.
//
//   closed     requests flow
//   open       nothing is sent until paused_until()
//   half_open  the pause is over: one probe may be out; its success closes, its failure opens for longer
// The pause is what Retry-After asked for (at most `pause_max`), else exponential with jitter. Trouble
// that returns within `calm` of the last recovery goes on with the longer pause instead of starting over. What queued
// up meanwhile is not caught up at once: that is the limiter's pace (Limiter::spend_burst).
#pragma once

#include <algorithm>
#include <optional>

#include "strategies/random.hpp"
#include "strategies/time.hpp"

namespace freshet {

struct BreakerSettings {
  unsigned failures_to_open = 5;                    // in a row
  Duration pause_min = from_seconds(1.0);           // > 0: the first exponential pause
  Duration pause_max = from_seconds(300.0);         // the longest, Retry-After included
  Duration failing_pause_max = from_seconds(20.0);  // while it fails: one probe costs nothing, a late one freshness
  Duration calm = from_seconds(60.0);               // recovered for this long: the exponent starts over
  Duration probe_timeout = from_seconds(60.0);      // a probe without an outcome for this long is given up
};

class Breaker {
 public:
  enum class State { closed, open, half_open };
  enum class Reason { none, throttled, failing };

  explicit Breaker(const BreakerSettings& settings) : settings_(settings) {}

  // New settings from now on; a pause that is under way stays.
  void configure(const BreakerSettings& settings) { settings_ = settings; }

  // May an own request be sent now? On true the caller may send one, and then says so by on_sent.
  [[nodiscard]] bool allows(Instant now) const;
  void on_sent(Instant now);

  // Outcomes of requests, own or clients'. `retry_after`: what the partner asked for, measured from now.
  void on_throttled(Instant now, std::optional<Duration> retry_after, Random& random);
  void on_failure(Instant now, Random& random);
  void on_success(Instant now);
  // The request ended without saying anything of the partner (cancelled): a probe may be sent again.
  void on_abandoned() { probe_until_ = Instant::min(); }

  [[nodiscard]] State state(Instant now) const;
  [[nodiscard]] Reason reason() const { return reason_; }
  // End of the present or last pause; Instant::min() if there was none.
  [[nodiscard]] Instant paused_until() const { return paused_until_; }
  // When allows() turns true by itself; `now` if it is.
  [[nodiscard]] Instant available_at(Instant now) const;

 private:
  [[nodiscard]] Duration backoff(Random& random, Duration longest);
  [[nodiscard]] Duration failing_longest() const { return std::min(settings_.failing_pause_max, settings_.pause_max); }
  void open(Instant now, Duration pause, Reason reason);

  BreakerSettings settings_;
  bool tripped_ = false;
  Reason reason_ = Reason::none;
  unsigned failures_ = 0;
  unsigned level_ = 0;  // pauses since the last calm
  Instant paused_until_ = Instant::min();
  Instant probe_until_ = Instant::min();
  Instant recovered_at_ = Instant::min();
};

}  // namespace freshet
