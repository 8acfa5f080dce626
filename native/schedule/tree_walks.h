// Walks over the trees of a phase: how high they are, how much they send, and how much data each route carries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "schedule/rows.h"

namespace forestcoll::schedule {

// The route with this number. Throws if there is none, or if it has no nodes.
inline Entries route_of(const Rows& routes, Entry number) {
  if (number < 0 || static_cast<std::size_t>(number) >= routes.size()) throw std::out_of_range("no such route");
  const auto route = routes[static_cast<std::size_t>(number)];
  if (route.empty()) throw std::out_of_range("a route without nodes");
  return route;
}

// The place of a node among `nodes` nodes. Throws if there is no such node.
inline std::size_t place_of(Entry node, std::size_t nodes) {
  if (node < 0 || static_cast<std::size_t>(node) >= nodes) throw std::out_of_range("no such node");
  return static_cast<std::size_t>(node);
}

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
  void walk(const Entries& tree) {
    std::fill(sends_.begin(), sends_.end(), 0);
    std::fill(hops_.begin(), hops_.end(), 0);
    for (std::size_t place = 0; place < tree.size(); ++place) {
      const auto route = route_of(routes_, reduces_ ? tree[tree.size() - 1 - place] : tree[place]);
      const std::size_t source = place_of(reduces_ ? route.back() : route.front(), sends_.size());
      const std::size_t target = place_of(reduces_ ? route.front() : route.back(), sends_.size());
      sends_[target] = sends_[source] + 1;
      hops_[target] = hops_[source] + static_cast<std::int32_t>(route.size()) - 1;
    }
  }

  static std::int32_t most(const std::vector<std::int32_t>& depths) {
    return depths.empty() ? 0 : *std::max_element(depths.begin(), depths.end());
  }

  const Rows& routes_;
  bool reduces_;
  std::vector<std::int32_t> sends_, hops_;  // of each node of the tree at hand, 0 at its root
};

struct Sends {
  std::vector<std::int64_t> from_compute;  // of each tree: its routes that start on a compute node
  std::vector<std::int64_t> over_links;    // of each tree: the links of all its routes
};

// What each tree of a phase sends. Throws if a number of a route or of a node is out of range.
template <class Pulse>
Sends sends_of(const Rows& routes, const Rows& trees, std::span<const std::uint8_t> is_compute, Pulse pulse) {
  Sends found;
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    pulse();
    std::int64_t from_compute = 0, over_links = 0;
    for (const Entry number : trees[tree].all()) {
      const Entries route = route_of(routes, number);
      from_compute += is_compute[place_of(route.front(), is_compute.size())];
      over_links += static_cast<std::int64_t>(route.size()) - 1;
    }
    found.from_compute.push_back(from_compute);
    found.over_links.push_back(over_links);
  }
  return found;
}

// Adds, for each tree, its number of `units` to each of its routes. The caller proves that no sum overflows.
template <class Pulse>
void add_units(const Rows& trees, std::span<const std::int64_t> units, std::span<std::int64_t> carried, Pulse pulse) {
  if (units.size() != trees.size()) throw std::invalid_argument("each tree needs a number of units");
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    pulse();
    for (const Entry route : trees[tree].all()) {
      if (route < 0 || static_cast<std::size_t>(route) >= carried.size()) throw std::out_of_range("no such route");
      carried[static_cast<std::size_t>(route)] += units[tree];
    }
  }
}

}  // namespace forestcoll::schedule
