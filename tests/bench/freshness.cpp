// How much freshness does a budget of reads buy? See run_* in freshness_replay.hpp for the schedules compared.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "strategies/budget/scheduler.hpp"
#include "tests/bench/freshness_replay.hpp"

namespace {

using namespace freshet;
using namespace freshet::bench;

constexpr std::uint64_t seed = 1;
constexpr const char* usage =
    "usage: freshness [--trace FILE.csv] [--polls-per-resource-day N] [--json]\n"
    "       freshness --scheduler-cost\n"
    "Without --trace: the synthetic mixtures, and every trace in ../shared/traces. Without N: several budgets\n"
    "(with --trace and --json: 1). A day is 86,400 s of the trace; ages and lags are in seconds.\n";

struct Options {
  std::optional<std::string> trace;
  std::optional<double> polls_per_resource_day;
  bool json = false;
  bool scheduler_cost = false;
};

struct Run {
  std::string world;
  double polls_per_resource_day;
  Score uniform, fixed, oracle, freshet;
  double uniform_polls_for_same_age;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::runtime_error(arg + " needs a value");
      return argv[++i];
    };
    if (arg == "--trace") {
      options.trace = value();
    } else if (arg == "--polls-per-resource-day") {
      options.polls_per_resource_day = std::strtod(value().c_str(), nullptr);
      if (!(*options.polls_per_resource_day > 0.0)) throw std::runtime_error(arg + " must be above 0");
    } else if (arg == "--json") {
      options.json = true;
    } else if (arg == "--scheduler-cost") {
      options.scheduler_cost = true;
    } else {
      throw std::runtime_error("unknown argument " + arg);
    }
  }
  return options;
}

