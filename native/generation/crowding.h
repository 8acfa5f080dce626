// Finds clusters that trees would crowd into: clusters that trees cannot all enter as often as they would like.
//
// A tree that grows without care enters a cluster, such as a pod, once for each of its parts, such as boxes, because
// the direct path from the root to a box is as short as the path from another box of the pod. Suppose that d copies of
// trees have their roots outside a cluster of p parts. They use d * p of the capacity into it, although d is enough: a
// tree that is in the cluster can continue inside. Add up both over the clusters of a partition. If the capacity is at
// least the sum of d * p, all trees can take direct paths. If it is less, the first trees use up arcs that the last
// trees need, and the last trees cannot enter. Then the clusters are scarce: trees spare them, that is, they enter each
// of them only once.
//
// The clusters of a partition are judged together: if only some were spared, trees would crowd into the others. The
// parts of a cluster are the scarce or tight clusters in it, and its other compute nodes; so small clusters are judged
// first. Only whole clusters (levels.h) with more than a few parts count: sparing a cluster of few parts saves little
// capacity and makes trees one level higher.
//
// No sum overflows. S trees with N - 1 edges each fit into the capacities, and the d * p of a partition add up to at
// most S * (N - 1).
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "generation/tight_sets.h"

namespace forestcoll {

template <class Capacity>
class Crowding {
 public:
  // A whole cluster that is kept as `set`. `entering` is the capacity into it, `demand` the number of trees whose root
  // is outside.
  struct Cluster {
    SetIndex set;
    std::vector<NodeIndex> nodes;
    Capacity entering, demand;
    Care care;
  };

  static constexpr Capacity kFewParts = 4;

  explicit Crowding(const std::vector<char>& is_terminal)
      : is_terminal_(is_terminal), part_(is_terminal.size()), met_(2 * is_terminal.size()) {
    std::iota(part_.begin(), part_.end(), std::size_t{0});
  }

  void add_partition(std::vector<Cluster> clusters) {
    if (!clusters.empty()) partitions_.push_back(std::move(clusters));
  }

  // Makes ample clusters scarce if trees would crowd into them. Returns whether trees would crowd into clusters that
  // are not tight. If so, an attempt that spares only tight sets fails.
  bool find(TightSets<Capacity>& sets) {
    std::stable_sort(partitions_.begin(), partitions_.end(),
                     [](const auto& one, const auto& other) { return most_nodes(one) < most_nodes(other); });
    bool crowds = false;
    for (const auto& partition : partitions_) {
      const bool scarce = is_scarce(partition);
      for (const Cluster& cluster : partition) {
        crowds = crowds || (scarce && cluster.care != Care::kTight);
        if (cluster.care == Care::kAmpleCluster && !scarce) continue;
        if (cluster.care == Care::kAmpleCluster) sets.make_scarce(cluster.set);
        make_part(cluster);
      }
    }
    return crowds;
  }

 private:
  static std::size_t index(NodeIndex node) { return static_cast<std::size_t>(node); }

  static std::size_t most_nodes(const std::vector<Cluster>& partition) {
    std::size_t nodes = 0;
    for (const Cluster& cluster : partition) nodes = std::max(nodes, cluster.nodes.size());
    return nodes;
  }

  bool is_scarce(const std::vector<Cluster>& partition) {
    Capacity entering = 0, wanted = 0;
    for (const Cluster& cluster : partition) {
      const Capacity parts = count_parts(cluster);
      if (parts <= kFewParts) continue;
      entering += cluster.entering;
      wanted += cluster.demand * parts;
    }
    return wanted > entering;
  }

  Capacity count_parts(const Cluster& cluster) {
    Capacity parts = 0;
    ++turn_;
    for (const NodeIndex node : cluster.nodes) {
      if (!is_terminal_[index(node)]) continue;
      parts += met_[part_[index(node)]] != turn_;
      met_[part_[index(node)]] = turn_;
    }
    return parts;
  }

  // From now on the cluster counts as one part of larger clusters.
  void make_part(const Cluster& cluster) {
    for (const NodeIndex node : cluster.nodes) part_[index(node)] = part_.size() + index(cluster.nodes.front());
  }

  const std::vector<char>& is_terminal_;
  std::vector<std::vector<Cluster>> partitions_;
  std::vector<std::size_t> part_;  // for each node, its part: the node itself, or the first node of a cluster, shifted
  std::vector<std::size_t> met_;   // for each part, the turn in which it was last counted
  std::size_t turn_ = 0;
};

}  // namespace forestcoll
