// The values of labels, taken from the types that they name: a new enumerator is a new value without a line here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "strategies/subscription_state.hpp"

namespace freshet {

// What made a request travel upstream.
enum class RequestKind : std::uint8_t { client, baseline, poll, watchdog, catchup, list, session };

[[nodiscard]] constexpr std::string_view to_string(RequestKind k) {
  switch (k) {
    case RequestKind::client:
      return "client";
    case RequestKind::baseline:
      return "baseline";
    case RequestKind::poll:
      return "poll";
    case RequestKind::watchdog:
      return "watchdog";
    case RequestKind::catchup:
      return "catchup";
    case RequestKind::list:
      return "list";
    case RequestKind::session:
      return "session";
  }
  return "";
}

enum class HealResult : std::uint8_t { healed, failed, held_back };

[[nodiscard]] constexpr std::string_view to_string(HealResult r) {
  switch (r) {
    case HealResult::healed:
      return "healed";
    case HealResult::failed:
      return "failed";
    case HealResult::held_back:
      return "held_back";
  }
  return "";
}

enum class ReloadResult : std::uint8_t { applied, refused };

[[nodiscard]] constexpr std::string_view to_string(ReloadResult r) {
  switch (r) {
    case ReloadResult::applied:
      return "applied";
    case ReloadResult::refused:
      return "refused";
  }
  return "";
}

// Requires enumerators from 0 on without a gap, and a to_string that is empty for anything else.
template <class E>
[[nodiscard]] consteval std::size_t count_of() {
  std::size_t n = 0;
  while (!to_string(static_cast<E>(n)).empty()) ++n;
  return n;
}

template <class E>
inline constexpr auto values_of = [] {
  std::array<std::string_view, count_of<E>()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(static_cast<E>(i));
  return names;
}();

// One T for each value of E.
template <class E, class T>
struct PerValue : std::array<T, count_of<E>()> {
  using Base = std::array<T, count_of<E>()>;
  [[nodiscard]] constexpr T& operator[](E value) { return Base::operator[](static_cast<std::size_t>(value)); }
  [[nodiscard]] constexpr const T& operator[](E value) const {
    return Base::operator[](static_cast<std::size_t>(value));
  }
};

// The states of a subscription, in the order of state::Any.
inline constexpr auto state_names = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array{std::variant_alternative_t<I, state::Any>::name...};
}(std::make_index_sequence<std::variant_size_v<state::Any>>{});

}  // namespace freshet
