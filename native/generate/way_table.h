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
  explicit WayTable(NodeIndex nodes) : of_(static_cast<std::size_t>(nodes)) {}

  // The number of the path, which leads from node `from` to node `to`; it is added if it is new.
  PathNumber add(NodeIndex from, NodeIndex to, std::span<const ArcIndex> path) {
    Ways& ways = of_[static_cast<std::size_t>(from)];
    PathNumber& last = chain(ways, to);
    for (PathNumber way = last; way != kNone; way = next_[static_cast<std::size_t>(way)]) {
      if (same((*this)[way], path)) return way;
    }
    const PathNumber added = size();
    next_.push_back(last);
    last = added;
    ends_.push_back(to);
    arcs_.insert(arcs_.end(), path.begin(), path.end());
    starts_.push_back(arcs_.size());
    if (++ways.count == kFew) make_row(ways);
    return added;
  }

  std::span<const ArcIndex> operator[](PathNumber way) const {
    const auto place = static_cast<std::size_t>(way);
    return {arcs_.data() + starts_[place], starts_[place + 1] - starts_[place]};
  }

  PathNumber size() const { return static_cast<PathNumber>(starts_.size() - 1); }

 private:
  // Paths are short: to compare arc by arc is faster than a call of memcmp.
  static bool same(std::span<const ArcIndex> one, std::span<const ArcIndex> other) {
    if (one.size() != other.size()) return false;
    for (std::size_t place = 0; place < one.size(); ++place) {
      if (one[place] != other[place]) return false;
    }
    return true;
  }

  static constexpr PathNumber kNone = -1;
  static constexpr std::int32_t kFew = 64;

  // The ways from a node: a chain while they are few, then a chain for each node that they lead to.
  struct Ways {
    std::int32_t count = 0;
    PathNumber last = kNone;
    std::vector<PathNumber> last_to;
  };

  PathNumber& chain(Ways& ways, NodeIndex to) {
    return ways.last_to.empty() ? ways.last : ways.last_to[static_cast<std::size_t>(to)];
  }

  void make_row(Ways& ways) {
    ways.last_to.assign(of_.size(), kNone);
    for (PathNumber way = ways.last; way != kNone;) {
      PathNumber& last = ways.last_to[static_cast<std::size_t>(ends_[static_cast<std::size_t>(way)])];
      const PathNumber following = next_[static_cast<std::size_t>(way)];
      next_[static_cast<std::size_t>(way)] = last;
      last = way;
      way = following;
    }
  }

  std::vector<Ways> of_;          // of each first node
  std::vector<PathNumber> next_;  // of a way, the next one in its chain
  std::vector<NodeIndex> ends_;   // of a way, the node that it leads to
  std::vector<ArcIndex> arcs_;
  std::vector<std::size_t> starts_{0};
};

}  // namespace forestcoll
