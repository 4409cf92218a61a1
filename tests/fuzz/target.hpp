// libFuzzer's entry for a body that returns what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace freshet::fuzz {

template <class Body>
int run(const std::uint8_t* data, std::size_t size, Body body) {
  // Copied: a read beyond the end must hit the allocation's edge, and no bytes are no allocation.
  const std::string input(data, data + size);
  const std::string complaint = body(std::string_view(input));
  if (complaint.empty()) return 0;
  std::fprintf(stderr, "%s\n", complaint.c_str());
  std::abort();
}

}  // namespace freshet::fuzz
