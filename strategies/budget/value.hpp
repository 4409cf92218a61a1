// What a read is worth. Under Poisson change at rate d, a watch of weight w that was last read T ago has an expected
// age of A(T) = T − (1 − e^(−dT))/d. Reading it now instead of never pays
//
//   V(w, d, T) = w·(T²/2 + T·e^(−dT)/d − (1 − e^(−dT))/d²) = w·∫₀ᵀ u·(1 − e^(−du)) du
//
// and spending each read where V is greatest (equivalently: where it has reached a common threshold) minimises the
// weighted age for a given rate of reads. Cho & Garcia-Molina, Effective page refresh policies for web crawlers (TODS
// 2003), section 4 (age); Azar et al., Tractable near-optimal policies for crawling (PNAS 2018); Kolobov et al.,
// Optimal freshness crawl under politeness constraints (SIGIR 2019); Busa-Fekete et al., A scalable crawling algorithm
// utilizing noisy change-indicating signals (WWW 2025), who schedule by the moment at which V crosses the threshold.
#pragma once

#include <algorithm>
#include <cmath>

namespace freshet {

// V for w = d = 1: g(x) = x²/2 + x·e^(−x) − (1 − e^(−x)), x = dT >= 0. Relative error below 1e-8 for every x.
[[nodiscard]] inline double unit_value(double x) {
  // Below this the closed form cancels: g(x) = x³·(1/3 − x/8 + x²/30 − x³/144 + …).
  constexpr double series_below = 0.02;
  if (x < series_below) return x * x * x * (1.0 / 3.0 - x * (1.0 / 8.0 - x * (1.0 / 30.0 - x / 144.0)));
  const double e = std::exp(-x);
  return 0.5 * x * x + x * e - (1.0 - e);
}

// The x at which unit_value(x) = y, y >= 0. Relative error below 1e-5.
[[nodiscard]] inline double unit_value_inverse(double y) {
  if (y <= 0.0) return 0.0;
  const double z = std::cbrt(3.0 * y);
  if (z < 0.02) return z * (1.0 + z * (1.0 / 8.0 + z * 13.0 / 960.0));  // the series of g, reverted
  // g(x) is close to x³/(3 + 2x); from near the root Newton on a convex function needs two or three steps.
  double x = std::max(z, std::sqrt(2.0 * y));
  x = std::max(std::cbrt(y * (3.0 + 2.0 * x)), x);
  for (int step = 0; step < 6; ++step) {
    const double e = std::exp(-x);
    const double delta = (0.5 * x * x + x * e - (1.0 - e) - y) / (x * (1.0 - e));
    x = std::max(x - delta, 0.5 * x);
    if (std::abs(delta) < 1e-3 * x) break;  // the error is now of the order of its square
  }
  return x;
}

// V(w, d, T), in s² times the weight's unit. Requires w >= 0, d > 0 per second, T >= 0 seconds.
[[nodiscard]] inline double read_value(double w, double d, double T) {
  return w * unit_value(d * T) / (d * d);
}

// The T, in seconds, at which V(w, d, T) reaches `value`. Requires w > 0, d > 0.
[[nodiscard]] inline double time_to_value(double w, double d, double value) {
  return unit_value_inverse(value * d * d / w) / d;
}

}  // namespace freshet
