// What another process has used so far.
#pragma once

#include <chrono>
#include <cstdint>

#include <sys/types.h>

namespace freshet::bench {

// Of all its threads, user and system. Ends the process where there is no such process.
[[nodiscard]] std::chrono::nanoseconds cpu_time(pid_t pid);
[[nodiscard]] std::int64_t resident_kib(pid_t pid);

}  // namespace freshet::bench
