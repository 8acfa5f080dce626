// An all-to-all for networks whose linear program is too large: a nearly optimal flow, and lengths that nearly prove it
// (A.5 of "Efficient Direct-Connect Topologies"; the method is by Plotkin, Shmoys and Tardos).
//
// Each source has a few trees of shortest paths to all terminals. The flow is the mean of these trees; every tree
// carries one unit to each terminal. One source after the other replaces its oldest tree by a new one, along lengths
// that grow exponentially with the use of a link. The sum of these lengths falls, and the greatest use falls with it.
// The lengths, averaged over time, prove an upper bound on every flow.
//
// Lengths are floating-point guesses. The result consists of integers, from which both bounds follow exactly: how many
// units cross each arc if all sources use `trees` trees, and integer lengths.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bounds/results.h"
#include "flow/network.h"
#include "flow/observer.h"
#include "flow/quaternary_heap.h"
#include "generation/flat_lists.h"

namespace forestcoll {

// The distances from `source` by `lengths`, and the arc by which each node is reached: Dijkstra; nodes at equal
// distance are in the order of their numbers.
template <class Capacity, class Length>
class ShortestPaths {
 public:
  explicit ShortestPaths(const Network<Capacity>& network)
      : exits_(index(network.nodes())), distance_(index(network.nodes())), arc_to_(index(network.nodes())) {
    for (NodeIndex node = 0; node < network.nodes(); ++node) {
      for (const ArcIndex arc : network.out(node)) exits_.append(index(node), {arc, network.head(arc)});
    }
  }

  void run(NodeIndex source, const std::vector<Length>& lengths) {
    std::fill(arc_to_.begin(), arc_to_.end(), unreached);
    settled_.clear();
    distance_[index(source)] = 0;
    arc_to_[index(source)] = none;
    heap_.push({0, source});
    while (!heap_.empty()) {
      const auto [far, node] = heap_.pop();
      if (far > distance_[index(node)]) continue;  // a shorter path was found later; equal entries do not occur
      settled_.push_back(node);
      for (const auto [arc, next] : exits_[index(node)]) {
        const Length through = far + lengths[index(arc)];
        if (arc_to_[index(next)] != unreached && through >= distance_[index(next)]) continue;
        distance_[index(next)] = through;
        arc_to_[index(next)] = arc;
        heap_.push({through, next});
      }
    }
  }

  const std::vector<NodeIndex>& settled() const { return settled_; }  // the source first, then by distance
  Length distance(NodeIndex node) const {
    if (arc_to_[index(node)] == unreached) throw std::invalid_argument("some terminal cannot reach some other");
    return distance_[index(node)];
  }
  ArcIndex arc_to(NodeIndex node) const { return arc_to_[index(node)]; }

 private:
  static constexpr ArcIndex none = -1, unreached = -2;

