// A partition of the nodes into clusters; to join two nodes joins their clusters (union-find with path halving).
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

class Clusters {
 public:
  explicit Clusters(NodeIndex nodes) : above_(static_cast<std::size_t>(nodes)) { start_over(); }

  // Every node is a cluster of its own.
  void start_over() { std::iota(above_.begin(), above_.end(), 0); }

  // The first node of the node's cluster.
  NodeIndex of(NodeIndex node) {
    auto place = static_cast<std::size_t>(node);
    while (above_[place] != static_cast<NodeIndex>(place)) {
      above_[place] = above_[static_cast<std::size_t>(above_[place])];
      place = static_cast<std::size_t>(above_[place]);
    }
    return static_cast<NodeIndex>(place);
  }

  void join(NodeIndex one, NodeIndex other) {
    const NodeIndex first = of(one), second = of(other);
    above_[static_cast<std::size_t>(std::max(first, second))] = std::min(first, second);
  }

  // Joins the ends of all arcs for which `joins` holds.
  template <class Capacity, class Joins>
  void join_ends(const Network<Capacity>& network, Joins joins) {
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      if (joins(arc)) join(network.tail(arc), network.head(arc));
    }
  }

  // For each node, the first node of its cluster.
  std::vector<NodeIndex> labels() {
    std::vector<NodeIndex> found;
    for (NodeIndex node = 0; node < static_cast<NodeIndex>(above_.size()); ++node) found.push_back(of(node));
    return found;
  }

 private:
  std::vector<NodeIndex> above_;  // for each node, a node of its cluster with the same number or a smaller one
};

}  // namespace forestcoll
