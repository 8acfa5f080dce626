// The rules about routes and trees in one walk over each, and the loads of links.
//
// It decides whether all of these rules hold, not which one is broken: if it finds a fault, the rules in Python find
// the first one and describe it. `verification/trees/rules.py` states the rules. The walk over a tree relies on this:
// the rules about order, repetition and spanning hold if and only if each route starts on a node that is marked, ends
// on a node that is not marked yet and gets a mark then, and in the end all nodes that take part are marked. The root
// is marked first. A tree that reduces is read backwards, and each of its routes from its end to its start.
//
// Cost: linear in the entries of routes and trees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "schedule/rows.h"
#include "verification/link_loads.h"

namespace forestcoll::verify {

using schedule::Entry;
using schedule::Rows;

using Marks = std::span<const std::uint8_t>;  // one for each node: 0 or 1

// A phase of a schedule, with the nodes that its collective allows.
struct Forest {
  Rows trees;
  std::span<const Entry> roots;         // of each tree
  std::span<const std::int64_t> units;  // of each tree: its share as a count of equal parts, more than 0
  Marks may_be_root;
  Marks may_end;  // the nodes on which a route of a tree may start or end
  bool reduces;
};

// `Carried` is the type of what a route carries, in units. The shortest that fits saves memory for millions of routes.
template <class Carried>
class Examination {
 public:
  // `may_end` marks the nodes on which any route of the table may start or end.
  Examination(Marks is_compute, Marks takes_part, Marks may_end, std::span<const Entry> sources,
              std::span<const Entry> targets, Rows routes)
      : is_compute_(is_compute), takes_part_(takes_part), may_end_(may_end), loads_(sources, targets), routes_(routes),
        carried_(routes.size()), reached_(is_compute.size()), fed_(is_compute.size()) {
    if (takes_part.size() != nodes() || may_end.size() != nodes()) throw std::invalid_argument("marks of other nodes");
    for (std::size_t node = 0; node < nodes(); ++node) {
      members_ += takes_part[node];
      if (is_compute[node] && !takes_part[node]) idle_.push_back(node);
    }
  }

  // Whether the trees of `forest` keep the rules. Also adds up what each route carries.
  template <class Pulse>
  bool trees_hold(const Forest& forest, Pulse pulse) {
    const std::size_t count = forest.trees.size();
    if (forest.roots.size() != count || forest.units.size() != count) throw std::invalid_argument("trees differ");
    if (forest.may_be_root.size() != nodes() || forest.may_end.size() != nodes()) {
      throw std::invalid_argument("marks of other nodes");
    }
    for (std::size_t tree = 0; tree < count; ++tree) {
      pulse();
      if (!tree_holds(forest, tree)) return false;
    }
    return count > 0;
  }

  // Whether all routes of the table keep the rules. Also adds up the loads of links; it must come after all trees.
  template <class Pulse>
  bool routes_hold(Pulse pulse) {
    for (std::size_t route = 0; route < routes_.size(); ++route) {
      pulse();
      if (!route_holds(route)) return false;
    }
    return true;
  }

  // The load of each link, as a count of units.
  std::vector<std::int64_t> loads() const { return loads_.in_order(); }

 private:
  using Mark = std::uint32_t;

  bool tree_holds(const Forest& forest, std::size_t tree) {
    const Entry root = forest.roots[tree];
    if (!is_node(root) || !forest.may_be_root[place(root)]) return false;
    next_mark();
    reached_[place(root)] = mark_;
    std::size_t missing = members_ - takes_part_[place(root)];
    const auto listed = forest.trees[tree];
    for (std::size_t position = 0; position < listed.size(); ++position) {
      const Entry number = forest.reduces ? listed[listed.size() - 1 - position] : listed[position];
      if (number < 0 || place(number) >= routes_.size()) return false;
      const auto route = routes_[place(number)];
      if (route.size() < 2 || !is_node(route.front()) || !is_node(route.back())) return false;
      const std::size_t source = place(forest.reduces ? route.back() : route.front());
      const std::size_t target = place(forest.reduces ? route.front() : route.back());
      if (!forest.may_end[source] || !forest.may_end[target]) return false;
      if (reached_[source] != mark_ || std::exchange(reached_[target], mark_) == mark_) return false;
      fed_[source] = mark_;
      missing -= takes_part_[target];
      if (__builtin_add_overflow(carried_[place(number)], forest.units[tree], &carried_[place(number)])) return false;
    }
    return missing == 0 && (!forest.reduces || relays_have_data());
  }

  // Whether each idle node that sends in the tree at hand, which reduces, has received data.
  bool relays_have_data() const {
    for (const std::size_t node : idle_) {
      if (reached_[node] == mark_ && fed_[node] != mark_) return false;
    }
    return true;
  }

  bool route_holds(std::size_t number) {
    const auto route = routes_[number];
    if (route.size() < 2) return false;
    next_mark();
    for (std::size_t position = 0; position < route.size(); ++position) {
      const Entry node = route[position];
      if (!is_node(node) || std::exchange(reached_[place(node)], mark_) == mark_) return false;
      const bool is_end = position == 0 || position + 1 == route.size();
      if (is_end ? !may_end_[place(node)] : is_compute_[place(node)] != 0) return false;
      if (position > 0 && !loads_.add(route[position - 1], node, std::int64_t{carried_[number]})) return false;
    }
    return true;
  }

  // The marks are short, so that those of all nodes fit into a cache; they begin again after 2^32 trees and routes.
  void next_mark() {
    if (++mark_ != 0) return;
    std::fill(reached_.begin(), reached_.end(), 0);
    std::fill(fed_.begin(), fed_.end(), 0);
    mark_ = 1;
  }

  std::size_t nodes() const { return is_compute_.size(); }
  bool is_node(Entry number) const { return number >= 0 && place(number) < nodes(); }
  static std::size_t place(Entry number) { return static_cast<std::size_t>(number); }

  Marks is_compute_, takes_part_, may_end_;
  LinkLoads loads_;
  Rows routes_;
  std::size_t members_ = 0;
  std::vector<std::size_t> idle_;  // compute nodes that do not take part
  std::vector<Carried> carried_;   // by each route
  std::vector<Mark> reached_;      // the last tree or route that reached each node
  std::vector<Mark> fed_;          // the last tree in which a route, as it is read, started on each node
  Mark mark_ = 0;                  // the tree or route at hand
};

}  // namespace forestcoll::verify
