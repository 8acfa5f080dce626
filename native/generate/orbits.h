// Orbits under a symmetry of the network: nodes, arcs and clusters that shifts map to each other.
//
// All elements of the group are applied to each tree that is grown, a *base tree*. So the arcs of an orbit are used
// equally, and it is enough to count the uses of an orbit by base trees. If a base tree takes one arc of an orbit of n
// arcs, in a group of g elements, every arc of the orbit is used g/n times.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

struct Orbits {
  std::vector<std::vector<NodeIndex>> images;  // for each shift, the image of each node
  std::vector<ArcIndex> arcs;                  // for each arc, the first arc of its orbit
  std::int64_t order = 1;                      // number of elements of the group

  void check(NodeIndex nodes, ArcIndex arc_count) const {
    if (order < 1) throw std::invalid_argument("a group has one element or more");
    if (arcs.size() != static_cast<std::size_t>(arc_count)) throw std::invalid_argument("orbits of other arcs");
    std::vector<std::int64_t> sizes(arcs.size());
    for (const ArcIndex first : arcs) {
      if (first < 0 || first >= arc_count) throw std::invalid_argument("an arc's orbit is out of range");
      ++sizes[static_cast<std::size_t>(first)];
    }
    for (const std::int64_t size : sizes) {
      if (size > 0 && order % size != 0) throw std::invalid_argument("an orbit does not divide the group's order");
    }
    for (const auto& image : images) {
      if (image.size() != static_cast<std::size_t>(nodes)) throw std::invalid_argument("a shift of other nodes");
      for (const NodeIndex node : image) {
        if (node < 0 || node >= nodes) throw std::invalid_argument("an image is out of range");
      }
    }
  }

  // For each node, the first node of its orbit.
  std::vector<NodeIndex> first_nodes(NodeIndex nodes) const {
    std::vector<NodeIndex> first(static_cast<std::size_t>(nodes), -1);
    std::vector<NodeIndex> walk;
    for (NodeIndex start = 0; start < nodes; ++start) {
      if (first[static_cast<std::size_t>(start)] >= 0) continue;
      first[static_cast<std::size_t>(start)] = start;
      walk.assign(1, start);
      for (std::size_t next = 0; next < walk.size(); ++next) {
        for (const auto& image : images) {
          const NodeIndex met = image[static_cast<std::size_t>(walk[next])];
          if (std::exchange(first[static_cast<std::size_t>(met)], start) < 0) walk.push_back(met);
        }
      }
    }
    return first;
  }

  // The network in which a capacity counts uses by base trees.
  template <class Capacity>
  Network<Capacity> per_base_tree(Network<Capacity> network) const {
    std::vector<std::int64_t> sizes(arcs.size());
    for (const ArcIndex first : arcs) ++sizes[static_cast<std::size_t>(first)];
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      const auto uses =
          static_cast<Capacity>(order / sizes[static_cast<std::size_t>(arcs[static_cast<std::size_t>(arc)])]);
      network.set_capacity(arc, network.capacity(arc) / uses);
    }
    return network;
  }
};

}  // namespace forestcoll
