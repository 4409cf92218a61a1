// A small seeded generator (SplitMix64; Steele, Lea, Flood, OOPSLA 2014): randomness is handed in, never drawn from
// the machine, so that a run can be repeated from its seed.
#pragma once

#include <cstdint>

#include "strategies/time.hpp"

namespace freshet {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Uniform in [0, n). Requires n > 0.
  std::uint64_t below(std::uint64_t n) { return next() % n; }

  // `base` moved by at most ±fraction of itself. Requires 0 <= fraction <= 1.
  Duration jittered(Duration base, double fraction) {
    return from_seconds(seconds(base) * (1.0 + fraction * (2.0 * unit() - 1.0)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace freshet
