// A directed network with integer capacities: arcs in a flat array, and for each node the list of its arcs.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "flow/capacity.h"

namespace forestcoll {

template <class Capacity>
class Network {
 public:
  explicit Network(NodeIndex nodes) : out_(checked(nodes)), in_(checked(nodes)) {}

  ArcIndex add_arc(NodeIndex tail, NodeIndex head, Capacity capacity) {
    require_node(tail);
    require_node(head);
    if (capacity < 0) throw std::invalid_argument("a capacity is negative");
    const auto arc = static_cast<ArcIndex>(arcs_.size());
    arcs_.push_back({capacity, tail, head});
    out_[static_cast<std::size_t>(tail)].push_back(arc);
    in_[static_cast<std::size_t>(head)].push_back(arc);
    return arc;
  }

  NodeIndex nodes() const { return static_cast<NodeIndex>(out_.size()); }
  ArcIndex arcs() const { return static_cast<ArcIndex>(arcs_.size()); }
  NodeIndex tail(ArcIndex arc) const { return arcs_[static_cast<std::size_t>(arc)].tail; }
  NodeIndex head(ArcIndex arc) const { return arcs_[static_cast<std::size_t>(arc)].head; }
  Capacity capacity(ArcIndex arc) const { return arcs_[static_cast<std::size_t>(arc)].capacity; }
  void set_capacity(ArcIndex arc, Capacity capacity) { arcs_[static_cast<std::size_t>(arc)].capacity = capacity; }
  void add_capacity(ArcIndex arc, Capacity amount) {
    Capacity& capacity = arcs_[static_cast<std::size_t>(arc)].capacity;
    capacity = checked_add(capacity, amount);
  }
  const std::vector<ArcIndex>& out(NodeIndex node) const { return out_[static_cast<std::size_t>(node)]; }
  const std::vector<ArcIndex>& in(NodeIndex node) const { return in_[static_cast<std::size_t>(node)]; }

  void require_node(NodeIndex node) const {
    if (node < 0 || node >= nodes()) throw std::invalid_argument("a node number is out of range");
  }

  // The sum of the capacities of the arcs that enter `node`.
  Capacity ingress(NodeIndex node) const {
    Capacity sum = 0;
    for (const ArcIndex arc : in(node)) sum = checked_add(sum, capacity(arc));
    return sum;
  }

  // The sum of the capacities of the arcs that enter the set of nodes for which `inside` holds.
  template <class Inside>
  Capacity entering(Inside inside) const {
    Capacity sum = 0;
    for (ArcIndex arc = 0; arc < arcs(); ++arc) {
      if (inside(head(arc)) && !inside(tail(arc))) sum = checked_add(sum, capacity(arc));
    }
    return sum;
  }

 private:
  static std::size_t checked(NodeIndex nodes) {
    if (nodes < 0) throw std::invalid_argument("a network needs zero or more nodes");
    return static_cast<std::size_t>(nodes);
  }

  // What is known of an arc is in one place of the memory, because searches need all of it.
  struct Arc {
    Capacity capacity;
    NodeIndex tail, head;
  };

  std::vector<Arc> arcs_;
  std::vector<std::vector<ArcIndex>> out_, in_;
};

// The nodes for which `wanted` holds, in the order of a breadth-first search from `start` along arcs in both
// directions. Nodes that the search does not reach follow in rising order.
template <class Capacity, class Wanted>
std::vector<NodeIndex> breadth_first(const Network<Capacity>& network, NodeIndex start, Wanted wanted) {
  std::vector<NodeIndex> walk{start};
  std::vector<bool> seen(static_cast<std::size_t>(network.nodes()));
  seen[static_cast<std::size_t>(start)] = true;
  const auto visit = [&](NodeIndex node) {
    if (!seen[static_cast<std::size_t>(node)]) walk.push_back(node);
    seen[static_cast<std::size_t>(node)] = true;
  };
  for (std::size_t next = 0; next < walk.size(); ++next) {
    for (const ArcIndex arc : network.out(walk[next])) visit(network.head(arc));
    for (const ArcIndex arc : network.in(walk[next])) visit(network.tail(arc));
  }
  for (NodeIndex node = 0; node < network.nodes(); ++node) visit(node);
  std::erase_if(walk, [&](NodeIndex node) { return !wanted(node); });
  return walk;
}

}  // namespace forestcoll
