// Histories of change to schedule reads against: recorded ones and synthetic mixtures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace freshet::bench {

constexpr double day_s = 86'400.0;

struct World {
  std::string name;
  double horizon_s = 0.0;                    // the history runs from 0 to here
  std::vector<std::vector<double>> changes;  // per resource, ascending, in (0, horizon_s]
  std::vector<double> weight;                // per resource
  std::vector<double> rate;                  // per resource: its true mean changes per second

  [[nodiscard]] std::size_t size() const { return changes.size(); }
};

// Reads a CSV with the columns resource,change_s. Throws std::runtime_error naming the file and the line.
World load_trace(const std::string& path);

// Poisson change, log-normal rates (median one a day, spread e^1.5), equal weights.
World poisson_world(std::size_t resources, double days, std::uint64_t seed);
// The same with Zipf weights.
World zipf_world(std::size_t resources, double days, std::uint64_t seed);
// Long quiet, then bursts of a geometric number of changes some minutes apart.
World bursty_world(std::size_t resources, double days, std::uint64_t seed);
// Changes only within a minute after the full hour, as of periodic jobs, with log-normal rates.
World hourly_world(std::size_t resources, double days, std::uint64_t seed);

}  // namespace freshet::bench
