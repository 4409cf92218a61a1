// Showing a capability changes that one value and nothing else.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "proxy/codec/mcp.hpp"
#include "tests/fuzz/json_body.hpp"

namespace freshet::fuzz {

// Returns what is wrong, or nothing.
inline std::string fuzz_mcp(std::string_view message) {
  (void)codec::read_cache_hint(message);
  (void)codec::read_uri_list(message);
  if (const auto filter = codec::read_listen_filter(message);
      filter && !is_json_text(codec::acknowledged_notification("1", *filter)))
    return "an acknowledgement that is no JSON";
  const auto before = codec::read_initialize_result(message);
  const auto shown = codec::show_subscribe(message);
  if (shown == message) return {};
  if (!codec::read_initialize_result(shown).declaration.subscribe) return "changed, but not to show subscribe";
  if (!before.declaration.resources) return "showed subscribe where there are no resources";
  if (codec::show_subscribe(shown) != shown) return "showing twice changes twice";
  auto expected = nlohmann::json::parse(message, nullptr, false);
  if (expected.is_discarded()) return {};  // grammatical, but nothing that a value can hold
  expected["result"]["capabilities"]["resources"]["subscribe"] = true;
  return nlohmann::json::parse(shown) == expected ? "" : "something else changed";
}

}  // namespace freshet::fuzz
