// The request budget of one partner: rate and burst by the generic cell rate algorithm (ITU-T Recommendation I.371,
// "virtual scheduling": a theoretical arrival time that each request pushes forward), and places in flight.
//
// Two meters run side by side:
//   own     what Freshet originates, at rate·(1 − client_reserve). In any window w: at most rate·w + burst.
//   shared  own and client requests together, at the full rate. Clients always count here, so polls wait for them.
// How much of a meter's burst a request may use depends on who waits for it (Urgency). Polls get `poll_burst`, just
// enough to make up for a late timer, so they are spaced by about 1/rate after idling, at start and after a pause;
// the contract's `burst` is spent only where a client waits for the answer.
// Nothing starves: own requests held up by clients for `own_wait_max` are let through, one at a time.
#pragma once

#include "strategies/time.hpp"

namespace freshet {

struct BudgetSettings {
  double rate_per_s = 10.0;                    // > 0
  double burst = 10.0;                         // >= 1: what the contract allows at once
  double poll_burst = 2.0;                     // 1..burst: what polls take of it at once
  unsigned concurrency = 4;                    // >= 1: requests in flight, own and clients' together
  double client_reserve = 0.1;                 // 0..0.9: share of the rate that own requests leave to clients
  bool enforce_clients = false;                // `enforce: all`: clients wait too, see try_take_client
  Duration client_debt = from_seconds(2.0);    // the most that past client traffic delays own requests by
  Duration own_wait_max = from_seconds(30.0);  // own requests wait no longer than this for clients
};

enum class Urgency {
  background,  // polls, watchdog, catch-up, lists, heals
  waited_for,  // a client waits for it: baselines
};

class Limiter {
 public:
  explicit Limiter(const BudgetSettings& settings);

  // New settings from now on (a reload, or a new share of a fleet's budget). What was spent stays spent.
  void configure(const BudgetSettings& settings);

  // Takes one request of Freshet's own out of the budget, or returns false and takes nothing.
  bool try_take(Instant now, Urgency urgency = Urgency::background);

  // The earliest moment at which try_take can succeed if nothing else happens; `now` if it would now, `never` if it
  // depends on a request's end. Call again after own_ended, client_ended or configure.
  [[nodiscard]] Instant available_at(Instant now, Urgency urgency = Urgency::background) const;

  // A client's request was forwarded: always counts.
  void charge_client(Instant now);

  // For `enforce: all`: as charge_client, but false, and nothing charged, where it would exceed rate·w + burst.
  bool try_take_client(Instant now);
  [[nodiscard]] Instant client_available_at(Instant now) const;

  // Requests in flight. Every begun request is ended exactly once.
  void own_began() { ++own_in_flight_; }
  void own_ended();
  void client_began() { ++client_in_flight_; }
  void client_ended();

  // The places that a slower partner is given for now (see concurrency.hpp); at most settings.concurrency.
  void set_concurrency(unsigned limit);

  // A pause has ended: until the burst would have refilled from nothing, nobody may use more than polls do.
  void spend_burst(Instant now);

  // Own requests per second that the budget leaves at the clients' present rate (mean over about a minute).
  [[nodiscard]] double own_rate(Instant now) const;

  [[nodiscard]] unsigned own_in_flight() const { return own_in_flight_; }
  [[nodiscard]] unsigned client_in_flight() const { return client_in_flight_; }
  [[nodiscard]] const BudgetSettings& settings() const { return settings_; }

 private:
  // One GCRA meter. `tat`: theoretical arrival time; a request conforms while tat <= now + (burst − 1)·T.
  struct Meter {
    Duration increment{1};  // T = 1/rate, rounded up so that rounding never exceeds the rate
    Instant tat = Instant::min();

    [[nodiscard]] Duration cells(double n) const;
    [[nodiscard]] Instant conforms_at(Instant now, double burst) const;
    void charge(Instant now) { tat = (tat > now ? tat : now) + increment; }
  };

  [[nodiscard]] double allowance(Instant now, Urgency urgency) const;
  [[nodiscard]] bool has_place() const;
  [[nodiscard]] Instant overdue_at() const;
  [[nodiscard]] bool overdue(Instant now) const { return overdue_at() <= now; }
  [[nodiscard]] Instant clients_leave_at(Instant now, Urgency urgency) const;
  [[nodiscard]] double client_rate(Instant now) const;
  void count_client(Instant now);

  BudgetSettings settings_;
  Meter own_;
  Meter shared_;
  unsigned places_;
  unsigned own_in_flight_ = 0;
  unsigned client_in_flight_ = 0;
  Instant burst_spent_until_ = Instant::min();
  Instant held_since_ = never;  // since when clients have held up own requests; never: they do not
  double client_count_ = 0.0;   // decayed count of client requests, as of counted_at_
  Instant counted_at_{};
};

}  // namespace freshet
