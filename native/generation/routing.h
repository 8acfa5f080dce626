// From trees of logical links back to paths of physical ones (ForestColl appendix E.3, last part).
//
// The capacity of each logical link consists of shares of paths. A batch of m equal trees takes m of each of its links.
// If that takes several paths, the batch is split into batches of fewer trees, each with one path for each link.
#pragma once

#include <algorithm>
#include <vector>

#include "flow/observer.h"
#include "generation/packing.h"
#include "generation/results.h"
#include "generation/switches.h"

namespace forestcoll {

template <class Capacity>
RoutedTrees<Capacity> route_trees(LogicalNetwork<Capacity>& logical, const TreeBatches<Capacity>& batches,
                                  std::size_t edges_per_tree, Observer& observer) {
  RoutedTrees<Capacity> trees;
  trees.paths.reserve(batches.arcs.size());
  for (std::size_t batch = 0; batch < batches.roots.size(); ++batch) {
    observer.advance(static_cast<std::int64_t>(batch), static_cast<std::int64_t>(batches.roots.size()));
    const ArcIndex* arcs = batches.arcs.data() + batch * edges_per_tree;
    Capacity left = batches.multiplicities[batch];
    while (left > 0) {
      Capacity part = left;
      for (std::size_t edge = 0; edge < edges_per_tree; ++edge) {
        const Stock<Capacity>& stock = logical.stocks[static_cast<std::size_t>(arcs[edge])];
        if (stock.empty()) throw std::logic_error("a logical link was used beyond its capacity");
        part = std::min(part, stock.back().amount);
      }
      for (std::size_t edge = 0; edge < edges_per_tree; ++edge) {
        take(logical.stocks[static_cast<std::size_t>(arcs[edge])], part,
             [&](PathIndex path, Capacity) { trees.paths.push_back(path); });
      }
      trees.roots.push_back(batches.roots[batch]);
      trees.multiplicities.push_back(part);
      left -= part;
    }
  }
  return trees;
}

}  // namespace forestcoll
