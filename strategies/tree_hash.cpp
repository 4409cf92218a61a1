#include "strategies/tree_hash.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <xxhash.h>

namespace freshet {

namespace {

constexpr std::size_t hash_size = 16;

// Big-endian, so that a digest kept by one machine holds on another.
void append(std::string& out, const Hash128& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH128_hash_t{hash.low, hash.high});
  out.append(reinterpret_cast<const char*>(canonical.digest), hash_size);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Decimal {
  bool negative = false;
  std::string digits;         // significant ones, leading zeros included
  std::int64_t exponent = 0;  // of the last digit
};

// None where the exponent is too long to count with.
std::optional<Decimal> parse_decimal(std::string_view token) {
  constexpr std::size_t exponent_digits_max = 18;
  Decimal out;
  out.negative = token.starts_with('-');
  token.remove_prefix(out.negative ? 1 : 0);
  const auto e = token.find_first_of("eE");
  if (e != std::string_view::npos) {
    auto exponent = token.substr(e + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    if (exponent.size() > exponent_digits_max) return std::nullopt;
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), out.exponent);
  }
  bool fraction = false;
  for (const char c : token.substr(0, e)) {
    if (!is_digit(c)) {
      fraction = true;  // the parser spells the point as the locale does
      continue;
    }
    out.digits += c;
    if (fraction) --out.exponent;
  }
  return out;
}

std::optional<Pointer> parse_pointer(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  Pointer segments;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      segments.emplace_back();
    } else if (text[i] == '~' && i + 1 < text.size()) {
      segments.back() += text[++i] == '1' ? '/' : '~';
    } else {
      segments.back() += text[i];
    }
  }
  return segments;
}

}  // namespace

Hash128 hash_bytes(std::string_view bytes, HashOf what) {
  const auto hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), static_cast<XXH64_hash_t>(what));
  return {hash.high64, hash.low64};
}

Hash128 hash_sequence(const std::vector<Hash128>& hashes, HashOf what) {
  std::string bytes;
  bytes.reserve(hashes.size() * hash_size);
  for (const auto& hash : hashes) append(bytes, hash);
  return hash_bytes(bytes, what);
}

std::string canonical_decimal(std::string_view token) {
  auto decimal = parse_decimal(token);
  if (!decimal) return std::string(token);
  auto& digits = decimal->digits;
  const auto last = digits.find_last_not_of('0');
  if (last == std::string::npos) return "0";
  decimal->exponent += static_cast<std::int64_t>(digits.size() - 1 - last);
  digits.resize(last + 1);
  digits.erase(0, digits.find_first_not_of('0'));
  if (decimal->negative) digits.insert(digits.begin(), '-');
  return digits + 'e' + std::to_string(decimal->exponent);
}

std::vector<Pointer> parse_pointers(const std::vector<std::string>& texts) {
  std::vector<Pointer> out;
  for (const auto& text : texts) {
    if (auto pointer = parse_pointer(text)) out.push_back(std::move(*pointer));
  }
  return out;
}

void TreeHash::clear() {
  frames_.clear();
  nodes_.clear();
  next_live_.resize(left_out_.size());
  for (std::size_t i = 0; i < next_live_.size(); ++i) next_live_[i] = i;
  skip_next_ = false;
  skip_depth_ = 0;
  too_deep_ = false;
  root_ = {};
}

void TreeHash::number(std::string_view token) {
  if (enter()) add(hash_bytes(canonical_decimal(token), HashOf::number));
}

void TreeHash::key(std::string_view name) {
  if (skip_depth_ > 0) return;
  frames_.back().key = hash_bytes(name, HashOf::string);
  step(name);
  if (!meta_ && name == "_meta") skip_next_ = true;
}

std::size_t TreeHash::reserve() {
  add({});
  return nodes_.size() - 1;
}

void TreeHash::scalar(std::string_view bytes, HashOf what) {
  if (enter()) add(hash_bytes(bytes, what));
}

void TreeHash::start(HashOf kind) {
  const bool counts = enter();
  const bool fits = frames_.size() < depth_max;
  if (counts && !fits) too_deep_ = true;
  if (!counts || !fits) {
    ++skip_depth_;
    return;
  }
  frames_.push_back({.kind = kind, .first_node = nodes_.size(), .live = std::move(next_live_)});
  next_live_.clear();
}

void TreeHash::end() {
  if (skip_depth_ > 0) {
    --skip_depth_;
    return;
  }
  const Hash128 hash = combine(frames_.back());
  nodes_.resize(frames_.back().first_node);
  frames_.pop_back();
  add(hash);
}

void TreeHash::add(const Hash128& hash) {
  if (frames_.empty()) {
    root_ = hash;
  } else {
    nodes_.push_back({frames_.back().key, hash, nodes_.size()});
  }
}

// A value begins: does it count?
bool TreeHash::enter() {
  if (skip_depth_ > 0) return false;
  if (frames_.empty()) return true;
  auto& frame = frames_.back();
  if (frame.kind == HashOf::array) {
    step(frame.live.empty() ? std::string() : std::to_string(frame.elements));
    ++frame.elements;
  }
  return !skip_next_;
}

void TreeHash::step(std::string_view segment) {
  const auto level = frames_.size() - 1;
  next_live_.clear();
  skip_next_ = false;
  for (const auto i : frames_.back().live) {
    const auto& pointer = left_out_[i];
    if (pointer[level] != "*" && pointer[level] != segment) continue;
    if (pointer.size() == level + 1) {
      skip_next_ = true;
    } else {
      next_live_.push_back(i);
    }
  }
}

Hash128 TreeHash::combine(const Frame& frame) {
  const auto first = nodes_.begin() + static_cast<std::ptrdiff_t>(frame.first_node);
  // By the names' hashes: any fixed order of names does.
  if (frame.kind == HashOf::object) {
    std::sort(first, nodes_.end(),
              [](const Node& a, const Node& b) { return a.key < b.key || (a.key == b.key && a.place < b.place); });
  }
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(nodes_.end() - first) * 2 * hash_size);
  for (auto node = first; node != nodes_.end(); ++node) {
    if (frame.kind == HashOf::object) append(bytes, node->key);
    append(bytes, node->value);
  }
  return hash_bytes(bytes, frame.kind);
}

}  // namespace freshet
