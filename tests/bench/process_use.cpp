#include "tests/bench/process_use.hpp"

#include <fstream>
#include <string>

#include <time.h>

#include "tests/bench/connection.hpp"

namespace freshet::bench {

std::chrono::nanoseconds cpu_time(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) fail("no such process to measure");
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::int64_t resident_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string name; status >> name;) {
    std::int64_t kib = 0;
    if (name == "VmRSS:" && status >> kib) return kib;
  }
  fail("no such process to measure");
}

}  // namespace freshet::bench
