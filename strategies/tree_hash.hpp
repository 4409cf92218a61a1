// A structural hash of one JSON value, built from a parser's events without a tree: arrays combine their elements'
// hashes in order, objects their members' in the order of their names (members of one name stay in the order sent).
// Each type has its own seed, so that "1" and 1 differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strategies/digest.hpp"

namespace freshet {

// What is hashed; the values are seeds and part of the digest's definition.
enum class HashOf : std::uint64_t { null = 1, boolean, number, string, array, object, json_text, contents, bytes };

[[nodiscard]] Hash128 hash_bytes(std::string_view bytes, HashOf what);
// Over the hashes in order.
[[nodiscard]] Hash128 hash_sequence(const std::vector<Hash128>& hashes, HashOf what);

// The exact decimal value of a JSON number token: 1, 1.0 and 10e-1 have one form; -0 is 0. A token whose exponent has
// more than 18 digits stands for itself.
[[nodiscard]] std::string canonical_decimal(std::string_view token);

// The unescaped segments of a JSON Pointer; the segment "*" stands for any one.
using Pointer = std::vector<std::string>;

// Texts that are no pointers, and the pointer to the whole value, are left out: the configuration has refused them.
[[nodiscard]] std::vector<Pointer> parse_pointers(const std::vector<std::string>& texts);

class TreeHash {
 public:
  static constexpr std::size_t depth_max = 64;

  // `left_out`: pointers, from this value, to what does not count; must outlive the hash. `meta`: whether members named
  // `_meta` count.
  TreeHash(const std::vector<Pointer>& left_out, bool meta) : left_out_(left_out), meta_(meta) { clear(); }

  // Starts over with another value.
  void clear();

  void null() { scalar({}, HashOf::null); }
  void boolean(bool value) { scalar(value ? "1" : "0", HashOf::boolean); }
  void number(std::string_view token);
  void string(std::string_view text) { scalar(text, HashOf::string); }
  void start_object() { start(HashOf::object); }
  void key(std::string_view name);
  void end_object() { end(); }
  void start_array() { start(HashOf::array); }
  void end_array() { end(); }

  // Instead of string(): a value whose hash is known only later. Fill before its container ends.
  [[nodiscard]] std::size_t reserve();
  void fill(std::size_t place, const Hash128& hash) { nodes_[place].value = hash; }

  // Whether the member whose key came last is left out.
  [[nodiscard]] bool skips_member() const { return skip_depth_ > 0 || skip_next_; }
  // Something lay deeper than depth_max: the hash says nothing of it.
  [[nodiscard]] bool too_deep() const { return too_deep_; }
  // Of the whole value, once it has ended.
  [[nodiscard]] const Hash128& hash() const { return root_; }

 private:
  struct Node {
    Hash128 key;
    Hash128 value;
    std::size_t place;  // in the order sent
  };
  struct Frame {
    HashOf kind;
    std::size_t first_node;
    std::size_t elements = 0;
    Hash128 key{};
    std::vector<std::size_t> live;  // pointers that lead here and on
  };

  void scalar(std::string_view bytes, HashOf what);
  void start(HashOf kind);
  void end();
  void add(const Hash128& hash);
  [[nodiscard]] bool enter();
  void step(std::string_view segment);
  [[nodiscard]] Hash128 combine(const Frame& frame);

  const std::vector<Pointer>& left_out_;
  bool meta_;
  std::vector<Frame> frames_;
  std::vector<Node> nodes_;             // of all open containers, the innermost last
  std::vector<std::size_t> next_live_;  // pointers that lead to the next value and on
  bool skip_next_ = false;
  std::size_t skip_depth_ = 0;  // open containers that do not count
  bool too_deep_ = false;
  Hash128 root_{};
};

}  // namespace freshet
