#include "tests/fuzz/mcp_body.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return freshet::fuzz::run(data, size, freshet::fuzz::fuzz_mcp);
}
