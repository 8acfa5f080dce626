// Orbits under a symmetry of the network: nodes, arcs and clusters that shifts map to each other.
//
// All g elements of the group are applied to each tree that is grown, a *base tree*. So the arcs of an orbit are used
// equally, and it is enough to count the uses of an orbit by base trees. If a base tree takes one arc of an orbit of n
// arcs, every arc of the orbit is used g/n times. In the same way, g/n images of a base tree have the same root if the
// root is in an orbit of n nodes.
//
// So numbers of trees are counted as the sum over all images: an orbit of n arcs of capacity c has the capacity c n,
// and an orbit of n roots with s trees each has the supply s n. Both are divided by a *unit*, the greatest common
// divisor of the sizes of all orbits of roots. If each element moves every root, the unit is g, and a root has s base
// trees.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flow/capacity.h"
#include "flow/network.h"

namespace forestcoll {

struct Orbits {
  std::vector<std::vector<NodeIndex>> images;  // for each shift, the image of each node
  std::vector<ArcIndex> arcs;                  // for each arc, the first arc of its orbit
  std::int64_t unit = 1;                       // divides the size of each orbit of roots

  void check(NodeIndex nodes, ArcIndex arc_count) const {
    if (unit < 1) throw std::invalid_argument("the unit of orbits is 1 or more");
    if (arcs.size() != static_cast<std::size_t>(arc_count)) throw std::invalid_argument("orbits of other arcs");
    for (const ArcIndex first : arcs) {
      if (first < 0 || first >= arc_count) throw std::invalid_argument("an arc's orbit is out of range");
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

  // For the first member of each orbit, the size of the orbit; 0 for all others.
  static std::vector<std::int64_t> orbit_sizes(const std::vector<std::int32_t>& first) {
    std::vector<std::int64_t> sizes(first.size());
    for (const std::int32_t member : first) ++sizes[static_cast<std::size_t>(member)];
    return sizes;
  }

  // How many uses by base trees `count` uses of each member of an orbit allow; an orbit has `size` members.
  template <class Capacity>
  Capacity by_base_trees(Capacity count, std::int64_t size) const {
    return checked_multiply(count, static_cast<Capacity>(size)) / static_cast<Capacity>(unit);
  }

  // The network in which a capacity counts uses by base trees.
  template <class Capacity>
  Network<Capacity> per_base_tree(Network<Capacity> network) const {
    const std::vector<std::int64_t> sizes = orbit_sizes(arcs);
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      const ArcIndex first = arcs[static_cast<std::size_t>(arc)];
      network.set_capacity(arc, by_base_trees(network.capacity(arc), sizes[static_cast<std::size_t>(first)]));
    }
    return network;
  }

  // The supplies of the first root of each orbit, as a number of base trees; 0 for all other nodes.
  template <class Capacity>
  std::vector<Capacity> per_base_tree(const std::vector<Capacity>& supplies) const {
    const std::vector<std::int64_t> sizes = orbit_sizes(first_nodes(static_cast<NodeIndex>(supplies.size())));
    std::vector<Capacity> result(supplies.size());
    for (std::size_t node = 0; node < supplies.size(); ++node) {
      if (supplies[node] > 0 && sizes[node] % unit != 0)
        throw std::invalid_argument("the unit does not divide an orbit of roots");
      if (sizes[node] > 0) result[node] = by_base_trees(supplies[node], sizes[node]);
    }
    return result;
  }
};

}  // namespace forestcoll
