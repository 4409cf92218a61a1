// Plays schedules, each from its own seed, and says what they add up to.
//
//   sim_tests [--schedules N] [--seed S] [--jobs J] [--trace 1]
//
// S is the seed of the first schedule. A schedule that fails is shrunk: steps are taken out as long as it still fails.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>
#include <iostream>
#include <mutex>
#include <string_view>
#include <thread>

#include "simulation.hpp"

namespace {

using namespace freshet::sim;

struct Options {
  std::uint64_t schedules = 100'000;
  std::uint64_t seed = 1;
  unsigned jobs = 2;
  bool trace = false;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    std::uint64_t value = 0;
    const char* text = argv[i + 1];
    if (std::from_chars(text, text + std::strlen(text), value).ec != std::errc{}) return std::nullopt;
    if (name == "--schedules" || name == "--seeds") {
      options.schedules = value;
    } else if (name == "--seed") {
      options.seed = value;
    } else if (name == "--jobs") {
      options.jobs = static_cast<unsigned>(value);
    } else if (name == "--trace") {
      options.trace = value != 0;
    } else {
      return std::nullopt;
    }
  }
  return argc % 2 == 1 ? std::optional(options) : std::nullopt;
}

Violation play(const Script& script, Figures& figures) {
  return Simulation(script).run(figures);
}

// The shortest schedule that still fails, as far as taking out single steps finds it.
Script shrink(Script script) {
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (std::size_t i = 0; i < script.steps.size(); ++i) {
      Script without = script;
      without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(i));
      Figures ignored;
      if (play(without, ignored).empty()) continue;
      script = without;
      shorter = true;
      --i;
    }
  }
  return script;
}

void report(const Script& script, bool traced) {
  Figures ignored;
  const Script shortest = shrink(script);
  if (traced) Simulation(shortest, true).run(ignored);
  std::cout << "FAILED: " << play(shortest, ignored) << "\n"
            << describe(shortest) << "again with: --schedules 1 --seed " << script.seed << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::cerr << "usage: sim_tests [--schedules N] [--seed S] [--jobs J] [--trace 1]\n";
    return 2;
  }
  const auto began = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next = options->seed;
  const std::uint64_t end = options->seed + options->schedules;
  std::atomic<std::uint64_t> failed_seed = end;
  std::mutex adding;
  Figures all;
  const auto work = [&] {
    Figures figures;
    for (std::uint64_t seed = next++; seed < end && failed_seed == end; seed = next++) {
      if (!play(make_script(seed), figures).empty()) failed_seed = seed;
    }
    const std::scoped_lock lock(adding);
    all.add(figures);
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < std::max(1U, options->jobs); ++i) workers.emplace_back(work);
  }
  if (failed_seed != end) {
    report(make_script(failed_seed), options->trace);
    std::cout << "0 passed, 1 failed\n";
    return 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << table(all) << "in " << took.count() << " s\n";
  const std::string shortfall = shortfalls(all);
  std::cout << shortfall << options->schedules << " passed, " << (shortfall.empty() ? 0 : 1) << " failed\n";
  return shortfall.empty() ? 0 : 1;
}
