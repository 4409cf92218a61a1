#include "strategies/budget/breaker.hpp"

#include <algorithm>

namespace freshet {
namespace {

constexpr unsigned level_max = 16;  // 2^16 times the first pause is beyond any pause_max
constexpr double retry_after_jitter = 0.1;
constexpr double retry_after_jitter_max_s = 1.0;

}  // namespace

Breaker::State Breaker::state(Instant now) const {
  if (!tripped_) return State::closed;
  return now < paused_until_ ? State::open : State::half_open;
}

Instant Breaker::available_at(Instant now) const {
  if (!tripped_) return now;
  return std::max({now, paused_until_, probe_until_});
}

bool Breaker::allows(Instant now) const {
  return available_at(now) <= now;
}

void Breaker::on_sent(Instant now) {
  if (tripped_) probe_until_ = now + settings_.probe_timeout;
}

// Half of the exponential pause is certain, half is chance: never at once, never in step with other sidecars.
Duration Breaker::backoff(Random& random, Duration longest) {
  const double whole = seconds(settings_.pause_min) * static_cast<double>(1U << std::min(level_, level_max));
  return from_seconds(std::min(whole, seconds(longest)) * (0.5 + 0.5 * random.unit()));
}

void Breaker::open(Instant now, Duration pause, Reason reason) {
  tripped_ = true;
  reason_ = reason;
  failures_ = 0;
  level_ = std::min(level_ + 1, level_max);
  paused_until_ = std::max(paused_until_, now + pause);
  probe_until_ = Instant::min();
}

void Breaker::on_throttled(Instant now, std::optional<Duration> retry_after, Random& random) {
  const bool asked = retry_after && *retry_after > Duration::zero();
  if (state(now) == State::open && !asked) return;  // sent before the pause: it says nothing new
  if (!tripped_ && recovered_at_ != Instant::min() && now - recovered_at_ >= settings_.calm) level_ = 0;
  Duration pause = backoff(random, settings_.pause_max);
  if (asked) {
    const double wanted = std::min(seconds(*retry_after), seconds(settings_.pause_max));
    const double extra = std::min(wanted * retry_after_jitter, retry_after_jitter_max_s) * random.unit();
    pause = from_seconds(std::min(wanted + extra, seconds(settings_.pause_max)));
  }
  open(now, pause, Reason::throttled);
}

void Breaker::on_failure(Instant now, Random& random) {
  switch (state(now)) {
    case State::open:
      return;
    case State::half_open:
      open(now, backoff(random, failing_longest()), Reason::failing);
      return;
    case State::closed:
      if (++failures_ < settings_.failures_to_open) return;
      if (recovered_at_ != Instant::min() && now - recovered_at_ >= settings_.calm) level_ = 0;
      open(now, backoff(random, failing_longest()), Reason::failing);
  }
}

void Breaker::on_success(Instant now) {
  failures_ = 0;
  if (state(now) != State::half_open) return;
  tripped_ = false;
  reason_ = Reason::none;
  recovered_at_ = now;
}

}  // namespace freshet
