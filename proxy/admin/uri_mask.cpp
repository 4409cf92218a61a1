#include "proxy/admin/uri_mask.hpp"

#include <stdexcept>

#include <openssl/rand.h>
#include <openssl/sha.h>

namespace freshet::admin {

namespace {

constexpr std::size_t tag_bytes = 6;
constexpr std::size_t scheme_bytes_max = 16;

// The scheme with its "://" or ":"; empty where there is none to be seen.
std::string_view scheme_of(std::string_view uri) {
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos || colon > scheme_bytes_max) return {};
  return uri.substr(0, uri.substr(colon).starts_with("://") ? colon + 3 : colon + 1);
}

}  // namespace

UriMask::UriMask(bool masks) : masks_(masks) {
  if (RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1) throw std::runtime_error("no randomness");
}

std::string UriMask::shown(std::string_view uri) const {
  if (!masks_) return std::string(uri);
  // A prefix key is enough: what is shown is cut short, so that nothing can be appended to it.
  std::string keyed(reinterpret_cast<const char*>(key_.data()), key_.size());
  keyed += uri;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> mac{};
  SHA256(reinterpret_cast<const unsigned char*>(keyed.data()), keyed.size(), mac.data());
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(scheme_of(uri));
  text += '#';
  for (std::size_t i = 0; i < tag_bytes; ++i) {
    text += digits[mac[i] >> 4];
    text += digits[mac[i] & 0xF];
  }
  return text;
}

}  // namespace freshet::admin
