// Deadlines by key: set, move, cancel and take the next in O(log n). Ties go to the one set first.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "strategies/time.hpp"

namespace freshet {

template <class Key, class Hash = std::hash<Key>>
class TimerQueue {
 public:
  // Sets or moves the deadline of `key`.
  void set(const Key& key, Instant at) {
    auto [it, added] = position_.try_emplace(key, heap_.size());
    if (added) {
      heap_.push_back({at, ++sequence_, key});
      rise(heap_.size() - 1);
      return;
    }
    const std::size_t i = it->second;
    heap_[i].at = at;
    heap_[i].sequence = ++sequence_;
    if (!rise(i)) sink(i);
  }

  void cancel(const Key& key) {
    const auto it = position_.find(key);
    if (it == position_.end()) return;
    remove_at(it->second);
  }

  [[nodiscard]] std::optional<Instant> at(const Key& key) const {
    const auto it = position_.find(key);
    if (it == position_.end()) return std::nullopt;
    return heap_[it->second].at;
  }

  [[nodiscard]] Instant next() const { return heap_.empty() ? never : heap_.front().at; }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

  // The key with the earliest deadline that is not after `now`, taken out.
  std::optional<Key> take_due(Instant now) {
    if (heap_.empty() || heap_.front().at > now) return std::nullopt;
    Key key = heap_.front().key;
    remove_at(0);
    return key;
  }

 private:
  struct Entry {
    Instant at;
    std::uint64_t sequence;
    Key key;
  };

  [[nodiscard]] bool before(std::size_t a, std::size_t b) const {
    return std::pair(heap_[a].at, heap_[a].sequence) < std::pair(heap_[b].at, heap_[b].sequence);
  }
  void swap_entries(std::size_t a, std::size_t b) {
    std::swap(heap_[a], heap_[b]);
    position_[heap_[a].key] = a;
    position_[heap_[b].key] = b;
  }
  bool rise(std::size_t i) {
    bool moved = false;
    while (i > 0 && before(i, (i - 1) / 2)) {
      swap_entries(i, (i - 1) / 2);
      i = (i - 1) / 2;
      moved = true;
    }
    return moved;
  }
  void sink(std::size_t i) {
    for (;;) {
      std::size_t least = i;
      for (const std::size_t child : {2 * i + 1, 2 * i + 2}) {
        if (child < heap_.size() && before(child, least)) least = child;
      }
      if (least == i) return;
      swap_entries(i, least);
      i = least;
    }
  }
  void remove_at(std::size_t i) {
    position_.erase(heap_[i].key);
    const std::size_t last = heap_.size() - 1;
    if (i != last) {
      heap_[i] = std::move(heap_[last]);
      position_[heap_[i].key] = i;
    }
    heap_.pop_back();
    if (i < heap_.size() && !rise(i)) sink(i);
  }

  std::vector<Entry> heap_;
  std::unordered_map<Key, std::size_t, Hash> position_;
  std::uint64_t sequence_ = 0;
};

}  // namespace freshet
