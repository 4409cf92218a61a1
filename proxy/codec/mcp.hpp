// The few MCP messages that Freshet knows, of both eras. Everything else stays bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/codec/json_text.hpp"

namespace freshet::codec {

// What a server declared about resources. Without `resources` the others are false.
struct Declaration {
  bool resources = false;
  bool subscribe = false;
  bool list_changed = false;
};

struct InitializeResult {
  bool ok = false;  // the message was a result with an object of capabilities
  std::string protocol_version;
  std::vector<std::string> supported_versions;  // only server/discover
  std::string server_name;
  std::string server_version;
  Declaration declaration;
};

// Reads the answer to `initialize` (2025-11-25 lifecycle) or to `server/discover` (2026-07-28). A member that occurs
// twice on the way to a value counts as absent.
[[nodiscard]] InitializeResult read_initialize_result(std::string_view message);

// The same bytes with result.capabilities.resources.subscribe (listChanged) true, nothing else changed. Unchanged if it
// is true already, if there is no resources object, or if a member on the way occurs twice.
[[nodiscard]] std::string show_subscribe(std::string_view message);
[[nodiscard]] std::string show_list_changed(std::string_view message);

// Freshet's own `_meta` members, under dev.freshet/.
struct UpdateMeta {
  std::string strategy;
  std::string version;
  std::string observed_at;  // iso8601()
  std::int64_t staleness_bound_ms = 0;
  std::string subscription_id_json;  // modern era: the id of the listen request; empty: none
};

// One line each, ready for an event's data.
[[nodiscard]] std::string updated_notification(std::string_view uri, const UpdateMeta& meta);
// Modern era: with the id of the listen request; empty: none.
[[nodiscard]] std::string list_changed_notification(std::string_view subscription_id_json = {});

// What a `subscriptions/listen` request asks for (2026-07-28 subscriptions, Notification Filter).
struct ListenFilter {
  bool tools_list_changed = false;
  bool prompts_list_changed = false;
  bool resources_list_changed = false;
  std::vector<std::string> resource_uris;  // resourceSubscriptions, in order, byte for byte

  [[nodiscard]] bool any() const {
    return tools_list_changed || prompts_list_changed || resources_list_changed || !resource_uris.empty();
  }
};

// From the params of the request. nullopt: there is no such filter, or a field of it has another type or occurs twice.
[[nodiscard]] std::optional<ListenFilter> read_listen_filter(std::string_view params_json);
// As JSON, with the fields that ask for something.
[[nodiscard]] std::string listen_filter_json(const ListenFilter& filter);
// The result that ends a listen stream gracefully (2026-07-28 subscriptions, Graceful Closure).
[[nodiscard]] std::string listen_completed(std::string_view subscription_id_json);
// notifications/subscriptions/acknowledged, with what is honoured.
[[nodiscard]] std::string acknowledged_notification(std::string_view subscription_id_json,
                                                    const ListenFilter& honoured);

// Caching hints of a result (2026-07-28 caching).
struct CacheHint {
  std::optional<std::uint64_t> ttl_ms;  // negative and fractional ones count as absent
  bool is_public = false;               // cacheScope: anything but one "public" is private
  std::string result_type;              // "complete", "input_required"; empty: absent
};

[[nodiscard]] CacheHint read_cache_hint(std::string_view result_json);

// One page of resources/list.
struct ListedUri {
  std::string uri;
  Span entry;  // the whole entry, in the result
};
struct UriList {
  bool ok = false;  // `resources` was an array
  std::vector<ListedUri> resources;
  std::optional<std::string> next_cursor;  // an empty string is a cursor; missing or null ends the list
};

[[nodiscard]] UriList read_uri_list(std::string_view result_json);

// "2026-07-28T09:00:00.000Z". Years outside 0000 to 9999 are clamped to its ends.
[[nodiscard]] std::string iso8601(std::int64_t wall_ms);

}  // namespace freshet::codec