  struct Exit {
    ArcIndex arc;
    NodeIndex head;
  };
  struct Visit {
    Length far;
    NodeIndex node;
    // Bitwise operators leave one branch to the heap, which the processor cannot predict.
    bool operator>(const Visit& other) const { return (far > other.far) | ((far == other.far) & (node > other.node)); }
  };

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  FlatLists<Exit> exits_;  // for a node, the arcs out of it
  std::vector<Length> distance_;
  std::vector<ArcIndex> arc_to_;
  std::vector<NodeIndex> settled_;
  QuaternaryHeap<Visit> heap_;
};

// The sum of the distances between all ordered pairs of terminals; exact, or an exception.
template <class Capacity>
Capacity sum_of_distances(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals,
                          const std::vector<Capacity>& lengths, Observer& observer) {
  if (lengths.size() != static_cast<std::size_t>(network.arcs())) {
    throw std::invalid_argument("lengths must have one entry per arc");
  }
  Capacity longest = 0;
  for (const Capacity length : lengths) {
    if (length < 0) throw std::invalid_argument("a length is negative");
    longest = checked_add(longest, length);
  }
  checked_add(longest, longest);  // no sum along a path overflows
  ShortestPaths<Capacity, Capacity> paths(network);
  Capacity sum = 0;
  std::int64_t done = 0;
  for (const NodeIndex source : terminals) {
    observer.advance(done++, static_cast<std::int64_t>(terminals.size()));
    paths.run(source, lengths);
    for (const NodeIndex target : terminals) sum = checked_add(sum, paths.distance(target));
  }
  return sum;
}

template <class Capacity>
class AllToAll {
 public:
  AllToAll(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals)
      : network_(network), terminals_(terminals), is_terminal_(index(network.nodes())), paths_(network),
        loads_(index(network.arcs())), lengths_(index(network.arcs())), mean_(index(network.arcs())),
        beyond_(index(network.nodes())) {
    for (const NodeIndex terminal : terminals) is_terminal_[index(terminal)] = true;
    double total = 0;
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      if (network.capacity(arc) <= 0) throw std::invalid_argument("a capacity must be greater than 0");
      total += static_cast<double>(network.capacity(arc));
    }
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      relative_.push_back(static_cast<double>(network.capacity(arc)) * network.arcs() / total);
      lengths_[index(arc)] = 1 / relative_.back();
    }
  }

  // Runs for at most `rounds` rounds, or until the bound is at most (1 + `gap`) times the result.
  AllToAllSpread run(std::int64_t rounds, double gap, Observer& observer) {
    if (rounds < 1) throw std::invalid_argument("rounds must be 1 or more");
    const std::size_t kept = trees_kept();
    trees_.assign(kept, std::vector<Tree>(terminals_.size()));
    // on a network that looks the same from every arc these lengths are optimal
    double bound = keep_if_best(std::vector<double>(mean_.size(), 1), observer);
    for (std::int64_t round = 0; round < rounds; ++round) {
      observer.advance(round, rounds);
      sharpness_ = 10 * std::pow(10, static_cast<double>(round) / static_cast<double>(rounds));
      replace_trees(trees_[static_cast<std::size_t>(round) % kept], round > 0, observer);
      keep_if_best(std::min<std::int64_t>(round + 1, static_cast<std::int64_t>(kept)));
      if (round + 1 < rounds && (round + 1) % 8 != 0) continue;
      bound = std::min(bound, keep_mean_if_best(observer));
      if (bound <= (1 + gap) * best_reached_) break;
    }
    return std::move(best_);
  }

 private:
  using Tree = std::vector<std::pair<ArcIndex, std::int32_t>>;  // arcs, and how many terminals lie beyond each

  static constexpr std::int64_t most_tree_arcs = std::int64_t{1} << 25;  // 256 MiB
  static constexpr std::size_t most_trees = 16;
  static constexpr double most_exponent = 300;  // no sum of lengths becomes infinite

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  std::size_t trees_kept() const {
    const auto of_one = static_cast<std::int64_t>(terminals_.size()) * network_.nodes();
    return std::clamp<std::size_t>(static_cast<std::size_t>(most_tree_arcs / std::max<std::int64_t>(of_one, 1)), 1,
                                   most_trees);
  }

  // How much of the capacity of an arc is used; 1 is the greatest use of any arc when the round began.
  double use(ArcIndex arc) const {
    return static_cast<double>(loads_[index(arc)]) / relative_[index(arc)] / greatest_use_;
  }
  void renew_length(ArcIndex arc) {
    const double exponent = std::min(sharpness_ * (use(arc) - 1), most_exponent);
    lengths_[index(arc)] = std::exp(exponent) / relative_[index(arc)];
  }

  // Gives every source a new tree, which replaces the one in `trees`.
  void replace_trees(std::vector<Tree>& trees, bool by_use, Observer& observer) {
    if (by_use) {
      greatest_use_ = greatest_use();
      for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) renew_length(arc);
    }
    for (std::size_t place = 0; place < terminals_.size(); ++place) {
      observer.pulse();
      Tree& tree = trees[place];
      change(tree, -1, by_use);
      paths_.run(terminals_[place], lengths_);
      tree = shortest_tree();
      change(tree, 1, by_use);
      if (by_use && place % 64 == 63) add_to_mean();
    }
    add_to_mean();
  }

  void change(const Tree& tree, std::int64_t sign, bool by_use) {
    for (const auto& [arc, units] : tree) loads_[index(arc)] += sign * units;
    if (!by_use) return;
    for (const auto& [arc, units] : tree) renew_length(arc);
  }

  Tree shortest_tree() {
    const auto& settled = paths_.settled();
    for (const NodeIndex node : settled) beyond_[index(node)] = is_terminal_[index(node)] ? 1 : 0;
    Tree tree;
    tree.reserve(settled.size());
    for (std::size_t place = settled.size(); place-- > 1;) {
      const NodeIndex node = settled[place];
      const ArcIndex arc = paths_.arc_to(node);
      const std::int32_t units = beyond_[index(node)];
      if (units == 0) continue;
      beyond_[index(network_.tail(arc))] += units;
      tree.push_back({arc, units});
    }
    return tree;
  }

  void add_to_mean() {
    double total = 0;
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) total += lengths_[index(arc)] * relative_[index(arc)];
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) mean_[index(arc)] += lengths_[index(arc)] / total;
  }

  double greatest_use() const {
    double greatest = 0;
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      greatest = std::max(greatest, static_cast<double>(loads_[index(arc)]) / relative_[index(arc)]);
    }
    return greatest;
  }

  // In units of a tree, for one unit of capacity.
  void keep_if_best(std::int64_t trees) {
    const double reached = static_cast<double>(trees) / greatest_use();
    if (reached <= best_reached_) return;
    best_reached_ = reached;
    best_.trees = trees;
    best_.loads = loads_;
  }

  // Returns, as integers, the bound that the mean of the lengths since the last call proves.
  double keep_mean_if_best(Observer& observer) {
    const double longest = *std::max_element(mean_.begin(), mean_.end());
    std::vector<double> whole(mean_.size());
    for (std::size_t arc = 0; arc < mean_.size(); ++arc) whole[arc] = std::round(mean_[arc] / longest * (1 << 28));
    std::fill(mean_.begin(), mean_.end(), 0);
    return keep_if_best(whole, observer);
  }

  // Returns the bound that `lengths` prove, if they prove one, and keeps them if it is the least so far.
  double keep_if_best(const std::vector<double>& lengths, Observer& observer) {
    double used = 0, apart = 0;
    for (std::size_t arc = 0; arc < lengths.size(); ++arc) used += lengths[arc] * relative_[arc];
    for (const NodeIndex source : terminals_) {
      observer.pulse();
      paths_.run(source, lengths);
      for (const NodeIndex target : terminals_) apart += paths_.distance(target);
    }
    if (apart == 0) return std::numeric_limits<double>::max();
    if (used / apart < best_bound_) {
      best_bound_ = used / apart;
      best_.lengths.assign(lengths.begin(), lengths.end());
    }
    return used / apart;
  }

  const Network<Capacity>& network_;
  const std::vector<NodeIndex>& terminals_;
  std::vector<bool> is_terminal_;
  ShortestPaths<Capacity, double> paths_;
  std::vector<double> relative_;  // capacities, their mean being 1
  std::vector<std::int64_t> loads_;
  std::vector<double> lengths_, mean_;
  std::vector<std::int32_t> beyond_;
  std::vector<std::vector<Tree>> trees_;  // by age, of each source
  double sharpness_ = 0, greatest_use_ = 1;
  double best_reached_ = 0, best_bound_ = std::numeric_limits<double>::max();
  AllToAllSpread best_;
};

}  // namespace forestcoll
