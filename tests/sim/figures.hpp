// What the schedules add up to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace freshet::sim {

struct Figures {
  std::uint64_t schedules = 0;
  std::uint64_t events = 0;
  std::uint64_t notices = 0;
  std::uint64_t late_results = 0;    // that came after a close
  std::uint64_t stale_reads = 0;     // that came too late to count
  std::uint64_t doubles = 0;         // real changes told in worlds whose updates come twice
  std::uint64_t double_reads = 0;    // reads that travelled because of their notifications
  std::vector<float> convergence_s;  // from an outage's end, per debt that was open then
  std::vector<float> quiet_s;        // from a revocation to the last own read in its name

  void add(const Figures& other);
};

// Violations of the figures to meet, empty if there are none.
[[nodiscard]] std::string shortfalls(const Figures& figures);
[[nodiscard]] std::string table(Figures figures);

}  // namespace freshet::sim
