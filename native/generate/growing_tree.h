// A tree while it grows: the path by which it reaches each node, and the sets that it would have to pay for.
#pragma once

#include <cstdint>
#include <vector>

#include "generate/arc_path_table.h"

namespace forestcoll {

template <class Capacity>
struct GrowingTree {
  NodeIndex root = 0;
  Capacity multiplicity = 0;
  NodeIndex missing = 0;            // compute nodes that it does not reach yet
  std::vector<PathNumber> entry;    // of each node, the path by which it is reached, or kUnreached
  std::vector<std::uint64_t> paid;  // one bit for each tight set: another entry costs slack
  std::vector<NodeIndex> frontier;  // the nodes from which the next level starts

  static constexpr PathNumber kUnreached = -1;

  bool complete() const { return missing == 0; }
  bool reaches(NodeIndex node) const { return node == root || entry[static_cast<std::size_t>(node)] != kUnreached; }
};

}  // namespace forestcoll
