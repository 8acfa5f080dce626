// The level of each switch above the compute nodes, and which clusters have all switches that serve them.
//
// In a hierarchy of boxes, pods and spines, compute nodes have level 0. Each step gives the next level to the switches
// for which at least half of the links are links to nodes with a level. So a spine stays above the leaves although a
// few hosts are connected to it. If there is no such switch, all switches next to a node with a level get the next
// level: without a hierarchy, the level is the distance from compute nodes. A switch serves a cluster if all its lower
// neighbours are in the cluster.
#pragma once

#include <algorithm>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

class Levels {
 public:
  template <class Capacity>
  Levels(const Network<Capacity>& network, const std::vector<char>& is_terminal)
      : level_(static_cast<std::size_t>(network.nodes()), kNone) {
    std::vector<NodeIndex> border;  // nodes without a level, next to nodes with one
    for (NodeIndex node = 0; node < network.nodes(); ++node) {
      if (is_terminal[static_cast<std::size_t>(node)]) level(node) = 0;
    }
    for (NodeIndex node = 0; node < network.nodes(); ++node) {
      if (of(node) == 0) meet_neighbours(network, node, border);
    }
    while (!border.empty()) rise(network, border);
  }

  // The level of the node, or kNone if no path joins it to a compute node.
  NodeIndex of(NodeIndex node) const { return level_[static_cast<std::size_t>(node)]; }
  NodeIndex highest() const { return highest_; }

  // For each cluster, by its label: whether it is whole, that is, whether its switches are exactly those that serve it.
  // If a switch of the cluster also serves others, trees pass through the cluster. If a switch that serves the cluster
  // is outside, paths from the cluster back into it use this switch. Trees that may enter the cluster only once would
  // not use such switches.
  template <class Capacity>
  std::vector<char> whole_clusters(const Network<Capacity>& network, const std::vector<NodeIndex>& labels) const {
    std::vector<char> whole(labels.size(), true);
    for (NodeIndex node = 0; node < network.nodes(); ++node) {
      if (of(node) <= 0) continue;
      const NodeIndex own = labels[static_cast<std::size_t>(node)];
      const NodeIndex served = served_by(node, network, labels);
      if (served == own) continue;
      whole[static_cast<std::size_t>(own)] = false;
      if (served != kNone) whole[static_cast<std::size_t>(served)] = false;
    }
    return whole;
  }

  static constexpr NodeIndex kNone = -1;

 private:
  static constexpr NodeIndex kMet = -2;  // in the border

  NodeIndex& level(NodeIndex node) { return level_[static_cast<std::size_t>(node)]; }

  // Gives the next level to nodes of the border, and replaces these nodes by their neighbours without a level.
  template <class Capacity>
  void rise(const Network<Capacity>& network, std::vector<NodeIndex>& border) {
    auto staying = std::stable_partition(border.begin(), border.end(),
                                         [&](NodeIndex node) { return is_mostly_above(network, node); });
    if (staying == border.begin()) staying = border.end();
    std::vector<NodeIndex> next(staying, border.end());
    ++highest_;
    std::for_each(border.begin(), staying, [&](NodeIndex node) { level(node) = highest_; });
    std::for_each(border.begin(), staying, [&](NodeIndex node) { meet_neighbours(network, node, next); });
    border.swap(next);
  }

  // Whether at least half of the node's links are to nodes with a level.
  template <class Capacity>
  bool is_mostly_above(const Network<Capacity>& network, NodeIndex node) const {
    const auto& in = network.in(node);
    const auto& out = network.out(node);
    const auto from = std::count_if(in.begin(), in.end(), [&](ArcIndex arc) { return of(network.tail(arc)) >= 0; });
    const auto to = std::count_if(out.begin(), out.end(), [&](ArcIndex arc) { return of(network.head(arc)) >= 0; });
    return 2 * static_cast<std::size_t>(from + to) >= in.size() + out.size();
  }

  template <class Capacity>
  void meet_neighbours(const Network<Capacity>& network, NodeIndex node, std::vector<NodeIndex>& border) {
    const auto meet = [&](NodeIndex other) {
      if (level(other) != kNone) return;
      level(other) = kMet;
      border.push_back(other);
    };
    for (const ArcIndex arc : network.in(node)) meet(network.tail(arc));
    for (const ArcIndex arc : network.out(node)) meet(network.head(arc));
  }

  // The label of the cluster that the switch serves, or kNone if its lower neighbours are in several.
  template <class Capacity>
  NodeIndex served_by(NodeIndex node, const Network<Capacity>& network, const std::vector<NodeIndex>& labels) const {
    NodeIndex served = kNone;
    bool single = true;
    const auto meet = [&](NodeIndex other) {
      if (of(other) >= of(node)) return;
      const NodeIndex label = labels[static_cast<std::size_t>(other)];
      single = single && (served == kNone || served == label);
      served = label;
    };
    for (const ArcIndex arc : network.in(node)) meet(network.tail(arc));
    for (const ArcIndex arc : network.out(node)) meet(network.head(arc));
    return single ? served : kNone;
  }

  std::vector<NodeIndex> level_;
  NodeIndex highest_ = 0;
};

}  // namespace forestcoll
