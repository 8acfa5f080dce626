#include <algorithm>
#include <stdexcept>

#include "generation/flat_paths.h"
#include "generation/packing.h"
#include "generation/routing.h"
#include "generation/switches.h"
#include "stages/stages.h"

namespace forestcoll {

template <class Capacity>
LogicalNetwork<Capacity> Proven<Capacity>::remove_switches(const Problem<Capacity>& problem, Capacity supply,
                                                           Observer& observer) {
  return SwitchRemoval<Capacity>(problem.network, problem.terminals, problem.supplies(supply)).run(observer);
}

template <class Capacity>
Capacity Proven<Capacity>::split_capacity(const Problem<Capacity>& problem, Capacity supply,
                                          std::array<NodeIndex, 3> way, Capacity amount, Observer& observer) {
  for (const NodeIndex node : way) problem.network.require_node(node);
  return SwitchRemoval<Capacity>(problem.network, problem.terminals, problem.supplies(supply))
      .split_capacity(way[0], way[1], way[2], amount, observer);
}

template <class Capacity>
Packed<Capacity> Proven<Capacity>::pack_trees(const Problem<Capacity>& problem, const LogicalNetwork<Capacity>& logical,
                                              Capacity supply, Observer& observer) {
  Packing<Capacity> packing(logical.network, problem.terminals, problem.supplies(supply));
  TreeBatches<Capacity> batches = packing.run(observer);
  return {std::move(batches), packing.counters()};
}

template <class Capacity>
Capacity Proven<Capacity>::tree_capacity(const Problem<Capacity>& problem, const std::vector<Capacity>& remaining,
                                         ArcIndex arc, Capacity multiplicity) {
  if (remaining.size() != static_cast<std::size_t>(problem.network.nodes())) {
    throw std::invalid_argument("remaining must have one entry per node");
  }
  if (arc < 0 || arc >= problem.network.arcs()) throw std::invalid_argument("the arc number is out of range");
  return Packing<Capacity>(problem.network, problem.terminals, problem.supplies(0))
      .tree_capacity(remaining, arc, multiplicity);
}

template <class Capacity>
Routed<Capacity> Proven<Capacity>::route_trees(const Problem<Capacity>& problem, LogicalNetwork<Capacity> logical,
                                               const TreeBatches<Capacity>& batches, Observer& observer) {
  RoutedTrees<Capacity> trees = forestcoll::route_trees(logical, batches, problem.terminals.size() - 1, observer);
  const auto& table = logical.paths;
  FlatPaths<NodeIndex> paths = flat_paths<NodeIndex>(
      table.size(), [&](PathIndex path) { return table[path].size(); },
      [&](PathIndex path, NodeIndex* out) { std::ranges::copy(table[path], out); }, [](std::size_t) {}, observer);
  return {std::move(trees), std::move(paths)};
}

template struct Proven<FORESTCOLL_WIDTH>;

}  // namespace forestcoll
