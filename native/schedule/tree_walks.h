// Walks over the trees of a phase: how high they are, and how much data each route carries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "schedule/rows.h"

namespace forestcoll::schedule {

struct Heights {
  std::vector<std::int32_t> sends;  // of each tree: the most edges from its root to a node
  std::vector<std::int32_t> hops;   // of each tree: the most links from its root to a node
};

// The height of each tree of a phase. A tree lists each route after the routes that feed it; a phase that reduces is
// read backwards. Throws if a number of a route or of a node is out of range.
class HeightSearch {
 public:
  HeightSearch(const Rows& routes, std::size_t nodes, bool reduces)
      : routes_(routes), reduces_(reduces), sends_(nodes), hops_(nodes) {}

  template <class Pulse>
  Heights run(const Rows& trees, Pulse pulse) {
    Heights found;
    for (std::size_t tree = 0; tree < trees.size(); ++tree) {
      pulse();
      walk(trees[tree]);
      found.sends.push_back(most(sends_));
      found.hops.push_back(most(hops_));
    }
    return found;
  }

 private:
  void walk(std::span<const Entry> tree) {
    std::fill(sends_.begin(), sends_.end(), 0);
    std::fill(hops_.begin(), hops_.end(), 0);
    for (std::size_t place = 0; place < tree.size(); ++place) {
      const auto route = path(reduces_ ? tree[tree.size() - 1 - place] : tree[place]);
      const std::size_t source = node(reduces_ ? route.back() : route.front());
      const std::size_t target = node(reduces_ ? route.front() : route.back());
      sends_[target] = sends_[source] + 1;
      hops_[target] = hops_[source] + static_cast<std::int32_t>(route.size()) - 1;
    }
  }

  std::span<const Entry> path(Entry number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= routes_.size()) throw std::out_of_range("no such route");
    const auto route = routes_[static_cast<std::size_t>(number)];
    if (route.empty()) throw std::out_of_range("a route without nodes");
    return route;
  }

  std::size_t node(Entry number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= sends_.size()) throw std::out_of_range("no such node");
    return static_cast<std::size_t>(number);
  }

  static std::int32_t most(const std::vector<std::int32_t>& depths) {
    return depths.empty() ? 0 : *std::max_element(depths.begin(), depths.end());
  }

  const Rows& routes_;
  bool reduces_;
  std::vector<std::int32_t> sends_, hops_;  // of each node of the tree at hand, 0 at its root
};

// Adds, for each tree, its number of `units` to each of its routes. The caller proves that no sum overflows.
template <class Pulse>
void add_units(const Rows& trees, std::span<const std::int64_t> units, std::span<std::int64_t> carried, Pulse pulse) {
  if (units.size() != trees.size()) throw std::invalid_argument("each tree needs a number of units");
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    pulse();
    for (const Entry route : trees[tree]) {
      if (route < 0 || static_cast<std::size_t>(route) >= carried.size()) throw std::out_of_range("no such route");
      carried[static_cast<std::size_t>(route)] += units[tree];
    }
  }
}

}  // namespace forestcoll::schedule
