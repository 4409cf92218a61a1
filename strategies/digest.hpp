// What makes two reads the same content.
//
// The digest is XXH3-128 over a canonical form of `contents`: object members sorted, insignificant white space and
// number spelling ignored (1, 1.0 and 1e0 are one number, -0 is 0; decimals of any length are exact), strings compared
// after unescaping, and nothing else touched: blobs and texts are compared as sent. The items of `contents` are ordered
// by their uri, items of equal uri in the order sent. Only `contents` counts, without its `_meta` members: envelope,
// ids, ttlMs and cacheScope are left out.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/result.hpp>

namespace freshet {

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
};

// 32 hexadecimal digits.
[[nodiscard]] std::string to_hex(const Hash128& hash);

struct Digest : Hash128 {
  auto operator<=>(const Digest&) const = default;
};
// Stand in a version's place where there is no content, so that one rule serves content, absence and refusal alike.
inline constexpr Digest absent_digest{{0, 1}};
inline constexpr Digest refused_digest{{0, 2}};
// Some content that cannot be known (the upstream announced it, or one of several clients read it): equals none.
inline constexpr Digest unsure_digest{{0, 3}};
// What was delivered while it was not decided whether the resource is there, or what it is: equals nothing.
inline constexpr Digest undecided_digest{{0, 4}};
[[nodiscard]] constexpr bool is_content(const Digest& digest) {
  return digest != absent_digest && digest != refused_digest && digest != undecided_digest;
}

struct RawDigest : Hash128 {
  auto operator<=>(const RawDigest&) const = default;
};

// Parts of a resource that change without meaning. Part of the digest's definition: one per upstream.
struct VolatileParts {
  // JSON Pointers (RFC 6901) into each item of `contents`, `*` for any one segment: "/annotations/lastModified".
  // A pointer that goes on below "/text" reaches into the text of items whose MIME type is JSON: "/text/generated_at".
  std::vector<std::string> pointers;
  // Lines of `text` that match one of these globs (`*`: any run of characters) are left out, where the text is not read
  // as JSON for the pointers' sake.
  std::vector<std::string> lines;
};

// Over bytes that differ between two answers only where the id stands: `id_begin`, `id_end` cut the id's token out.
[[nodiscard]] RawDigest raw_digest(std::string_view body, std::size_t id_begin, std::size_t id_end);

enum class DigestError { malformed = 1, not_contents };

struct ContentDigest {
  Digest digest;
  std::string mime_type;      // of the first item
  std::string last_modified;  // annotations.lastModified of the first item, as sent
  bool empty = false;         // `contents` has no item
};

// `result` is the JSON text of a resources/read result. A text that RFC 8259 allows but that is not taken apart (lone
// surrogates, numbers beyond a double, more than 64 levels in one item) is digested by its bytes instead, whole.
[[nodiscard]] boost::system::result<ContentDigest, DigestError> content_digest(std::string_view result,
                                                                               const VolatileParts& parts);

}  // namespace freshet
