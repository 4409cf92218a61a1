// What the system knows of this process, read from /proc when asked.
#pragma once

#include <string_view>

namespace freshet {

// 0: the system does not tell.
struct ProcessStats {
  double cpu_s = 0;
  double start_s = 0;  // since the epoch
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;
};

[[nodiscard]] ProcessStats read_process_stats();

struct KernelUnits {
  double ticks_per_s;
  double page_bytes;
  double boot_s;  // since the epoch
};

// The fields that /proc/self/stat tells (proc(5)). Pure. A text of another form leaves them 0.
[[nodiscard]] ProcessStats parse_stat(std::string_view stat, const KernelUnits& units);

}  // namespace freshet
