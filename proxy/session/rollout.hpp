// For which sessions Freshet acts: a stable share of them, by their id (FNV-1a, Fowler, Noll, Vo, and the finaliser of
// MurmurHash3, Appleby, since ids may differ in their last byte only).
#pragma once

#include <cstdint>
#include <string_view>

#include "config/settings.hpp"

namespace freshet::session {

[[nodiscard]] inline bool acts_for(const config::Upstream& upstream, std::string_view session_id) {
  if (upstream.mode != config::Mode::active) return false;
  if (upstream.rollout >= 1.0) return true;
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : session_id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33U;
  return static_cast<double>(hash >> 11U) * 0x1.0p-53 < upstream.rollout;
}

}  // namespace freshet::session
