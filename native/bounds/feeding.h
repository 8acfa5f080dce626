// Does every compute node receive what all of them supply? (Theorem 1 of the ForestColl paper, for a given supply.)
//
// The condition "B-(T) >= supply outside T for every set T with a compute node" is checked by one flow question per
// compute node. A node that was answered well counts as an unlimited source from then on: only sets T without it are
// left to check. So one question is a whole max-flow, and the others mostly end a few links away. Such nodes are
// absorbed: N nodes on one switch cost O(N) instead of O(N^2).
#pragma once

#include <vector>

#include "flow/inflow.h"
#include "flow/observer.h"

namespace forestcoll {

// Asks each terminal in `order` whether `needed()` arrives. On a shortfall, `mend(missing)` may look at the minimum
// cut, change capacities and supplies so that no cut gets worse than a later question assumes, and return true to ask
// again, or false to stop. Returns whether all were fed.
template <class Capacity, class Needed, class Mend>
bool feed_all(Inflow<Capacity>& inflow, const std::vector<NodeIndex>& order, Needed needed, Mend mend,
              Observer& observer) {
  inflow.limit_all();
  for (const NodeIndex terminal : order) {
    const NodeIndex sinks[] = {terminal};
    while (true) {
      observer.pulse();
      const Capacity wanted = needed();
      const Capacity arrived = inflow.into(sinks, wanted);
      if (arrived == wanted) break;
      if (!mend(wanted - arrived)) return false;
      inflow.absorb_again();
    }
    inflow.absorb(terminal);
  }
  return true;
}

}  // namespace forestcoll
