#include "proxy/codec/http_fields.hpp"

#include <algorithm>

#include "proxy/codec/text.hpp"

namespace freshet::codec {

namespace {

void append(std::string& out, const Fields& fields) {
  for (const auto& field : fields) {
    out += field.name;
    out += ": ";
    out += field.value;
    out += "\r\n";
  }
  out += "\r\n";
}

std::size_t bytes_of(const Fields& fields) {
  std::size_t n = 0;
  for (const auto& field : fields) n += field.name.size() + field.value.size() + 4;
  return n;
}

// What goes from hop to hop whatever Connection says. Expect is answered by each hop (RFC 9110 §10.1.1).
bool is_hop_by_hop(std::string_view name) {
  constexpr std::string_view names[] = {"connection", "keep-alive",        "te",    "trailer",
                                        "upgrade",    "transfer-encoding", "expect"};
  return starts_with_ignoring_case(name, "proxy-") ||
         std::ranges::any_of(names, [name](std::string_view known) { return names_equal(name, known); });
}

}  // namespace

bool names_equal(std::string_view a, std::string_view b) {
  return equal_ignoring_case(a, b);
}

Fields::Line Fields::append(std::string_view name, std::string_view value) {
  const Line line{text_.size(), name.size(), value.size()};
  std::string replaced;  // lives until the end: both may be views into it
  if (text_.capacity() - text_.size() < name.size() + value.size()) {
    replaced.reserve(2 * (text_.size() + name.size() + value.size()));
    replaced += text_;
    text_.swap(replaced);
  }
  text_ += name;
  text_ += value;
  return line;
}

void Fields::add(std::string_view name, std::string_view value) {
  lines_.push_back(append(name, value));
}

void Fields::set(std::string_view name, std::string_view value) {
  const auto same_name = [&](const Line& line) { return names_equal(field(line).name, name); };
  const auto first = std::ranges::find_if(lines_, same_name);
  if (first == lines_.end()) return add(name, value);
  const Line line = append(name, value);
  lines_.erase(std::remove_if(std::next(first), lines_.end(), same_name), lines_.end());
  *first = line;
}

void Fields::erase(std::string_view name) {
  erase_if([name](const Field& field) { return names_equal(field.name, name); });
}

void Fields::reserve(std::size_t lines, std::size_t bytes) {
  lines_.reserve(lines);
  text_.reserve(bytes);
}

std::optional<std::string_view> Fields::find(std::string_view name) const {
  for (const Line& line : lines_)
    if (names_equal(field(line).name, name)) return field(line).value;
  return std::nullopt;
}

std::size_t Fields::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines_, [&](const Line& line) { return names_equal(field(line).name, name); }));
}

std::string serialize(const RequestHead& head) {
  std::string out;
  out.reserve(head.method.size() + head.target.size() + 16 + bytes_of(head.fields));
  out += head.method;
  out += ' ';
  out += head.target;
  out += " HTTP/1.";
  out += std::to_string(head.minor_version);
  out += "\r\n";
  append(out, head.fields);
  return out;
}

std::string serialize(const ResponseHead& head) {
  std::string out;
  out.reserve(head.reason.size() + 24 + bytes_of(head.fields));
  out += "HTTP/1.";
  out += std::to_string(head.minor_version);
  out += ' ';
  out += std::to_string(head.status);
  out += ' ';  // stays even where the reason is empty (RFC 9112 §4)
  out += head.reason;
  out += "\r\n";
  append(out, head.fields);
  return out;
}

void remove_hop_by_hop(Fields& fields) {
  std::vector<std::string> named;
  for (const auto& field : fields) {
    if (!names_equal(field.name, "connection")) continue;
    for_each_list_member(field.value, [&named](std::string_view member) { named.emplace_back(member); });
  }
  for (const auto& name : named) fields.erase(name);
  fields.erase_if([](const Field& field) { return is_hop_by_hop(field.name); });
}

}  // namespace freshet::codec
