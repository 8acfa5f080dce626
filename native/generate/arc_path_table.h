// Paths of arcs, each stored once and identified by its number.
//
// Paths are looked up by their ends: a chain of paths for each pair of nodes, and a row of chains for each first node.
// A tree grows from few nodes at a time, so that their rows stay in the cache of the processor. In a hash table, each
// of millions of paths would be at another place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "flow/capacity.h"

namespace forestcoll {

using PathNumber = std::int32_t;

class ArcPathTable {
 public:
  explicit ArcPathTable(NodeIndex nodes) : of_(static_cast<std::size_t>(nodes)) {}

  // The number of the path, which leads from node `from` to node `to`; it is added if it is new.
  PathNumber add(NodeIndex from, NodeIndex to, std::span<const ArcIndex> path) {
    PathsFrom& paths = of_[static_cast<std::size_t>(from)];
    PathNumber& last = chain(paths, to);
    for (PathNumber known = last; known != kNone; known = next_[static_cast<std::size_t>(known)]) {
      if (same((*this)[known], path)) return known;
    }
    const PathNumber added = size();
    next_.push_back(last);
    last = added;
    ends_.push_back(to);
    arcs_.insert(arcs_.end(), path.begin(), path.end());
    starts_.push_back(arcs_.size());
    if (++paths.count == kFew) make_row(paths);
    return added;
  }

  std::span<const ArcIndex> operator[](PathNumber number) const {
    const auto place = static_cast<std::size_t>(number);
    return {arcs_.data() + starts_[place], starts_[place + 1] - starts_[place]};
  }

  PathNumber size() const { return static_cast<PathNumber>(starts_.size() - 1); }

 private:
  // Paths are short, so a comparison arc by arc is faster than a call of memcmp.
  static bool same(std::span<const ArcIndex> one, std::span<const ArcIndex> other) {
    if (one.size() != other.size()) return false;
    for (std::size_t place = 0; place < one.size(); ++place) {
      if (one[place] != other[place]) return false;
    }
    return true;
  }

  static constexpr PathNumber kNone = -1;
  static constexpr std::int32_t kFew = 64;

  // The paths from a node: one chain while they are few, then a chain for each node that they lead to.
  struct PathsFrom {
    std::int32_t count = 0;
    PathNumber last = kNone;
    std::vector<PathNumber> last_to;
  };

  PathNumber& chain(PathsFrom& paths, NodeIndex to) {
    return paths.last_to.empty() ? paths.last : paths.last_to[static_cast<std::size_t>(to)];
  }

  void make_row(PathsFrom& paths) {
    paths.last_to.assign(of_.size(), kNone);
    for (PathNumber number = paths.last; number != kNone;) {
      PathNumber& last = paths.last_to[static_cast<std::size_t>(ends_[static_cast<std::size_t>(number)])];
      const PathNumber following = next_[static_cast<std::size_t>(number)];
      next_[static_cast<std::size_t>(number)] = last;
      last = number;
      number = following;
    }
  }

  std::vector<PathsFrom> of_;     // for each first node
  std::vector<PathNumber> next_;  // for a path, the next one in its chain
  std::vector<NodeIndex> ends_;   // for a path, the node that it leads to
  std::vector<ArcIndex> arcs_;
  std::vector<std::size_t> starts_{0};
};

}  // namespace forestcoll
