#include "metrics/process_stats.hpp"

#include <catch2/catch.hpp>

namespace freshet {

namespace {
constexpr KernelUnits units{.ticks_per_s = 100, .page_bytes = 4096, .boot_s = 1'000'000};
}

TEST_CASE("the kernel's line is read by its fields, whatever the program is called") {
  const auto stats = parse_stat(
      "42 (a) b (c) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 1 0 12345 1048576 10 18446744073709551615 1",
      units);
  CHECK(stats.cpu_s == 2.0);
  CHECK(stats.start_s == 1'000'123.45);
  CHECK(stats.virtual_bytes == 1'048'576.0);
  CHECK(stats.resident_bytes == 40'960.0);
}

TEST_CASE("a line of another form tells nothing") {
  CHECK(parse_stat("", units).virtual_bytes == 0.0);
  CHECK(parse_stat("42 (a) S 1 2 3", units).virtual_bytes == 0.0);
}

TEST_CASE("this process has memory, descriptors and a start") {
  const auto stats = read_process_stats();
  CHECK(stats.resident_bytes > 0);
  CHECK(stats.open_fds >= 1);
  CHECK(stats.open_fds <= stats.max_fds);
  CHECK(stats.start_s > 1.6e9);
}

}  // namespace freshet
