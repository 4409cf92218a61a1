// Identities. Strong types, so that two of them cannot be exchanged by accident.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

namespace freshet {

enum class UpstreamId : std::uint32_t {};  // index into Settings::upstreams
enum class PartnerId : std::uint32_t {};   // index into Settings::partners

// A legacy session or one modern listen stream. Given out by the shell, never reused in a process.
enum class SubscriberId : std::uint64_t {};
// One resource as one principal sees it on one upstream. Given out by the engine, never reused.
enum class WatchId : std::uint64_t {};
// One read travelling upstream. Given out by the engine, never reused.
enum class ReadId : std::uint64_t {};
// One notification on its way to one subscriber. Given out by the engine, never reused.
enum class NoticeId : std::uint64_t {};
// One page of a resources/list scan travelling upstream. Given out by the engine, never reused.
enum class PageId : std::uint64_t {};
// A client's request that waits for the engine's answer. Given out by the shell, never reused.
enum class RequestId : std::uint64_t {};

// Grows by one per read of a watch, given out at dispatch. 0: none yet.
using Ordinal = std::uint64_t;
// Grows by one per subscribe of one subscriber to one URI.
using Generation = std::uint64_t;

template <class E>
  requires std::is_enum_v<E>
[[nodiscard]] constexpr auto index(E id) {
  return static_cast<std::underlying_type_t<E>>(id);
}

// Keyed SHA-256 over what identifies the caller; all zero: anonymous. Never the credentials themselves.
struct Principal {
  std::array<std::byte, 32> digest{};
  auto operator<=>(const Principal&) const = default;
};

}  // namespace freshet

template <>
struct std::hash<freshet::Principal> {
  std::size_t operator()(const freshet::Principal& p) const noexcept {
    std::size_t h = 0;  // the digest is uniform already
    std::memcpy(&h, p.digest.data(), sizeof h);
    return h;
  }
};
