// What the loads share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace freshet::bench {

using Micros = std::chrono::duration<double, std::micro>;

struct Options {
  std::uint16_t port = 0;           // of the proxy
  std::uint16_t upstream_port = 0;  // of what stands behind it
  pid_t pid = 0;                    // of the proxy; 0: none
  std::size_t connections = 1;
  std::size_t requests = 0;
  double seconds = 0;
  std::size_t count = 1;
  std::size_t per_session = 1;
  std::size_t resources = 1;
  std::size_t changes = 1;
  std::string method = "notifications/message";
  bool hold = false;
};

// The value below which that share of the sorted values lies. Ends the process where there are none.
[[nodiscard]] double quantile(const std::vector<double>& sorted, double share);

}  // namespace freshet::bench
