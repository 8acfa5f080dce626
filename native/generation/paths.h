// Physical paths behind logical capacity: the links that a unit of a logical link uses.
//
// Splitting off replaces u -> w -> t by a logical link u -> t. The capacity of the logical link consists of shares of
// paths: each path behind (u, w), continued by one behind (w, t). Each path is stored once, as a node sequence without
// repetition: a switch that a path would pass twice is passed once, which only leaves capacity unused.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "flow/capacity.h"
#include "generation/sequence_table.h"

namespace forestcoll {

using PathIndex = SequenceTable::Number;

template <class Capacity>
struct PathShare {
  PathIndex path;
  Capacity amount;
};

// The shares of a logical link; they are taken from the back.
template <class Capacity>
using Stock = std::vector<PathShare<Capacity>>;

class PathTable : public SequenceTable {
 public:
  // The path that follows `first` and then `second`, which begins where `first` ends, with every detour removed.
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
