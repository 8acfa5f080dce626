// Physical paths behind logical capacity: which links a unit of a logical link stands for.
//
// Splitting off replaces u -> w -> t by a logical link u -> t. Its capacity is then made of shares of paths: the paths
// behind (u, w), each prolonged by those behind (w, t). Paths are kept once, as node sequences without repetition: a
// switch that a path would pass twice is passed once, which only leaves capacity unused.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "flow/capacity.h"
#include "generate/sequence_table.h"

namespace forestcoll {

using PathIndex = SequenceTable::Number;

template <class Capacity>
struct PathShare {
  PathIndex path;
  Capacity amount;
};

// The shares of a logical link; taken from the back.
template <class Capacity>
using Stock = std::vector<PathShare<Capacity>>;

class PathTable : public SequenceTable {
 public:
  // The path that follows `first` and then `second`, which begins where `first` ends, with every detour left out.
  PathIndex join(PathIndex first, PathIndex second) {
    std::vector<NodeIndex> nodes((*this)[first].begin(), (*this)[first].end());
    for (const NodeIndex next : (*this)[second].subspan(1)) {
      const auto seen = std::find(nodes.begin(), nodes.end(), next);
      if (seen == nodes.end()) {
        nodes.push_back(next);
      } else {
        nodes.erase(seen + 1, nodes.end());
      }
    }
    return add(nodes);
  }
};

// Takes `amount` from the back of `stock` and calls `use(path, part)` for each part of it.
template <class Capacity, class Use>
void take(Stock<Capacity>& stock, Capacity amount, Use use) {
  while (amount > 0) {
    if (stock.empty()) throw std::logic_error("a logical link was used beyond its capacity");
    PathShare<Capacity>& last = stock.back();
    const Capacity part = std::min(amount, last.amount);
    use(last.path, part);
    amount -= part;
    last.amount -= part;
    if (last.amount == 0) stock.pop_back();
  }
}

}  // namespace forestcoll
