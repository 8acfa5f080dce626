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
  NodeIndex missing = 0;              // compute nodes that it does not reach yet
  std::vector<ArcPath> entry;         // of each node that it reaches, except for the root: the path to it
  std::vector<std::uint64_t> within;  // one bit for each node: the tree reaches it
  std::vector<std::uint64_t> paid;    // one bit for each tight set: another entry costs slack
  std::vector<NodeIndex> frontier;    // the nodes from which the next level starts

  bool complete() const { return missing == 0; }
  bool reaches(NodeIndex node) const {
    const auto place = static_cast<std::size_t>(node);
    return ((within[place / 64] >> (place % 64)) & 1) != 0;
  }

  void add(NodeIndex node, ArcPath path) {
    entry[static_cast<std::size_t>(node)] = path;
    flip(node);
    --missing;
  }
  void remove(NodeIndex node) {
    flip(node);
    ++missing;
  }
  void flip(NodeIndex node) { within[static_cast<std::size_t>(node) / 64] ^= std::uint64_t{1} << (node % 64); }
};

}  // namespace forestcoll
