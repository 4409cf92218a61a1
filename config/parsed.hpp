// A value, or why a text is none.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace freshet::config {

// A sentence without a full stop. Never holds the text of a secret.
struct Mistake {
  std::string message;
};

// Not boost::system::result: there a text could as well be the message as the value.
template <class T>
class Parsed {
 public:
  Parsed(T value) : value_(std::move(value)) {}
  Parsed(Mistake mistake) : mistake_(std::move(mistake)) {}

  explicit operator bool() const { return value_.has_value(); }
  // Requires a value.
  [[nodiscard]] const T& operator*() const { return value_.value(); }
  [[nodiscard]] T& operator*() { return value_.value(); }
  [[nodiscard]] const T* operator->() const { return &value_.value(); }
  [[nodiscard]] T* operator->() { return &value_.value(); }
  // Why there is none; meaningful without a value. mistake() hands it on as another type's.
  [[nodiscard]] const std::string& error() const { return mistake_.message; }
  [[nodiscard]] const Mistake& mistake() const { return mistake_; }

 private:
  std::optional<T> value_;
  Mistake mistake_;
};

}  // namespace freshet::config
