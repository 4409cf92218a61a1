// HTTP header fields as received: order, case and repetitions kept (RFC 9110 §5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace freshet::codec {

struct Field {
  std::string name;
  std::string value;
};

// Field names compare without regard to case (RFC 9110 §5.1).
[[nodiscard]] bool names_equal(std::string_view a, std::string_view b);

class Fields {
 public:
  void add(std::string_view name, std::string_view value);
  // Replaces every line of that name by one, in the place of the first.
  void set(std::string_view name, std::string_view value);
  void erase(std::string_view name);
  void reserve(std::size_t lines) { fields_.reserve(lines); }
  template <class Predicate>
  void erase_if(Predicate predicate) {
    std::erase_if(fields_, predicate);
  }

  // The first line of that name; the view lives until the next change.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const { return find(name).has_value(); }
  [[nodiscard]] std::size_t count(std::string_view name) const;

  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }
  [[nodiscard]] std::size_t size() const { return fields_.size(); }

 private:
  std::vector<Field> fields_;
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
