// What does resources/list say? One page after the other, in one session, until the picture can be believed.
//
// Pages carry no common version in standard MCP, so a list that changes between two pages tears. A scan is complete
// when its last page has no cursor; complete scans are repeated until two in a row have equal digests, which makes the
// picture SNAPSHOT_UNPROVEN: likely, never certain. Only where a snapshot id was negotiated, and every page of one
// scan names the same, it is SNAPSHOT_PROVEN. An id that was not negotiated counts for nothing.
//
// A scan starts over when the list changed meanwhile, when the digests differ, and when a cursor is refused or comes
// twice. Cursors are opaque: kept only to be sent back, "" is one, and none outlives its session. Order and duplicates
// across pages: the digest is of the set with multiplicities, whatever the order and the page breaks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "strategies/effect.hpp"
#include "strategies/outcome.hpp"
#include "strategies/time.hpp"

namespace freshet {

enum class SnapshotProof : std::uint8_t { unproven, proven };

[[nodiscard]] constexpr std::string_view to_string(SnapshotProof p) {
  return p == SnapshotProof::proven ? "SNAPSHOT_PROVEN" : "SNAPSHOT_UNPROVEN";
}

class ListScan {
 public:
  enum class Next : std::uint8_t { page, done, give_up };
  struct Step {
    Next next;
    std::optional<ListResult> result;  // of the scan that ended with this step, if one did
  };

  // `known`: the digest of a complete scan just before this one, which the first may equal.
  ListScan(Instant now, bool snapshots_negotiated, std::optional<Hash128> known);

  // The cursor of the next page to ask for; none: the first page.
  [[nodiscard]] const std::optional<std::string>& cursor() const { return cursor_; }

  Step page(const ListPage& page, Instant now);
  Step cursor_refused(Instant now) { return start_over(ListResult::bad_cursor, now); }
  // list_changed came, or the session that the cursors belong to is gone.
  Step overtaken(Instant now) { return start_over(ListResult::overtaken, now); }

  // After Next::done.
  [[nodiscard]] SnapshotProof proof() const { return proof_; }
  [[nodiscard]] const Hash128& digest() const { return sum_; }
  [[nodiscard]] std::size_t resources() const { return uris_.size(); }
  [[nodiscard]] bool contains(std::string_view uri) const;
  // What was not listed had disappeared by then, as far as the proof goes.
  [[nodiscard]] Instant evidence_since() const { return evidence_since_; }

 private:
  Step start_over(ListResult result, Instant now);
  void begin(Instant now);
  void add(const ListedResource& resource);
  Step complete(Instant now);

  bool snapshots_negotiated_;
  std::optional<Hash128> previous_;  // digest of the complete scan before
  Instant previous_started_;
  unsigned restarts_ = 0;
  SnapshotProof proof_ = SnapshotProof::unproven;
  Instant evidence_since_;

  // Of the present scan.
  Instant started_;
  std::optional<std::string> cursor_;
  std::unordered_set<std::string> cursors_;
  std::size_t pages_ = 0;
  std::optional<std::string> snapshot_;
  bool one_snapshot_ = true;
  Hash128 sum_;
  std::vector<std::size_t> uris_;  // hashes
};

}  // namespace freshet
