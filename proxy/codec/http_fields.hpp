// HTTP header fields as received: order, case and repetitions kept (RFC 9110 §5).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace freshet::codec {

struct Field {
  std::string_view name;
  std::string_view value;
};

// Field names compare without regard to case (RFC 9110 §5.1).
[[nodiscard]] bool names_equal(std::string_view a, std::string_view b);

// Views and iterators live until the next change. A head is copied more often than it is changed, so all lines share
// one text.
class Fields {
  struct Line {
    std::size_t begin;  // of the name; the value follows it
    std::size_t name_size;
    std::size_t value_size;
  };

 public:
  class Iterator {
   public:
    using value_type = Field;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const Fields& fields, std::vector<Line>::const_iterator line) : fields_(&fields), line_(line) {}
    Field operator*() const { return fields_->field(*line_); }
    Iterator& operator++() {
      ++line_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return line_ == other.line_; }

   private:
    const Fields* fields_ = nullptr;
    std::vector<Line>::const_iterator line_;
  };

  void add(std::string_view name, std::string_view value);
  // Replaces every line of that name by one, in the place of the first.
  void set(std::string_view name, std::string_view value);
  void erase(std::string_view name);
  void reserve(std::size_t lines, std::size_t bytes);
  template <class Predicate>
  void erase_if(Predicate predicate) {
    std::erase_if(lines_, [&](const Line& line) { return predicate(field(line)); });
  }

  // The first line of that name.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name).has_value(); }
  [[nodiscard]] std::size_t count(std::string_view name) const;

  [[nodiscard]] Iterator begin() const { return {*this, lines_.begin()}; }
  [[nodiscard]] Iterator end() const { return {*this, lines_.end()}; }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }

 private:
  [[nodiscard]] Field field(const Line& line) const {
    const std::string_view text = text_;
    return {text.substr(line.begin, line.name_size), text.substr(line.begin + line.name_size, line.value_size)};
  }
  [[nodiscard]] Line append(std::string_view name, std::string_view value);

  std::string text_;  // what was erased or replaced stays in it
  std::vector<Line> lines_;
};

struct RequestHead {
  std::string method;
  std::string target;  // origin form, byte for byte
  int minor_version = 1;
  Fields fields;
};

struct ResponseHead {
  int status = 200;
  std::string reason;
  int minor_version = 1;
  Fields fields;
};

// The head as it goes on the wire, its empty line included. Names and values were checked when they came in.
[[nodiscard]] std::string serialize(const RequestHead& head);
[[nodiscard]] std::string serialize(const ResponseHead& head);

// Removes what must not be forwarded (RFC 9110 §7.6.1): Connection and all that it names, Keep-Alive, Proxy-*,
// TE, Trailer, Transfer-Encoding, Upgrade, and Expect, which is answered hop by hop (§10.1.1).
void remove_hop_by_hop(Fields& fields);

}  // namespace freshet::codec
