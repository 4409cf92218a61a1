// JSON as text: where values lie, not what they mean. Nothing is converted, so nothing is rounded, replaced or
// reordered (RFC 8259 §6 and §8.2 allow numbers and lone surrogates that no common value type can hold).
#pragma once

#include <cstddef>
#include <forward_list>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>

namespace freshet::codec {

// Half-open, in bytes of the text it was found in.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool empty() const { return begin == end; }
  [[nodiscard]] std::size_t size() const { return end - begin; }
  [[nodiscard]] std::string_view in(std::string_view text) const { return text.substr(begin, size()); }
  bool operator==(const Span&) const = default;
};

enum class JsonKind { end, object, array, string, number, boolean, null, invalid };
enum class JsonFault { none, malformed, too_deep };

inline constexpr std::size_t json_depth_max_default = 64;
inline constexpr std::size_t json_depth_ceiling = 512;  // no limit asked for is greater: the stack stays constant

// Walks one JSON text from front to back, checking RFC 8259's grammar and that strings are UTF-8. Linear time, constant
// stack, no allocation. After a fault every call does nothing, peek() is `invalid`. The text must outlive the reader.
class JsonReader {
 public:
  // A byte order mark at the front is skipped (RFC 8259 §8.1 lets a parser ignore it).
  explicit JsonReader(std::string_view text, std::size_t depth_max = json_depth_max_default);

  [[nodiscard]] JsonFault fault() const { return fault_; }
  [[nodiscard]] bool ok() const { return fault_ == JsonFault::none; }
  // What comes next; `end` after the last byte.
  [[nodiscard]] JsonKind peek();
  // After peek(): where that value begins. After skip(): where it ended.
  [[nodiscard]] std::size_t position() const { return at_; }
  // Passes over the next value, whatever it is and holds; empty on a fault.
  Span skip();
  // True if nothing but white space is left; otherwise the text is malformed.
  bool finish();

  // For each member of the object that comes next: visit(name) with the name's token, quotes included; visit must pass
  // over the value, by skip() or by a nested walk. Requires peek() == object.
  template <class Visit>
  void members(Visit visit) {
    if (!enter()) return;
    for (bool more = !closes('}'); ok() && more; more = another('}')) {
      const Span name = string();
      colon();
      if (ok()) visit(name.in(text_));
    }
    --depth_;
  }

  // For each element of the array that comes next: visit() must pass over it. Requires peek() == array.
  template <class Visit>
  void elements(Visit visit) {
    if (!enter()) return;
    for (bool more = !closes(']'); ok() && more; more = another(']')) visit();
    --depth_;
  }

  // Something was passed over that is grammatical but that common value types cannot hold: a lone surrogate, or a
  // number that neither 64-bit integers nor double tell apart from its neighbours.
  [[nodiscard]] bool saw_unrepresentable() const { return unrepresentable_; }

 private:
  void fail(JsonFault fault);
  void skip_space();
  [[nodiscard]] bool take(char c);
  bool enter();
  bool closes(char bracket);
  bool another(char bracket);
  void colon();
  Span string();
  void escape();
  void number();
  bool digits();
  void literal(std::string_view word);
  void scalar(JsonKind kind);

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t depth_max_;
  JsonFault fault_ = JsonFault::none;
  bool unrepresentable_ = false;
};

// The value at a path of member names in an accepted text. None if a member is missing, is no object, or occurs twice:
// what two readers could read differently is not acted upon.
[[nodiscard]] std::optional<Span> find_value(std::string_view text, std::initializer_list<std::string_view> path);

// Member names of one object, compared after unescaping. The tokens must outlive it.
class MemberNames {
 public:
  // Returns the name's text; the view lives as long as this.
  std::string_view add(std::string_view token);
  [[nodiscard]] bool has_duplicates();

 private:
  boost::container::small_vector<std::string_view, 8> names_;
  std::forward_list<std::string> unescaped_;  // what some of names_ refer to
};

}  // namespace freshet::codec
