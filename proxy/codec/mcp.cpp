#include "proxy/codec/mcp.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <system_error>

#include "proxy/codec/jsonrpc.hpp"
#include "proxy/codec/text.hpp"

namespace freshet::codec {

namespace {

std::optional<std::string> text_of(std::string_view token) {
  if (!token.starts_with('"')) return std::nullopt;
  return unquote(token);
}

std::optional<std::uint64_t> unsigned_of(std::string_view token) {
  std::uint64_t n = 0;
  const auto* end = token.data() + token.size();
  if (!all_digits(token) || std::from_chars(token.data(), end, n).ec != std::errc{}) return std::nullopt;
  return n;
}

std::string_view value_at(std::string_view text, std::initializer_list<std::string_view> path) {
  const auto found = find_value(text, path);
  return found ? found->in(text) : std::string_view{};
}

std::string text_at(std::string_view text, std::initializer_list<std::string_view> path) {
  return text_of(value_at(text, path)).value_or("");
}

// nullopt: it is no array of strings.
std::optional<std::vector<std::string>> texts_in(std::string_view array) {
  JsonReader reader(array, json_depth_ceiling);
  if (reader.peek() != JsonKind::array) return std::nullopt;
  std::vector<std::string> texts;
  bool all_strings = true;
  reader.elements([&] {
    auto text = text_of(reader.skip().in(array));
    all_strings &= text.has_value();
    if (text) texts.push_back(std::move(*text));
  });
  if (!all_strings) return std::nullopt;
  return texts;
}

// How often an object has a member of some name, and its last value, in that object's bytes.
struct Occurrence {
  std::size_t times = 0;
  Span value;
  bool has_siblings = false;
};

Occurrence occurrence_of(std::string_view name, std::string_view object) {
  Occurrence found;
  JsonReader reader(object, json_depth_ceiling);
  reader.members([&](std::string_view token) {
    const Span value = reader.skip();
    found.has_siblings = true;
    if (!token_equals(token, name)) return;
    ++found.times;
    found.value = value;
  });
  return found;
}

std::string show(std::string_view message, std::string_view capability) {
  std::string out(message);
  const auto resources = find_value(message, {"result", "capabilities", "resources"});
  if (!resources || !resources->in(message).starts_with('{')) return out;
  const auto found = occurrence_of(capability, resources->in(message));
  if (found.times == 1) out.replace(resources->begin + found.value.begin, found.value.size(), "true");
  if (found.times == 0) out.insert(resources->begin + 1, quote(capability) + (found.has_siblings ? ":true," : ":true"));
  return out;
}

std::string subscription_member(std::string_view id_json) {
  if (id_json.empty()) return {};
  return std::string(R"("io.modelcontextprotocol/subscriptionId":)").append(id_json);
}

}  // namespace

InitializeResult read_initialize_result(std::string_view message) {
  InitializeResult out;
  const auto result = value_at(message, {"result"});
  const auto capabilities = value_at(result, {"capabilities"});
  if (!capabilities.starts_with('{')) return out;
  out.ok = true;
  out.protocol_version = text_at(result, {"protocolVersion"});
  out.supported_versions = texts_in(value_at(result, {"supportedVersions"})).value_or(std::vector<std::string>{});
  auto server = value_at(result, {"serverInfo"});
  if (server.empty()) server = value_at(result, {"_meta", "io.modelcontextprotocol/serverInfo"});
  out.server_name = text_at(server, {"name"});
  out.server_version = text_at(server, {"version"});
  const auto resources = value_at(capabilities, {"resources"});
  out.declaration.resources = resources.starts_with('{');
  out.declaration.subscribe = value_at(resources, {"subscribe"}) == "true";
  out.declaration.list_changed = value_at(resources, {"listChanged"}) == "true";
  return out;
}

std::string show_subscribe(std::string_view message) {
  return show(message, "subscribe");
}
std::string show_list_changed(std::string_view message) {
  return show(message, "listChanged");
}

std::string updated_notification(std::string_view uri, const UpdateMeta& meta) {
  std::string params = R"({"uri":)" + quote(uri) + R"(,"_meta":{)";
  if (!meta.subscription_id_json.empty()) params += subscription_member(meta.subscription_id_json) + ',';
  params += R"("dev.freshet/strategy":)" + quote(meta.strategy);
  params += R"(,"dev.freshet/version":)" + quote(meta.version);
  params += R"(,"dev.freshet/observedAt":)" + quote(meta.observed_at);
  params += R"(,"dev.freshet/stalenessBoundMs":)" + std::to_string(meta.staleness_bound_ms) + "}}";
  return notification("notifications/resources/updated", params);
}

std::string list_changed_notification(std::string_view subscription_id_json) {
  constexpr std::string_view method = "notifications/resources/list_changed";
  if (subscription_id_json.empty()) return notification(method);
  return notification(method, "{\"_meta\":{" + subscription_member(subscription_id_json) + "}}");
}

std::optional<ListenFilter> read_listen_filter(std::string_view params_json) {
  const auto filter = value_at(params_json, {"notifications"});
  JsonReader reader(filter, json_depth_ceiling);
  if (reader.peek() != JsonKind::object) return std::nullopt;
  ListenFilter out;
  MemberNames names;
  bool typed = true;
  reader.members([&](std::string_view token) {
    const auto name = names.add(token);
    const auto value = reader.skip().in(filter);
    const auto flag = [&](bool& shown) {
      shown = value == "true";
      typed &= shown || value == "false";
    };
    if (name == "toolsListChanged") flag(out.tools_list_changed);
    if (name == "promptsListChanged") flag(out.prompts_list_changed);
    if (name == "resourcesListChanged") flag(out.resources_list_changed);
    if (name != "resourceSubscriptions") return;
    auto uris = texts_in(value);
    typed &= uris.has_value();
    if (uris) out.resource_uris = std::move(*uris);
  });
  if (!typed || names.has_duplicates()) return std::nullopt;
  return out;
}

std::string listen_filter_json(const ListenFilter& filter) {
  std::string members;
  const auto add = [&members](std::string_view member) {
    if (!members.empty()) members += ',';
    members += member;
  };
  if (filter.tools_list_changed) add("\"toolsListChanged\":true");
  if (filter.prompts_list_changed) add("\"promptsListChanged\":true");
  if (filter.resources_list_changed) add("\"resourcesListChanged\":true");
  if (!filter.resource_uris.empty()) {
    std::string uris;
    for (const auto& uri : filter.resource_uris) uris += (uris.empty() ? "" : ",") + quote(uri);
    add("\"resourceSubscriptions\":[" + uris + ']');
  }
  return '{' + members + '}';
}

std::string acknowledged_notification(std::string_view subscription_id_json, const ListenFilter& honoured) {
  return notification("notifications/subscriptions/acknowledged",
                      "{\"_meta\":{" + subscription_member(subscription_id_json) +
                          "},\"notifications\":" + listen_filter_json(honoured) + "}");
}

std::string listen_completed(std::string_view subscription_id_json) {
  return result_response(subscription_id_json,
                         "{\"resultType\":\"complete\",\"_meta\":{" + subscription_member(subscription_id_json) + "}}");
}

CacheHint read_cache_hint(std::string_view result_json) {
  CacheHint hint;
  JsonReader reader(result_json, json_depth_ceiling);
  if (reader.peek() != JsonKind::object) return hint;
  std::size_t scopes = 0;
  reader.members([&](std::string_view name) {  // one walk: results may be large
    const auto value = reader.skip().in(result_json);
    if (token_equals(name, "ttlMs")) hint.ttl_ms = unsigned_of(value);
    if (token_equals(name, "resultType")) hint.result_type = text_of(value).value_or("");
    if (!token_equals(name, "cacheScope")) return;
    hint.is_public = ++scopes == 1 && text_of(value) == "public";
  });
  return hint;
}

UriList read_uri_list(std::string_view result_json) {
  UriList out;
  const auto resources = value_at(result_json, {"resources"});
  JsonReader reader(resources, json_depth_ceiling);
  if (reader.peek() != JsonKind::array) return out;
  out.ok = true;
  const auto offset = static_cast<std::size_t>(resources.data() - result_json.data());
  reader.elements([&] {
    const Span entry = reader.skip();
    if (auto uri = text_of(value_at(entry.in(resources), {"uri"}))) {
      out.resources.push_back({std::move(*uri), {offset + entry.begin, offset + entry.end}});
    }
  });
  out.next_cursor = text_of(value_at(result_json, {"nextCursor"}));
  return out;
}

std::string iso8601(std::int64_t wall_ms) {
  using namespace std::chrono;
  constexpr auto first = sys_time<milliseconds>(sys_days(year{0} / 1 / 1));
  constexpr auto last = sys_time<milliseconds>(sys_days(year{10'000} / 1 / 1)) - milliseconds(1);
  const auto time = std::clamp(sys_time<milliseconds>(milliseconds(wall_ms)), first, last);
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  char text[32];
  const int length =
      std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                    static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace freshet::codec
