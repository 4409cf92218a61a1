#include "strategies/budget/change_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace freshet {
namespace {

// τ_k, eight times apart: from the second edit within minutes to the season.
constexpr std::array<double, burst_terms> memory_s{300.0, 2'400.0, 19'200.0, 153'600.0, 1'228'800.0, 9'830'400.0};
constexpr double steady_memory_s = 8.0e6;  // a half-life of 64 days

constexpr std::array<double, steady_terms> shrinkage{0.0, 0.2, 2.0};  // a_b, in changes; the common term has none

// What is believed before the first read: one change an hour, worth half a change of evidence.
constexpr double prior_changes = 0.5;
constexpr double prior_interval_s = 3600.0;

constexpr std::array<double, steady_terms> steady_prior{0.05, 0.4, 0.25};
constexpr double burst_prior = 0.1;
constexpr double weight_evidence = 4.0;        // changes that the weights' prior is worth
constexpr double weight_evidence_max = 300.0;  // beyond this older evidence fades: habits change
constexpr double rate_min = 1.0e-10;           // once in 300 years: keeps every division sound

constexpr double wave_suspected_share = 0.4;  // q of the alternative in the test
constexpr double wave_threshold = 10.0;       // a run 20,000 times likelier under a wave
constexpr double wave_expected_max = 0.3;     // a change that likely tells nothing of a wave
constexpr double wave_memory = 8.0;           // reads over which the share is estimated

// e^(−t/τ_k) for every k: each memory is eight times the one before, so one exponential and three squarings a step.
std::array<double, burst_terms> kept_after(double t) {
  std::array<double, burst_terms> kept{};
  double e = std::exp(-t / memory_s.back());
  for (std::size_t k = burst_terms; k-- > 0;) {
    kept[k] = e;
    e *= e;
    e *= e;
    e *= e;
  }
  return kept;
}

}  // namespace

double Forecast::changes_within(double t) const {
  const auto kept = kept_after(t);
  double sum = steady_ * t;
  for (std::size_t k = 0; k < burst_terms; ++k) sum += burst_[k] * memory_s[k] * (1.0 - kept[k]);
  return sum;
}

double Forecast::rate_over(double t) const {
  return std::max(changes_within(t) / t, rate_min);
}

ChangeModel::ChangeModel() : changes_(prior_changes), exposure_s_(prior_changes * prior_interval_s) {
  for (std::size_t i = 0; i < terms; ++i) {
    weight_[i] = i < steady_terms ? steady_prior[i] : burst_prior;
    explained_[i] = weight_evidence * weight_[i];
    offered_[i] = weight_evidence;
  }
}

ChangeState ChangeModel::fresh(Instant now) {
  ChangeState state;
  state.as_of = now;
  return state;
}

double ChangeModel::mean_rate() const {
  return changes_ / exposure_s_;
}

double ChangeModel::steady_term(std::size_t b, const ChangeState& s) const {
  const double m = mean_rate();
  if (b == 0) return m;
  return (shrinkage[b] + static_cast<double>(s.count)) / (shrinkage[b] / m + static_cast<double>(s.exposure_s));
}

Forecast ChangeModel::forecast(const ChangeState& s) const {
  Forecast f;
  for (std::size_t b = 0; b < steady_terms; ++b) f.steady_ += weight_[b] * steady_term(b, s);
  for (std::size_t k = 0; k < burst_terms; ++k) {
    f.burst_[k] = weight_[steady_terms + k] * static_cast<double>(s.recent[k]) / memory_s[k];
  }
  return f;
}

// `p`: the chance of a change without a wave.
void ChangeModel::watch_for_wave(Instant at, bool changed, double p) {
  const double q = wave_suspected_share;
  if (run_score_ == 0.0) {
    if (!changed) return;
    run_since_ = at;
    run_hits_ = run_reads_ = 0.0;
  }
  run_hits_ += changed ? 1.0 : 0.0;
  run_reads_ += 1.0;
  run_score_ = std::max(0.0, run_score_ + (changed ? std::log((p + q - p * q) / p) : std::log1p(-q)));
  if (run_score_ < wave_threshold) return;
  wave_since_ = run_since_;
  wave_hits_ = run_hits_;
  wave_reads_ = run_reads_ + 1.0;
  run_score_ = 0.0;
}

// How much of the answer the wave explains, 0..1; counts it. `expected`: by the rates alone.
double ChangeModel::changes_by_wave(Instant last, Instant at, bool changed, double expected) {
  const double p = -std::expm1(-expected);
  if (p > wave_expected_max) return 0.0;
  if (last >= wave_since_) {
    watch_for_wave(at, changed, p);
    return 0.0;
  }
  const double q = wave_share();
  const double by_wave = changed ? q / (p + q - p * q) : 0.0;
  const double fade = 1.0 - 1.0 / wave_memory;
  if (wave_reads_ >= wave_memory) {
    wave_hits_ *= fade;
    wave_reads_ *= fade;
  }
  wave_hits_ += by_wave;
  wave_reads_ += 1.0;
  return by_wave;
}

void ChangeModel::learn_weights(const std::array<double, terms>& expected, double total, double changes) {
  for (std::size_t i = 0; i < terms; ++i) {
    if (expected[i] <= 0.0) continue;
    if (changes > 0.0) explained_[i] += changes * weight_[i] * expected[i] / total;
    offered_[i] += expected[i];
    weight_[i] = explained_[i] / offered_[i];
    if (offered_[i] > weight_evidence_max) {
      explained_[i] *= 0.5;
      offered_[i] *= 0.5;
    }
  }
}

void ChangeModel::observe(ChangeState& s, Instant at, bool changed) {
  const double t = seconds(at - s.as_of);
  if (t <= 0.0) return;
  const auto kept = kept_after(t);
  std::array<double, terms> expected{};  // per term at weight 1
  for (std::size_t b = 0; b < steady_terms; ++b) expected[b] = t * steady_term(b, s);
  for (std::size_t k = 0; k < burst_terms; ++k) {
    expected[steady_terms + k] = static_cast<double>(s.recent[k]) * (1.0 - kept[k]);
  }
  const double total =
      std::max(std::inner_product(expected.begin(), expected.end(), weight_.begin(), 0.0), rate_min * t);
  const double by_wave = changes_by_wave(s.as_of, at, changed, total);
  const double own = changed ? (1.0 - by_wave) * total / -std::expm1(-total) : 0.0;
  explained_[0] += by_wave;
  learn_weights(expected, total, own);
  remember(s, t, own, kept);
  s.as_of = at;
  changes_ += own + by_wave;
  exposure_s_ += t;
}

void ChangeModel::remember(ChangeState& s, double t, double changes, const std::array<double, burst_terms>& kept) {
  const double kept_steady = std::exp(-t / steady_memory_s);
  s.count = static_cast<float>(static_cast<double>(s.count) * kept_steady + changes);
  s.exposure_s = static_cast<float>(static_cast<double>(s.exposure_s) * kept_steady + t);
  for (std::size_t k = 0; k < burst_terms; ++k) {
    const double spread = (1.0 - kept[k]) * memory_s[k] / t;
    s.recent[k] = static_cast<float>(static_cast<double>(s.recent[k]) * kept[k] + changes * spread);
  }
}

}  // namespace freshet
