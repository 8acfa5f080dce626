// Paths of arcs, each kept once and known by its number.
//
// Ways are found again by their ends: a chain of ways for each pair of nodes, a row of chains for each first node. A
// tree grows from few nodes at a time, so that their rows stay in the processor's cache, where a hash table would be
// met in a new place by each of millions of paths.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "flow/capacity.h"

namespace forestcoll {

using PathNumber = std::int32_t;

class WayTable {
 public:
  explicit WayTable(NodeIndex nodes) : rows_(static_cast<std::size_t>(nodes)) {}

  // The number of the path, which leads from node `from` to node `to`; it is added if it is new.
  PathNumber add(NodeIndex from, NodeIndex to, std::span<const ArcIndex> path) {
    auto& row = rows_[static_cast<std::size_t>(from)];
    if (row.empty()) row.assign(rows_.size(), kNone);
    PathNumber& first = row[static_cast<std::size_t>(to)];
    for (PathNumber way = first; way != kNone; way = next_[static_cast<std::size_t>(way)]) {
      if (std::ranges::equal((*this)[way], path)) return way;
    }
    next_.push_back(first);
    first = size();
    arcs_.insert(arcs_.end(), path.begin(), path.end());
    starts_.push_back(arcs_.size());
    return first;
  }

  std::span<const ArcIndex> operator[](PathNumber way) const {
    const auto place = static_cast<std::size_t>(way);
    return {arcs_.data() + starts_[place], starts_[place + 1] - starts_[place]};
  }

  PathNumber size() const { return static_cast<PathNumber>(starts_.size() - 1); }

 private:
  static constexpr PathNumber kNone = -1;

  std::vector<std::vector<PathNumber>> rows_;  // of a first and a last node, the way that was added last
  std::vector<PathNumber> next_;               // of a way, the one between the same nodes that was added before it
  std::vector<ArcIndex> arcs_;
  std::vector<std::size_t> starts_{0};
};

}  // namespace forestcoll
