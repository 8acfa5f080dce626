// Physical paths behind logical capacity: which links a unit of a logical link stands for.
//
// Splitting off replaces u -> w -> t by a logical link u -> t. Its capacity is then made of shares of paths: the paths
// behind (u, w), each prolonged by those behind (w, t). Paths are kept once, as node sequences without repetition: a
// switch that a path would pass twice is passed once, which only leaves capacity unused.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include "flow/capacity.h"

namespace forestcoll {

using PathIndex = std::int32_t;

template <class Capacity>
struct PathShare {
  PathIndex path;
  Capacity amount;
};

// The shares of a logical link; taken from the back.
template <class Capacity>
using Stock = std::vector<PathShare<Capacity>>;

class PathTable {
 public:
  PathIndex add(std::vector<NodeIndex> nodes) {
    const auto [entry, added] = numbers_.try_emplace(std::move(nodes), static_cast<PathIndex>(paths_.size()));
    if (added) paths_.push_back(&entry->first);
    return entry->second;
  }

  // The path that follows `first` and then `second`, which begins where `first` ends, with every detour left out.
  PathIndex join(PathIndex first, PathIndex second) {
    std::vector<NodeIndex> nodes = (*this)[first];
    const std::vector<NodeIndex>& rest = (*this)[second];
    for (std::size_t next = 1; next < rest.size(); ++next) {
      const auto seen = std::find(nodes.begin(), nodes.end(), rest[next]);
      if (seen == nodes.end()) {
        nodes.push_back(rest[next]);
      } else {
        nodes.erase(seen + 1, nodes.end());
      }
    }
    return add(std::move(nodes));
  }

  const std::vector<NodeIndex>& operator[](PathIndex path) const { return *paths_[static_cast<std::size_t>(path)]; }
  PathIndex size() const { return static_cast<PathIndex>(paths_.size()); }

 private:
  std::map<std::vector<NodeIndex>, PathIndex> numbers_;  // a map's keys stay where they are
  std::vector<const std::vector<NodeIndex>*> paths_;
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
