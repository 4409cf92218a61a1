#include "strategies/budget/value.hpp"

#include <catch2/catch.hpp>

using namespace freshet;

namespace {

// w·∫₀ᵀ u·(1 − e^(−du)) du by Simpson's rule.
double integrated(double w, double d, double T) {
  constexpr int n = 2000;
  double sum = 0.0;
  for (int i = 0; i <= n; ++i) {
    const double u = T * i / n;
    const double f = u * -std::expm1(-d * u);
    sum += f * (i == 0 || i == n ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0));
  }
  return w * sum * T / n / 3.0;
}

}  // namespace

TEST_CASE("the value of a read is the integral that it abbreviates, for rare and frequent change") {
  for (const double d : {1e-9, 1e-6, 1e-4, 1e-2, 1.0, 100.0}) {
    for (const double T : {0.01, 1.0, 30.0, 3600.0}) {
      CAPTURE(d, T);
      if (d * T > 200.0) continue;  // too steep for the reference
      CHECK(read_value(2.0, d, T) == Approx(integrated(2.0, d, T)).epsilon(1e-5));
    }
  }
}

TEST_CASE("the value does not jump where the series takes over") {
  const double below = unit_value(0.02 - 1e-12), above = unit_value(0.02 + 1e-12);
  CHECK(above / below - 1.0 < 1e-7);
  CHECK(above > 0.0);
}

TEST_CASE("time_to_value is the inverse of read_value over forty decades") {
  for (double y = 1e-20; y < 1e20; y *= 7.0) {
    CAPTURE(y);
    CHECK(unit_value(unit_value_inverse(y)) == Approx(y).epsilon(1e-4));
  }
  CHECK(unit_value_inverse(0.0) == 0.0);
  CHECK(read_value(3.0, 0.01, time_to_value(3.0, 0.01, 5000.0)) == Approx(5000.0).epsilon(1e-4));
}

TEST_CASE("what changes faster or weighs more reaches a threshold sooner") {
  CHECK(time_to_value(1.0, 1e-3, 100.0) < time_to_value(1.0, 1e-4, 100.0));
  CHECK(time_to_value(2.0, 1e-3, 100.0) < time_to_value(1.0, 1e-3, 100.0));
}
