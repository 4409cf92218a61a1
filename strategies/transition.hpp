// Transitions that several states have: applied where the present state has it; elsewhere nothing happens.
#pragma once

#include <type_traits>
#include <variant>

#include "strategies/subscription_state.hpp"

namespace freshet {

template <class Step>
void transition(state::Any& state, Step step) {
  state = std::visit(
      [&](const auto& s) -> state::Any {
        if constexpr (std::is_invocable_v<Step, decltype(s)>) {
          return step(s);
        } else {
          return s;
        }
      },
      state);
}

inline constexpr auto unsubscribed = [](const auto& s)
  requires requires { s.unsubscribe(); }
{ return s.unsubscribe(); };
inline constexpr auto confirmed = [](const auto& s)
  requires requires { s.confirm(); }
{ return s.confirm(); };
inline constexpr auto doubted = [](const auto& s)
  requires requires { s.doubt(); }
{ return s.doubt(); };
inline constexpr auto update_seen = [](const auto& s)
  requires requires { s.see_update(); }
{ return s.see_update(); };

}  // namespace freshet
