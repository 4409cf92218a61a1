// How many requests a second travelled to one partner, lately and over the last hour, from counters that only grow.
#pragma once

#include <deque>
#include <vector>

#include "strategies/time.hpp"

namespace freshet::admin {

// Of one partner, since the start or per second.
struct Requests {
  double client = 0;
  double poll = 0;
  double other = 0;  // baseline, watchdog, catch-up, list, session

  [[nodiscard]] double total() const { return client + poll + other; }
  friend Requests operator-(const Requests& a, const Requests& b) {
    return {a.client - b.client, a.poll - b.poll, a.other - b.other};
  }
};

class RequestHistory {
 public:
  static constexpr Duration recent = std::chrono::seconds(10);  // "now" is the mean over so long
  static constexpr Duration step = std::chrono::seconds(15);    // between two points of the last hour
  static constexpr std::size_t points_max = 240;                // an hour of steps
  static constexpr Duration sample_interval = std::chrono::seconds(1);

  // The counters as they stand at `now`, which never goes back. To be called about each sample_interval; where the
  // caller was held up, the mean over the gap is what is shown.
  void sample(const Requests& since_start, Instant now);

  [[nodiscard]] Requests per_second() const;
  [[nodiscard]] Requests per_second_last_hour() const;
  // Per second, oldest first, each the mean of one step.
  [[nodiscard]] std::vector<Requests> points() const;

 private:
  struct Sample {
    Instant at;
    Requests since_start;
  };
  [[nodiscard]] static Requests rate(const Sample& from, const Sample& to);

  std::deque<Sample> recent_;
  std::deque<Sample> hour_;
};

}  // namespace freshet::admin
