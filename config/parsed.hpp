// A value, or why a text is none.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace freshet::config {

// A sentence without a full stop. Never holds the text of a secret.
struct Mistake {
  std::string message;
};

// Not boost::system::result: there a text could as well be the message as the value.
template <class T>
class Parsed {
 public:
  Parsed(T value) : either_(std::in_place_index<0>, std::move(value)) {}
  Parsed(Mistake mistake) : either_(std::in_place_index<1>, std::move(mistake)) {}

  explicit operator bool() const { return either_.index() == 0; }
  // These require a value.
  [[nodiscard]] const T& operator*() const { return std::get<0>(either_); }
  [[nodiscard]] T& operator*() { return std::get<0>(either_); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(either_); }
  [[nodiscard]] T* operator->() { return &std::get<0>(either_); }
  // Why there is none, which these require. mistake() hands it on as another type's.
  [[nodiscard]] const std::string& error() const { return mistake().message; }
  [[nodiscard]] const Mistake& mistake() const { return std::get<1>(either_); }

 private:
  std::variant<T, Mistake> either_;
};

}  // namespace freshet::config
