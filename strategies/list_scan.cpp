#include "strategies/list_scan.hpp"

#include <algorithm>
#include <functional>

#include "strategies/settings.hpp"

namespace freshet {

namespace {
// A list that changes faster than it can be scanned is given up after this many attempts.
constexpr unsigned restarts_max = 8;
}  // namespace

ListScan::ListScan(Instant now, bool snapshots_negotiated, std::optional<Hash128> known)
    : snapshots_negotiated_(snapshots_negotiated), previous_(known), previous_started_(now), evidence_since_(now) {
  begin(now);
}

void ListScan::begin(Instant now) {
  started_ = now;
  cursor_.reset();
  cursors_.clear();
  pages_ = 0;
  snapshot_.reset();
  one_snapshot_ = true;
  sum_ = {};
  uris_.clear();
}

ListScan::Step ListScan::start_over(ListResult result, Instant now) {
  if (++restarts_ > restarts_max) return {Next::give_up, result};
  if (result != ListResult::differing) previous_.reset();
  begin(now);
  return {Next::page, result};
}

void ListScan::add(const ListedResource& resource) {
  sum_.low += resource.digest.low;
  sum_.high += resource.digest.high;
  uris_.push_back(std::hash<std::string_view>{}(resource.uri));
}

ListScan::Step ListScan::page(const ListPage& page, Instant now) {
  if (pages_ == 0) snapshot_ = page.snapshot;
  one_snapshot_ = one_snapshot_ && page.snapshot && page.snapshot == snapshot_;
  ++pages_;
  for (const ListedResource& resource : page.resources) add(resource);
  if (!page.next_cursor) return complete(now);
  if (!cursors_.insert(*page.next_cursor).second) return start_over(ListResult::looping, now);
  if (pages_ >= list_pages_max) return {Next::give_up, ListResult::too_long};
  cursor_ = page.next_cursor;
  return {Next::page, std::nullopt};
}

ListScan::Step ListScan::complete(Instant now) {
  const bool proven = snapshots_negotiated_ && one_snapshot_;
  if (proven || previous_ == sum_) {
    proof_ = proven ? SnapshotProof::proven : SnapshotProof::unproven;
    evidence_since_ = proven ? started_ : previous_started_;
    std::ranges::sort(uris_);
    return {Next::done, proven ? ListResult::proven : ListResult::unproven};
  }
  const bool differs = previous_.has_value();
  previous_ = sum_;
  previous_started_ = started_;
  if (differs) return start_over(ListResult::differing, now);
  begin(now);
  return {Next::page, std::nullopt};
}

bool ListScan::contains(std::string_view uri) const {
  return std::ranges::binary_search(uris_, std::hash<std::string_view>{}(uri));
}

}  // namespace freshet
