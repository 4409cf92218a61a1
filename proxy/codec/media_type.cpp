#include "proxy/codec/media_type.hpp"

#include <algorithm>

#include "proxy/codec/text.hpp"

namespace freshet::codec {

namespace {

std::string_view without_parameters(std::string_view value) {
  return trimmed(value.substr(0, value.find(';')));
}

// How closely a range names the type: 0 not at all, 1 by */*, 2 by type/*, 3 in full.
int closeness(std::string_view range, std::string_view media_type) {
  if (equal_ignoring_case(range, media_type)) return 3;
  if (range == "*/*") return 1;
  const bool any_subtype = range.ends_with("/*") && range.size() > 2;
  return any_subtype && starts_with_ignoring_case(media_type, range.substr(0, range.size() - 1)) ? 2 : 0;
}

// q=0, q=0. or q=0.000: "not acceptable".
bool is_refused(std::string_view range) {
  bool refused = false;
  for_each_list_member(
      range,
      [&refused](std::string_view parameter) {
        if (!starts_with_ignoring_case(parameter, "q=0")) return;
        refused = parameter.find_first_not_of("0.", 2) == std::string_view::npos;
      },
      ';');
  return refused;
}

}  // namespace

bool is_json(std::string_view content_type) {
  return equal_ignoring_case(without_parameters(content_type), "application/json");
}

bool is_event_stream(std::string_view content_type) {
  return equal_ignoring_case(without_parameters(content_type), "text/event-stream");
}

bool accepts(std::string_view accept, std::string_view media_type) {
  bool has_range = false;
  bool accepted = false;
  int closest = 0;
  for_each_list_member(accept, [&](std::string_view range) {
    has_range = true;
    const int near = closeness(without_parameters(range), media_type);
    if (near == 0 || near < closest) return;
    accepted = !is_refused(range) || (near == closest && accepted);
    closest = near;
  });
  return !has_range || accepted;
}

}  // namespace freshet::codec
