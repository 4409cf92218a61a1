// What became of a read or of another request that travelled upstream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "strategies/digest.hpp"
#include "strategies/time.hpp"

namespace freshet {

// An upstream's refusal, kept so that it can be the client's answer. The engine never looks inside.
struct Refusal {
  int http_status = 200;
  std::vector<std::pair<std::string, std::string>> fields;  // end-to-end response fields
  std::string rpc_error;  // the JSON-RPC error object as sent; empty when there was none
};
using RefusalPtr = std::shared_ptr<const Refusal>;

// The JSON text of a `result`, as the upstream sent it. Immutable, shared by all who are served from it.
using ResultPtr = std::shared_ptr<const std::string>;

struct Content {
  RawDigest raw;  // of the bytes, the id apart
  Digest digest;  // of the canonical form
  std::string mime_type;
  ResultPtr result;                          // null: too large to keep, or cannot be shared
  bool empty = false;                        // `contents` has no item: ambiguous, see DESIGN's rule 6
  bool shareable_across_principals = false;  // the upstream said cacheScope: public
  std::optional<Duration> ttl;               // the upstream's ttlMs
  std::optional<WallTime> last_modified;     // annotations.lastModified: a hint for lag, never a version
};

struct NotFound {
  RefusalPtr refusal;
};
struct Unauthorized {  // HTTP 401: the credential is refused
  RefusalPtr refusal;
};
struct Forbidden {  // HTTP 403: this resource is refused
  RefusalPtr refusal;
};
struct Throttled {  // HTTP 429 or 503
  std::optional<Duration> retry_after;
};
struct Rejected {  // any other definite error: the answer would be the same next time
  RefusalPtr refusal;
};

enum class Failure : std::uint8_t {
  connection,  // could not connect, or the connection broke
  timeout,
  status,        // HTTP 5xx or another unexpected status
  internal,      // JSON-RPC -32603
  malformed,     // not an answer to what was asked
  too_large,     // above limits.read_bytes_max: never compared, never notified
  session_lost,  // the session is gone and could not be healed
  cancelled,     // ended by our own side (client left, drain)
};
struct Failed {
  Failure reason;
};

using ReadOutcome = std::variant<Content, NotFound, Unauthorized, Forbidden, Throttled, Rejected, Failed>;

// Of one page of resources/list.
struct ListedResource {
  std::string uri;
  Digest digest;  // of its entry
};
struct ListPage {
  std::vector<ListedResource> resources;
  std::optional<std::string> next_cursor;  // opaque; "" is a cursor, none ends the list
  std::optional<std::string> snapshot;     // what the page says of its snapshot; counts only where negotiated
};
struct CursorRefused {};  // a definite error in answer to a request that carried a cursor
using ListOutcome = std::variant<ListPage, CursorRefused, Unauthorized, Forbidden, Throttled, Rejected, Failed>;

// Of resources/subscribe and resources/unsubscribe sent upstream.
struct Accepted {};
struct NotSupported {  // method not found, 404/405/501: the capability was declared but is not there
  RefusalPtr refusal;
};
using NativeOutcome = std::variant<Accepted, NotSupported, Unauthorized, Forbidden, Throttled, Rejected, Failed>;

// What any outcome says of the partner, for its budget.
struct Health {
  enum class Kind : std::uint8_t { well, throttled, failing, unknown };
  Kind kind = Kind::well;
  std::optional<Duration> retry_after;
};
template <class Outcome>
[[nodiscard]] Health health_of(const Outcome& outcome) {
  if (const auto* throttle = std::get_if<Throttled>(&outcome)) return {Health::Kind::throttled, throttle->retry_after};
  const auto* failed = std::get_if<Failed>(&outcome);
  if (failed == nullptr) return {};
  switch (failed->reason) {
    case Failure::connection:
    case Failure::timeout:
    case Failure::status:
      return {Health::Kind::failing, std::nullopt};
    case Failure::session_lost:
    case Failure::cancelled:
      return {Health::Kind::unknown, std::nullopt};
    case Failure::internal:
    case Failure::malformed:
    case Failure::too_large:
      break;
  }
  return {};
}

}  // namespace freshet
