#include "strategies/budget/limiter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace freshet {
namespace {

constexpr double client_rate_memory_s = 60.0;

Duration increment_for(double rate_per_s) {
  return Duration(static_cast<Duration::rep>(std::ceil(1e9 / rate_per_s)));
}

}  // namespace

Duration Limiter::Meter::cells(double n) const {
  return Duration(static_cast<Duration::rep>(n * static_cast<double>(increment.count())));
}

Instant Limiter::Meter::conforms_at(Instant now, double burst) const {
  return tat <= now ? now : std::max(now, tat - cells(burst - 1.0));
}

Limiter::Limiter(const BudgetSettings& settings) : places_(settings.concurrency) {
  configure(settings);
}

void Limiter::configure(const BudgetSettings& settings) {
  assert(settings.rate_per_s > 0.0 && settings.burst >= 1.0 && settings.concurrency >= 1);
  assert(settings.poll_burst >= 1.0 && settings.poll_burst <= settings.burst);
  assert(settings.client_reserve >= 0.0 && settings.client_reserve <= 0.9);
  settings_ = settings;
  own_.increment = increment_for(settings.rate_per_s * (1.0 - settings.client_reserve));
  shared_.increment = increment_for(settings.rate_per_s);
  places_ = settings.concurrency;
}

void Limiter::set_concurrency(unsigned limit) {
  places_ = std::clamp(limit, 1U, settings_.concurrency);
}

double Limiter::allowance(Instant now, Urgency urgency) const {
  const bool whole = urgency == Urgency::waited_for && now >= burst_spent_until_;
  return whole ? settings_.burst : settings_.poll_burst;
}

bool Limiter::has_place() const {
  return own_in_flight_ + client_in_flight_ < places_;
}

Instant Limiter::overdue_at() const {
  return held_since_ == never ? never : held_since_ + settings_.own_wait_max;
}

// When clients let an own request pass: their share of the meter and of the places in flight, or its patience.
Instant Limiter::clients_leave_at(Instant now, Urgency urgency) const {
  if (own_in_flight_ >= places_) return never;
  const Instant meter = shared_.conforms_at(now, allowance(now, urgency));
  const Instant yielded = has_place() ? meter : never;
  if (yielded == now || own_in_flight_ > 0) return yielded;
  const Instant patience_ends = std::max(now, held_since_ == never ? now + settings_.own_wait_max : overdue_at());
  const Instant kept_cell = settings_.enforce_clients ? shared_.conforms_at(now, settings_.burst) : now;
  return std::min(yielded, std::max(patience_ends, kept_cell));
}

Instant Limiter::available_at(Instant now, Urgency urgency) const {
  return std::max(own_.conforms_at(now, allowance(now, urgency)), clients_leave_at(now, urgency));
}

bool Limiter::try_take(Instant now, Urgency urgency) {
  if (clients_leave_at(now, urgency) > now) {
    if (own_in_flight_ < places_) held_since_ = std::min(held_since_, now);
    return false;
  }
  if (available_at(now, urgency) > now) return false;
  held_since_ = never;
  own_.charge(now);
  shared_.charge(now);
  return true;
}

double Limiter::client_rate(Instant now) const {
  const double elapsed = std::max(0.0, seconds(now - counted_at_));
  return client_count_ * std::exp(-elapsed / client_rate_memory_s) / client_rate_memory_s;
}

void Limiter::count_client(Instant now) {
  client_count_ = client_rate(now) * client_rate_memory_s + 1.0;
  counted_at_ = now;
}

void Limiter::charge_client(Instant now) {
  count_client(now);
  shared_.charge(now);
  shared_.tat = std::min(shared_.tat, now + shared_.cells(settings_.burst) + settings_.client_debt);
}

// An overdue own request has one cell of the burst kept for it, else clients at full rate would take every one.
Instant Limiter::client_available_at(Instant now) const {
  return shared_.conforms_at(now, settings_.burst - (overdue(now) ? 1.0 : 0.0));
}

bool Limiter::try_take_client(Instant now) {
  if (client_available_at(now) > now) return false;
  count_client(now);
  shared_.charge(now);
  return true;
}

void Limiter::own_ended() {
  assert(own_in_flight_ > 0);
  --own_in_flight_;
}

void Limiter::client_ended() {
  assert(client_in_flight_ > 0);
  --client_in_flight_;
}

void Limiter::spend_burst(Instant now) {
  burst_spent_until_ = now + own_.cells(settings_.burst);
}

double Limiter::own_rate(Instant now) const {
  const double left = settings_.rate_per_s - client_rate(now);
  const double patience = 1.0 / seconds(settings_.own_wait_max);
  return std::min(settings_.rate_per_s * (1.0 - settings_.client_reserve), std::max(left, patience));
}

}  // namespace freshet
