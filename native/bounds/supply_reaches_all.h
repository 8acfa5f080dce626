// Does every compute node receive what all of them supply? (Theorem 1 of the ForestColl paper, for a given supply.)
//
// The condition "B-(T) >= supply outside T for every set T with a compute node" is checked by one flow question for
// each compute node. A node that receives everything counts as an unlimited source from then on, because only sets T
// without it are left to check. So one question is a complete max-flow, and most others end a few links away. Such
// nodes are absorbed: N nodes on one switch cost O(N) instead of O(N^2).
#pragma once

#include <vector>

#include "flow/max_flow.h"
#include "flow/observer.h"

namespace forestcoll {

// Asks for each terminal in `order` whether `needed()` arrives. On a shortfall, `on_shortfall(missing)` may inspect the
// minimum cut, and change capacities and supplies so that no cut gets worse than a later question assumes. It returns
// true to ask again, or false to stop. Returns whether all terminals received what they need.
template <class Capacity, class Needed, class OnShortfall>
bool supply_all(MaxFlow<Capacity>& max_flow, const std::vector<NodeIndex>& order, Needed needed,
                OnShortfall on_shortfall, Observer& observer) {
  max_flow.limit_all();
  for (const NodeIndex terminal : order) {
    const NodeIndex sinks[] = {terminal};
    while (true) {
      observer.pulse();
      const Capacity wanted = needed();
      const Capacity arrived = max_flow.into(sinks, wanted);
      if (arrived == wanted) break;
      if (!on_shortfall(wanted - arrived)) return false;
      max_flow.absorb_again();
    }
    max_flow.absorb(terminal);
  }
  return true;
}

}  // namespace forestcoll
