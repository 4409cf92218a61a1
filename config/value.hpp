// What an operator wrote, before it means anything: a tree of texts with their places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/problem.hpp"

namespace freshet::config {

struct Member;

struct Value {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  Place place;
  std::string text;             // of a scalar
  std::vector<Value> items;     // of a sequence
  std::vector<Member> members;  // of a map, in the order written; keys are unique

  static Value scalar(std::string text, Place place);
};

struct Member {
  std::string key;
  Place place;  // of the key
  Value value;
};

// Reads one YAML document. Syntax errors, duplicate keys, keys that are not plain texts, and documents that grow
// beyond `values_max` values (aliases multiply) become problems; what could be read is returned.
inline constexpr std::size_t values_max = 100'000;
[[nodiscard]] Value parse_yaml(std::string_view text, const std::string& source, Problems& problems);

// A list given in one text: "[a, b]" as YAML reads it, else split at commas, spaces around each left out. Every item
// has the place of the whole.
[[nodiscard]] std::vector<Value> split_list(const Value& scalar);

// `text` as one YAML scalar, quoted only where it has to be.
[[nodiscard]] std::string yaml_text(std::string_view text);

}  // namespace freshet::config
