#include "metrics/process_stats.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace freshet {

namespace {

std::string contents_of(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

double boot_time_s() {
  static const double at = [] {
    const auto stat = contents_of("/proc/stat");
    const auto line = stat.find("\nbtime ");
    double seconds = 0;
    if (line != std::string::npos) std::istringstream(stat.substr(line + 7)) >> seconds;
    return seconds;
  }();
  return at;
}

double count_open_fds() {
  std::error_code error;
  const std::filesystem::directory_iterator fds("/proc/self/fd", error);
  if (error) return 0;
  double count = -1;  // the listing's own
  for (auto it = begin(fds); it != end(fds); it.increment(error)) {
    ++count;
    if (error) break;
  }
  return count;
}

double max_fds() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

}  // namespace

ProcessStats parse_stat(std::string_view stat, const KernelUnits& units) {
  // The second field is the program's name in parentheses and may hold anything; field 3 follows the last one.
  const auto name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) return {};
  constexpr std::size_t first_field = 3;
  constexpr std::size_t last_field = 24;
  std::array<std::string, last_field + 1> field;
  std::istringstream in{std::string(stat.substr(name_end + 2))};
  for (std::size_t i = first_field; i <= last_field; ++i) {
    if (!(in >> field[i])) return {};
  }
  const auto number = [&field](std::size_t i) {
    double value = 0;
    std::istringstream(field[i]) >> value;
    return value;
  };
  ProcessStats out;
  out.cpu_s = (number(14) + number(15)) / units.ticks_per_s;
  out.start_s = units.boot_s + number(22) / units.ticks_per_s;
  out.virtual_bytes = number(23);
  out.resident_bytes = number(24) * units.page_bytes;
  return out;
}

ProcessStats read_process_stats() {
  const KernelUnits units{.ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK)),
                          .page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE)),
                          .boot_s = boot_time_s()};
  auto out = parse_stat(contents_of("/proc/self/stat"), units);
  out.open_fds = count_open_fds();
  out.max_fds = max_fds();
  return out;
}

}  // namespace freshet
