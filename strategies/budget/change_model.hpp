// How often does a watched resource change? Learnt from the yes/no answers of irregular reads: "it differs from the
// read T ago" says that at least one change fell into T (Cho & Garcia-Molina, Estimating frequency of change, TOIT
// 2003, on why counting yes/T is biased).
//
// Real resources change in bursts: a change makes another one soon more likely, on several time scales. So the rate
// is a sum of explanations, each with a weight that is learnt per upstream, shared by its watches:
//
//   λ(t) = w_0·m  +  Σ_b w_b·(a_b + c)/(a_b/m + e)  +  Σ_k w_k·c_k(t)/τ_k
//
//   common term:  m, the upstream's mean rate: what can happen to any of its watches
//   steady terms: Gamma-Poisson shrinkage of this watch's count c over its exposure e towards the upstream's mean
//                 rate m, weakly and strongly (a_b); c and e have a long half-life, so a rate that shifts is followed
//   burst terms:  changes counted with memory τ_k (a Hawkes process with exponential kernels): a burst is followed
//                 within reads and forgotten within a few τ_k
//
// A yes counts for E[n | n >= 1] = M/(1 − e^(−M)) changes, M the number expected, spread evenly over the interval. The
// weights maximise the likelihood of the answers by expectation maximisation, one observation at a time; an upstream
// whose resources change at random thus learns to ignore the burst terms, and one whose resources burst to use them.
//
// A deployment or a bulk edit changes many resources at once. It shows as a run of answers that the rates do not
// explain (Page's CUSUM test, 1954) and is kept as a wave: its begin, and the share q of watches that it hits, counted
// on those that were not read since. Changes that the wave explains are no evidence of a watch's own rate.
#pragma once

#include <array>
#include <cstddef>

#include "strategies/time.hpp"

namespace freshet {

inline constexpr std::size_t steady_terms = 3;  // the common one first
inline constexpr std::size_t burst_terms = 6;

// What is kept per watch. Plain data: to be stored and copied.
struct ChangeState {
  Instant as_of{};                          // the last observation
  float count = 0.0F;                       // c
  float exposure_s = 0.0F;                  // e
  std::array<float, burst_terms> recent{};  // c_k
};
static_assert(sizeof(ChangeState) <= 128);

// λ from one moment on, as long as nothing is observed.
class Forecast {
 public:
  // Changes expected within `t` seconds from that moment.
  [[nodiscard]] double changes_within(double t) const;
  // The constant rate (> 0, per second) that would give as many changes within `t` > 0 seconds.
  [[nodiscard]] double rate_over(double t) const;
  [[nodiscard]] double steady_rate() const { return steady_; }

 private:
  friend class ChangeModel;
  double steady_ = 0.0;
  std::array<double, burst_terms> burst_{};  // rate of each burst term at the start
};

// The shared part: one per upstream. Owns no watch's state.
class ChangeModel {
 public:
  ChangeModel();

  // A watch whose content is known as of `now` and about which nothing else is known.
  [[nodiscard]] static ChangeState fresh(Instant now);

  // The content at `at` does (not) differ from that of the last observation. Whose read it was does not matter; a
  // native notification is a `changed`. Observations that are not later than the last one are ignored.
  void observe(ChangeState& state, Instant at, bool changed);

  // The expected rate after state.as_of.
  [[nodiscard]] Forecast forecast(const ChangeState& state) const;

  // The upstream's mean changes per second and watch.
  [[nodiscard]] double mean_rate() const;

  // The present wave: when it began (Instant::min(): there was none), and the chance that it changed a watch that was
  // last read before.
  [[nodiscard]] Instant wave_since() const { return wave_since_; }
  [[nodiscard]] double wave_share() const { return wave_hits_ / wave_reads_; }

 private:
  static constexpr std::size_t terms = steady_terms + burst_terms;

  [[nodiscard]] double steady_term(std::size_t b, const ChangeState& state) const;
  double changes_by_wave(Instant last, Instant at, bool changed, double expected);
  void watch_for_wave(Instant at, bool changed, double p);
  static void remember(ChangeState& state, double t, double changes, const std::array<double, burst_terms>& kept);
  void learn_weights(const std::array<double, terms>& expected, double total, double changes);

  std::array<double, terms> weight_;
  std::array<double, terms> explained_;  // changes attributed to the term
  std::array<double, terms> offered_;    // changes that the term expected at weight 1
  double changes_;                       // over all watches, decayed with exposure
  double exposure_s_;

  Instant wave_since_ = Instant::min();
  double wave_hits_ = 0.0;
  double wave_reads_ = 1.0;
  double run_score_ = 0.0;  // CUSUM: log likelihood ratio of "a wave is on" over the present run of reads
  double run_hits_ = 0.0;
  double run_reads_ = 0.0;
  Instant run_since_{};
};

}  // namespace freshet
