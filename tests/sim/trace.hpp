// A line for each event and effect, to read a failed schedule by.
#pragma once

#include <iostream>
#include <string_view>

#include "strategies/effect.hpp"
#include "strategies/event.hpp"

namespace freshet::sim {

template <class T>
[[nodiscard]] constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.rfind("::") + 2);
  name.remove_suffix(1);
  return name;
}

template <class T>
void trace(const char* arrow, Instant now, const T& what) {
  std::cout << seconds(now.time_since_epoch()) - 2.0 << arrow << type_name<T>();
  if constexpr (requires { what.subscriber; }) std::cout << " session " << index(what.subscriber);
  if constexpr (requires { what.via; }) std::cout << " via " << index(what.via);
  if constexpr (requires { what.uri.size(); }) std::cout << " " << what.uri;
  if constexpr (requires { what.read; }) std::cout << " read " << index(what.read);
  if constexpr (requires { what.request; }) std::cout << " request " << index(what.request);
  if constexpr (requires { to_string(what.kind); }) std::cout << " " << to_string(what.kind);
  if constexpr (requires { to_string(what.verdict); }) std::cout << " " << to_string(what.verdict);
  if constexpr (requires { to_string(what.reason); }) std::cout << " " << to_string(what.reason);
  if constexpr (requires { to_string(what.result); }) std::cout << " " << to_string(what.result);
  if constexpr (requires { what.delivered; }) std::cout << (what.delivered ? " delivered" : "");
  if constexpr (requires { what.outcome.index(); }) {
    std::visit(
        [](const auto& o) {
          std::cout << " " << type_name<std::decay_t<decltype(o)>>();
          if constexpr (requires { o.digest; }) std::cout << " " << o.digest.high << ":" << o.digest.low % 16;
        },
        what.outcome);
  }
  if constexpr (requires { what.version.size(); }) std::cout << " version " << what.version;
  std::cout << "\n";
}

}  // namespace freshet::sim
