// How many requests a partner is given at once, from how long it takes to answer: additive increase, multiplicative
// decrease (Chiu & Jain 1989), where "congested" means slower than twice its own usual latency, or a failure. The
// usual latency is the least seen, forgotten slowly, so that a partner that became slower for good is learnt anew.
#pragma once

#include <algorithm>

#include "strategies/time.hpp"

namespace freshet {

class ConcurrencyLimit {
 public:
  // Requires max >= 1. Starts at max: the first slow answers shrink it.
  explicit ConcurrencyLimit(unsigned max) : max_(max), limit_(max) {}

  void set_max(unsigned max) {
    max_ = max;
    limit_ = std::min(limit_, static_cast<double>(max));
  }

  // An answer came after `latency`; `in_flight` counts it too.
  void on_answer(Instant now, Duration latency, unsigned in_flight) {
    const double sample = std::max(seconds(latency), 1e-6);
    usual_s_ = usual_s_ == 0.0 ? sample : std::min(sample, usual_s_ * drift);
    recent_s_ = recent_s_ == 0.0 ? sample : recent_s_ + smoothing * (sample - recent_s_);
    if (recent_s_ > tolerated * usual_s_ + slack_s) {
      shrink(now);
    } else if (in_flight + 1.0 >= limit_) {
      limit_ = std::min(limit_ + 1.0 / limit_, static_cast<double>(max_));
    }
  }

  // A time-out, a 5xx or a throttled answer.
  void on_failure(Instant now) { shrink(now); }

  // 1..max.
  [[nodiscard]] unsigned limit() const { return std::max(1U, static_cast<unsigned>(limit_)); }

 private:
  static constexpr double drift = 1.001;    // doubles in about 700 answers
  static constexpr double smoothing = 0.2;  // one slow answer alone shrinks nothing
  static constexpr double tolerated = 2.0;
  static constexpr double slack_s = 0.005;  // below this a change in latency is noise
  static constexpr double decrease = 0.7;

  // Once per round trip: the answers that were already under way are the same congestion.
  void shrink(Instant now) {
    if (now < settled_at_) return;
    limit_ = std::max(1.0, limit_ * decrease);
    settled_at_ = now + from_seconds(recent_s_);
  }

  unsigned max_;
  double limit_;
  double usual_s_ = 0.0;
  double recent_s_ = 0.0;
  Instant settled_at_ = Instant::min();
};

}  // namespace freshet
