// A 4-ary min-heap of (key, id) whose members can be moved and removed by id in O(log n). Ties go to the smaller id,
// that is to the older one. The places are kept by the owner, in one array that several heaps with disjoint members
// may share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace freshet {

inline constexpr std::uint32_t not_in_heap = UINT32_MAX;

template <class Key>
class IndexedHeap {
 public:
  using Id = std::uint32_t;
  using Places = std::vector<std::uint32_t>;  // by id; not_in_heap where absent

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Require !empty().
  [[nodiscard]] Id top() const { return nodes_.front().id; }
  [[nodiscard]] Key top_key() const { return nodes_.front().key; }

  // Requires that places has an entry for id. Inserts, or moves what is in this heap already.
  void put(Places& places, Id id, Key key) {
    if (places[id] == not_in_heap) {
      places[id] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({key, id});
      up(places, places[id]);
      return;
    }
    const std::size_t i = places[id];
    nodes_[i].key = key;
    up(places, i);
    down(places, places[id]);
  }

  // Requires that id is in this heap.
  void remove(Places& places, Id id) {
    const std::size_t hole = places[id];
    places[id] = not_in_heap;
    const Node last = nodes_.back();
    nodes_.pop_back();
    if (last.id == id) return;
    set(places, hole, last);
    up(places, hole);
    down(places, places[last.id]);
  }

 private:
  struct Node {
    Key key;
    Id id;
    bool operator<(const Node& other) const { return key != other.key ? key < other.key : id < other.id; }
  };
  static constexpr std::size_t arity = 4;

  void set(Places& places, std::size_t i, const Node& node) {
    nodes_[i] = node;
    places[node.id] = static_cast<std::uint32_t>(i);
  }

  void up(Places& places, std::size_t i) {
    const Node node = nodes_[i];
    while (i > 0) {
      const std::size_t parent = (i - 1) / arity;
      if (!(node < nodes_[parent])) break;
      set(places, i, nodes_[parent]);
      i = parent;
    }
    set(places, i, node);
  }

  void down(Places& places, std::size_t i) {
    const Node node = nodes_[i];
    for (;;) {
      const std::size_t first = i * arity + 1;
      if (first >= nodes_.size()) break;
      const std::size_t end = first + arity < nodes_.size() ? first + arity : nodes_.size();
      std::size_t least = first;
      for (std::size_t c = first + 1; c < end; ++c) {
        if (nodes_[c] < nodes_[least]) least = c;
      }
      if (!(nodes_[least] < node)) break;
      set(places, i, nodes_[least]);
      i = least;
    }
    set(places, i, node);
  }

  std::vector<Node> nodes_;
};

}  // namespace freshet
