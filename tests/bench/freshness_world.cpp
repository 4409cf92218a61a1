#include "tests/bench/freshness_world.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <stdexcept>

#include "strategies/random.hpp"

namespace freshet::bench {
namespace {

double exponential(Random& random, double rate) {
  return -std::log1p(-random.unit()) / rate;
}

double normal(Random& random) {
  return std::sqrt(-2.0 * std::log1p(-random.unit())) * std::cos(2.0 * std::numbers::pi * random.unit());
}

double log_normal_rate(Random& random) {
  return std::exp(1.5 * normal(random)) / day_s;
}

World empty_world(std::string name, std::size_t resources, double days) {
  World world{std::move(name), days * day_s, {}, {}, {}};
  world.changes.resize(resources);
  world.weight.assign(resources, 1.0);
  world.rate.assign(resources, 0.0);
  return world;
}

void measure_rates(World& world) {
  for (std::size_t i = 0; i < world.size(); ++i) {
    world.rate[i] = static_cast<double>(world.changes[i].size()) / world.horizon_s;
  }
}

std::vector<double> poisson(Random& random, double rate, double horizon_s) {
  std::vector<double> times;
  for (double t = exponential(random, rate); t <= horizon_s; t += exponential(random, rate)) times.push_back(t);
  return times;
}

double parse_seconds(const std::string& text, const std::string& path, std::size_t line) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) throw std::runtime_error(path + ":" + std::to_string(line) + ": not a number: " + text);
  return value;
}

}  // namespace

World load_trace(const std::string& path) {
  std::ifstream file(path);
  std::string row;
  if (!std::getline(file, row) || !row.starts_with("resource,change_s")) {
    throw std::runtime_error(path + ": expected a CSV file with the columns resource,change_s");
  }
  std::map<std::string, std::vector<double>> by_resource;
  double end = 0.0;
  for (std::size_t line = 2; std::getline(file, row); ++line) {
    if (row.empty()) continue;
    const auto comma = row.find(',');
    if (comma == std::string::npos) throw std::runtime_error(path + ":" + std::to_string(line) + ": one column");
    const double t = parse_seconds(row.substr(comma + 1), path, line);
    by_resource[row.substr(0, comma)].push_back(t);
    end = std::max(end, t);
  }
  World world = empty_world(path.substr(path.find_last_of('/') + 1), 0, end / day_s);
  for (auto& [name, times] : by_resource) {
    std::sort(times.begin(), times.end());
    world.changes.push_back(std::move(times));
  }
  world.weight.assign(world.size(), 1.0);
  world.rate.assign(world.size(), 0.0);
  measure_rates(world);
  return world;
}

World poisson_world(std::size_t resources, double days, std::uint64_t seed) {
  Random random(seed);
  World world = empty_world("poisson", resources, days);
  for (std::size_t i = 0; i < resources; ++i) {
    world.rate[i] = log_normal_rate(random);
    world.changes[i] = poisson(random, world.rate[i], world.horizon_s);
  }
  return world;
}

World zipf_world(std::size_t resources, double days, std::uint64_t seed) {
  World world = poisson_world(resources, days, seed);
  world.name = "poisson, Zipf weights";
  double sum = 0.0;
  for (std::size_t i = 0; i < resources; ++i) sum += world.weight[i] = 1.0 / static_cast<double>(i + 1);
  for (double& w : world.weight) w *= static_cast<double>(resources) / sum;
  return world;
}

World bursty_world(std::size_t resources, double days, std::uint64_t seed) {
  Random random(seed);
  World world = empty_world("bursty", resources, days);
  for (std::size_t i = 0; i < resources; ++i) {
    const double bursts_per_s = log_normal_rate(random) / 7.0;
    double t = exponential(random, bursts_per_s);
    while (t <= world.horizon_s) {
      for (; t <= world.horizon_s && random.below(12) != 0; t += exponential(random, 1.0 / 1800.0)) {
        world.changes[i].push_back(t);
      }
      t += exponential(random, bursts_per_s);
    }
  }
  measure_rates(world);
  return world;
}

World hourly_world(std::size_t resources, double days, std::uint64_t seed) {
  Random random(seed);
  World world = empty_world("on the hour", resources, days);
  for (std::size_t i = 0; i < resources; ++i) {
    const double chance = -std::expm1(-3600.0 * log_normal_rate(random));
    for (double hour = 3600.0; hour + 60.0 <= world.horizon_s; hour += 3600.0) {
      if (random.unit() < chance) world.changes[i].push_back(hour + 60.0 * random.unit());
    }
  }
  measure_rates(world);
  return world;
}

}  // namespace freshet::bench
