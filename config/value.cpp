#include "config/value.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <yaml-cpp/yaml.h>

namespace freshet::config {
namespace {

class Converter {
 public:
  Converter(std::string source, Problems& problems) : source_(std::move(source)), problems_(problems) {}

  Value convert(const YAML::Node& node, const std::string& path) {
    Value value{.place = place(node.Mark()), .text = {}, .items = {}, .members = {}};
    if (++count_ > values_max) {
      if (count_ == values_max + 1) problems_.add(value.place, path, "the file has too many values");
      return value;
    }
    if (node.IsScalar()) {
      value.kind = Value::Kind::scalar;
      value.text = node.Scalar();
    } else if (node.IsSequence()) {
      value.kind = Value::Kind::sequence;
      for (const YAML::Node& item : node) {
        value.items.push_back(convert(item, path + "[" + std::to_string(value.items.size()) + "]"));
      }
    } else if (node.IsMap()) {
      value.kind = Value::Kind::map;
      for (const auto& pair : node) add_member(value, pair.first, pair.second, path);
    }
    return value;
  }

 private:
  void add_member(Value& map, const YAML::Node& key, const YAML::Node& value, const std::string& path) {
    const Place at = place(key.Mark());
    if (!key.IsScalar()) {
      problems_.add(at, path, "a key must be a plain name");
      return;
    }
    const std::string& name = key.Scalar();
    const std::string member_path = path.empty() ? name : path + "." + name;
    const auto same = [&](const Member& m) { return m.key == name; };
    const auto first = std::find_if(map.members.begin(), map.members.end(), same);
    if (first != map.members.end()) {
      problems_.add(at, member_path, "set twice; first on line " + std::to_string(first->place.line));
      return;
    }
    Value converted = convert(value, member_path);
    if (converted.kind == Value::Kind::null) converted.place = at;  // yaml-cpp places an empty value anywhere
    map.members.push_back({name, at, std::move(converted)});
  }

  [[nodiscard]] Place place(const YAML::Mark& mark) const {
    return {source_, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
  }

  std::string source_;
  Problems& problems_;
  std::size_t count_ = 0;
};

Value trimmed(std::string_view text, const Place& place) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return Value::scalar("", place);
  return Value::scalar(std::string(text.substr(from, text.find_last_not_of(" \t") - from + 1)), place);
}

bool is_plain(std::string_view text) {
  constexpr std::string_view reserved[] = {"true", "false", "null", "yes", "no", "on", "off", "~"};
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (text.empty() || (!alnum(text[0]) && text[0] != '/' && text[0] != '.')) return false;
  if (text.back() == ':' || std::find(std::begin(reserved), std::end(reserved), text) != std::end(reserved)) {
    return false;
  }
  constexpr std::string_view safe = "/.:_@%+-";
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return alnum(c) || safe.find(c) != std::string_view::npos; });
}

}  // namespace

Value Value::scalar(std::string text, Place place) {
  return {.kind = Kind::scalar, .place = std::move(place), .text = std::move(text), .items = {}, .members = {}};
}

Value parse_yaml(std::string_view text, const std::string& source, Problems& problems) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty()) return {};
    Converter converter(source, problems);
    if (documents.size() > 1) {
      const Value second = converter.convert(documents[1], "");
      problems.add(second.place, "", "a second YAML document begins here; only one is read");
    }
    return converter.convert(documents[0], "");
  } catch (const YAML::Exception& error) {
    const Place place{source, std::max(error.mark.line, 0) + 1, std::max(error.mark.column, 0) + 1};
    problems.add(place, "", "not valid YAML: " + error.msg);
    return {};
  }
}

std::vector<Value> split_list(const Value& scalar) {
  if (scalar.text.starts_with('[')) {
    Problems problems;
    Value list = parse_yaml(scalar.text, "", problems);
    if (problems.sorted().empty() && list.kind == Value::Kind::sequence) {
      for (Value& item : list.items) item.place = scalar.place;
      return std::move(list.items);
    }
  }
  std::vector<Value> items;
  std::string_view rest = scalar.text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    items.push_back(trimmed(rest.substr(0, comma), scalar.place));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return items;
}

std::string yaml_text(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (quoted += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace freshet::config
