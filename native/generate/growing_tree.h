// A tree while it grows: by which path it reaches each node, and which sets it would have to pay for.
#pragma once

#include <cstdint>
#include <vector>

#include "generate/way_table.h"

namespace forestcoll {

template <class Capacity>
struct GrowingTree {
  NodeIndex root = 0;
  Capacity multiplicity = 0;
  NodeIndex missing = 0;            // compute nodes that it does not reach yet
  std::vector<PathNumber> entry;    // of each node, the path by which it is reached, or kUnreached
  std::vector<std::uint64_t> paid;  // one bit a tight set: a further entry costs slack
  std::vector<NodeIndex> frontier;  // the nodes that the next level starts from

  static constexpr PathNumber kUnreached = -1;

  bool complete() const { return missing == 0; }
  bool reaches(NodeIndex node) const { return node == root || entry[static_cast<std::size_t>(node)] != kUnreached; }
};

}  // namespace forestcoll