// By bisection: the reads per resource and day at which uniform polling is as fresh as `age_s`.
double uniform_polls_for(const World& world, double age_s, double start) {
  double low = start / 8.0, high = start * 8.0;
  for (int step = 0; step < 16; ++step) {
    const double middle = std::sqrt(low * high);
    const double reads_per_s = middle * static_cast<double>(world.size()) / day_s;
    (run_uniform(world, reads_per_s, seed).age_s > age_s ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

Run run(const World& world, double n) {
  const double reads_per_s = n * static_cast<double>(world.size()) / day_s;
  Run r{world.name,
        n,
        run_uniform(world, reads_per_s, seed),
        run_fixed(world, reads_per_s, seed),
        run_oracle(world, reads_per_s, seed),
        run_freshet(world, reads_per_s, seed),
        0.0};
  r.uniform_polls_for_same_age = uniform_polls_for(world, r.freshet.age_s, n);
  return r;
}

void print_score(const char* name, const Score& s, const char* end) {
  std::printf("\"%s\":{\"age\":%.6g,\"lag\":%.6g,\"stale_share\":%.6g,\"polls\":%llu}%s", name, s.age_s, s.lag_s,
              s.stale_share, static_cast<unsigned long long>(s.polls), end);
}

void print_json(const Run& r) {
  std::printf("{\"world\":\"%s\",\"polls_per_resource_day\":%g,\"schedules\":{", r.world.c_str(),
              r.polls_per_resource_day);
  print_score("uniform", r.uniform, ",");
  print_score("fixed", r.fixed, ",");
  print_score("oracle", r.oracle, ",");
  print_score("freshet", r.freshet, "},");
  std::printf("\"uniform_polls_per_resource_day_for_same_age\":%.6g}", r.uniform_polls_for_same_age);
}

void print_row(const Run& r) {
  std::printf("%-22s %7g %10.4g %10.4g %6.3f %6.3f %6.3f %6.3f %6.3f %6.3f %6.2fx\n", r.world.c_str(),
              r.polls_per_resource_day, r.uniform.age_s, r.freshet.age_s, r.fixed.age_s / r.uniform.age_s,
              r.oracle.age_s / r.uniform.age_s, r.freshet.age_s / r.uniform.age_s, r.freshet.age_s / r.oracle.age_s,
              r.freshet.lag_s / r.uniform.lag_s, r.freshet.stale_share / r.uniform.stale_share,
              r.uniform_polls_for_same_age / r.polls_per_resource_day);
  std::fflush(stdout);
}

std::vector<World> worlds(const Options& options) {
  if (options.trace) return {load_trace(*options.trace)};
  std::vector<World> all{poisson_world(1000, 60, 7), zipf_world(1000, 60, 8), bursty_world(1000, 60, 9),
                         hourly_world(1000, 60, 10)};
  const std::filesystem::path traces = "../shared/traces";
  if (!std::filesystem::is_directory(traces)) return all;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(traces)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) all.push_back(load_trace(file));
  return all;
}

std::vector<double> budgets(const Options& options) {
  if (options.polls_per_resource_day) return {*options.polls_per_resource_day};
  if (options.trace && options.json) return {1.0};
  return {0.25, 1.0, 4.0, 24.0};
}

void compare(const Options& options) {
  const auto all = worlds(options);
  const auto ns = budgets(options);
  const bool single = all.size() * ns.size() == 1;
  if (options.json && !single) std::printf("{\"runs\":[");
  if (!options.json) {
    std::printf("%-22s %7s %10s %10s %6s %6s %6s %6s %6s %6s %7s\n", "world", "N", "age uni/s", "age fr/s", "fix/un",
                "orc/un", "fr/un", "fr/orc", "lag", "stale", "uni N");
  }
  const char* separator = "";
  for (const World& world : all) {
    for (const double n : ns) {
      const Run r = run(world, n);
      if (options.json) {
        std::printf("%s", separator);
        print_json(r);
        separator = ",\n";
      } else {
        print_row(r);
      }
    }
  }
  if (options.json) std::printf(single ? "\n" : "]}\n");
}

constexpr std::uint32_t cost_watches = 100'000;

// A standing overload: half of the watches belong to one principal, the others are spread over 100, on 4 upstreams.
Scheduler overloaded_scheduler(double reads_per_s, Random& random) {
  Scheduler scheduler(reads_per_s, seed);
  for (std::uint32_t h = 0; h < cost_watches; ++h) {
    const std::uint64_t principal = h % 2 == 0 ? 0 : random.below(100);
    scheduler.add(h, {.policy = h % 3 == 0 ? PollPolicy::budget : PollPolicy::fixed},
                  {.upstream = h % 4, .principal = principal}, Instant{});
  }
  return scheduler;
}

// CPU time, in batches: taking and observing are timed apart at no cost per call.
void scheduler_cost() {
  constexpr int batches = 20'000, batch = 100;
  constexpr double reads_per_s = 1000.0;
  Random random(seed);
  Scheduler scheduler = overloaded_scheduler(reads_per_s, random);
  Instant now{};
  std::clock_t taking = 0, observing = 0;
  std::size_t reads = 0;
  std::vector<std::pair<Scheduler::Handle, Instant>> out;
  for (int i = 0; i < batches; ++i) {
    const std::clock_t begin = std::clock();
    for (int k = 0; k < batch; ++k) {
      now += from_seconds(1.0 / reads_per_s);
      if (const auto handle = scheduler.take(now)) out.emplace_back(*handle, now);
    }
    const std::clock_t taken = std::clock();
    for (const auto& [handle, at] : out) scheduler.observed(handle, at, random.below(50) == 0);
    observing += std::clock() - taken;
    taking += taken - begin;
    reads += out.size();
    out.clear();
  }
  const double per_read = 1e9 / CLOCKS_PER_SEC / static_cast<double>(std::max<std::size_t>(reads, 1));
  std::printf("watches %u, reads %zu\ntake %.0f ns\nobserved %.0f ns\n", cost_watches, reads,
              static_cast<double>(taking) * per_read, static_cast<double>(observing) * per_read);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string(argv[1]) == "--help") {
      std::fputs(usage, stdout);
      return 0;
    }
    const Options options = parse(argc, argv);
    if (options.scheduler_cost) {
      scheduler_cost();
    } else {
      compare(options);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "freshness: %s\n%s", error.what(), usage);
    return 2;
  }
}
