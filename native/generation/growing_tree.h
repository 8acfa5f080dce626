// A tree while it grows: the path by which it reaches each node, and the sets that it would have to pay for.
#pragma once

#include <vector>

#include "generation/arc_path_table.h"
#include "generation/bits.h"

namespace forestcoll {

template <class Capacity>
struct GrowingTree {
  NodeIndex root = 0;
  Capacity multiplicity = 0;
  NodeIndex missing = 0;            // compute nodes that it does not reach yet
  NodeIndex height = 0;             // while it grows, at least the number of tree edges to its deepest node
  std::vector<ArcPath> entry;       // of each node that it reaches, except for the root: the path to it
  Bits within;                      // for each node, whether the tree reaches it
  Bits pays;                        // for each tight set, whether another entry costs slack
  std::vector<NodeIndex> frontier;  // the nodes from which the next level starts

  bool complete() const { return missing == 0; }
  bool reaches(NodeIndex node) const { return within[node]; }

  void add(NodeIndex node, ArcPath path) {
    entry[static_cast<std::size_t>(node)] = path;
    within.set(node);
    --missing;
  }
  void remove(NodeIndex node) {
    within.clear(node);
    ++missing;
  }
};

}  // namespace forestcoll
