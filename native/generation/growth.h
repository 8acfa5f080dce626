// Grows spanning trees optimistically on the real network, including switches.
//
// A tree edge is a path of arcs with capacity left: from a node of the tree, through switches, to a node that the tree
// misses. All trees grow together, one level at a time, so that every root can use its own links before others do, and
// trees stay low. Growth does not prove that the remaining trees still fit. The tight sets make it likely, and a
// complete set of trees within the capacities is its own proof.
//
// Invariant: the capacity that paths of trees use and the capacity left add up to the capacity at the start.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "flow/network.h"
#include "flow/quaternary_heap.h"
#include "generation/arc_path_table.h"
#include "generation/depth_order.h"
#include "generation/flat_lists.h"
#include "generation/growing_tree.h"
#include "generation/orbits.h"
#include "generation/prices.h"
#include "generation/tight_sets.h"
#include "generation/useful_switches.h"

namespace forestcoll {

template <class Capacity>
class Growth {
 public:
  using Tree = GrowingTree<Capacity>;

  // With `orbits`, the arcs of an orbit share one capacity, which counts uses by base trees.
  Growth(Network<Capacity>& network, const std::vector<NodeIndex>& terminals, TightSets<Capacity>& sets,
         const Orbits* orbits = nullptr)
      : network_(network), sets_(sets), terminals_(terminals), paths_(network), is_terminal_(index(network.nodes())),
        settled_(index(network.nodes())), useful_(network, is_terminal_), exits_(index(network.nodes())),
        entrances_(index(network.nodes())), feeders_(index(network.arcs())), sendable_(index(network.nodes())),
        depth_order_(network.nodes()) {
    for (const NodeIndex terminal : terminals) is_terminal_[index(terminal)] = true;
    capacity_arc_.resize(index(network.arcs()));
    std::iota(capacity_arc_.begin(), capacity_arc_.end(), 0);
    sender_.resize(index(network.nodes()));
    std::iota(sender_.begin(), sender_.end(), 0);
    if (orbits != nullptr) {
      shared_ = true;
      capacity_arc_ = orbits->arcs;
      sender_ = orbits->first_nodes(network.nodes());
    }
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      if (sender(arc) == network.tail(arc)) sendable_[index(sender(arc))] += network.capacity(arc);
      prices_.add(network.capacity(arc));
    }
    for (const Capacity all : sendable_) sender_prices_.add(all);
    std::uint32_t arcs_in = 0;
    for (NodeIndex node = 0; node < network.nodes(); ++node) {
      entrances_[index(node)].first =
          std::exchange(arcs_in, arcs_in + static_cast<std::uint32_t>(network.in(node).size()));
      for (const ArcIndex arc : network.out(node)) {
        Exit exit{arc, 0, is_terminal(network.head(arc))};
        exit.head = static_cast<std::uint32_t>(network.head(arc));
        exits_.append(index(node), exit);
      }
    }
  }

  Tree plant(NodeIndex root, Capacity multiplicity) const {
    Tree tree;
    tree.root = root;
    tree.multiplicity = multiplicity;
    tree.missing = static_cast<NodeIndex>(terminals_.size()) - 1;
    tree.entry.resize(index(terminals_.back()) + 1);  // terminals ascend
    tree.within.resize(index(network_.nodes()));
    tree.within.set(root);
    tree.pays.resize(index(sets_.size()));
    for (SetIndex set = 0; set < sets_.size(); ++set) {
      if (sets_.contains(set, root)) tree.pays.set(set);
    }
    tree.frontier = {root};
    return tree;
  }

  // How a level may grow: `spend` allows trees to pay slack, `enough` is the least multiplicity that a path must carry,
  // and at most `most` nodes are added.
  struct Rules {
    bool spend;
    Capacity enough;
    NodeIndex most = std::numeric_limits<NodeIndex>::max();
  };

  // Adds the nodes that can be reached from the frontier by one edge; they become the next frontier. If a path carries
  // less than the multiplicity of the tree, the tree splits: `split` takes the copies that stay behind.
  template <class Split>
  bool extend(Tree& tree, Rules rules, Split split) {
    find_ways(tree, rules);
    std::sort(targets_.begin(), targets_.end());
    next_frontier_.clear();
    for (const Target& target : targets_) {
      if (tree.complete() || static_cast<NodeIndex>(next_frontier_.size()) >= rules.most) break;
      const ArcIndex arc = target.arc;
      if (is_cut_off(network_.tail(arc)) || tree.reaches(network_.head(arc))) continue;
      if (!open(tree, arc, rules)) continue;
      if (find_way(tree, arc, rules)) attach(tree, rules, split);
    }
    tree.frontier.swap(next_frontier_);
    tree.height += !tree.frontier.empty();
    return !tree.frontier.empty();
  }

  // Adds `target` by a path with as few arcs as possible, searched backwards from it. This is slower than `extend`, but
  // finds every path whose arcs are all allowed.
  template <class Split>
  bool reach(Tree& tree, NodeIndex target, Rules rules, Split split) {
    ++round_;
    next_frontier_.clear();
    walk_.assign(1, {target, -1, 0});
    settled_[index(target)] = round_;
    for (std::size_t next = 0; next < walk_.size() && !tree.reaches(target); ++next) {
      for (const ArcIndex arc : network_.in(walk_[next].node)) {
        const NodeIndex tail = network_.tail(arc);
        if (settled(tail) || (is_terminal(tail) && !tree.reaches(tail)) || !allows(tree, arc, target, rules)) continue;
        if (!is_terminal(tail)) {
          settled_[index(tail)] = round_;
          walk_.push_back({tail, arc, next});
          continue;
        }
        path_.assign(1, arc);
        for (std::size_t step = next; walk_[step].arc >= 0; step = walk_[step].back) path_.push_back(walk_[step].arc);
        attach(tree, rules, split);
        if (tree.reaches(target)) break;
      }
    }
    return tree.reaches(target);
  }

  // All nodes of the tree, those near the root first: a complete frontier.
  void widen_frontier(Tree& tree) {
    tree.frontier = by_depth(tree);
    tree.height = depth_order_.height();
  }

  // Makes `height` of the tree exact. Returns whether it was greater.
  bool measure(Tree& tree) {
    by_depth(tree);
    return std::exchange(tree.height, depth_order_.height()) > depth_order_.height();
  }

  // The nodes of the tree by their distance from the root in tree edges; those at equal distance are in rising order.
  std::vector<NodeIndex> by_depth(const Tree& tree) {
    std::vector<NodeIndex> order{tree.root};
    for (const NodeIndex node : terminals_) {
      if (node != tree.root && tree.reaches(node)) order.push_back(node);
    }
    return depth_order_(tree.root, order, [&](NodeIndex node) { return parent(tree, node); });
  }

  // Removes the node from the tree; the nodes reached through it must be removed too.
  void cut_off(Tree& tree, NodeIndex node) {
    release(tree.entry[index(node)], tree.multiplicity);
    tree.remove(node);
  }

  // Computes the slack of the tight sets, and which trees pay for an entry, from the present trees.
  void recompute_sets(const std::vector<Tree*>& incomplete) {
    sets_.count_arcs();
    for (SetIndex set = 0; set < sets_.size(); ++set) count_trees(set, incomplete);
  }

  // Subtracts the present trees from the slack of the set, which contains no tree yet.
  void count_trees(SetIndex set, const std::vector<Tree*>& incomplete) {
    for (Tree* tree : incomplete) {
      tree->pays.resize(index(sets_.size()));
      const bool touched = std::any_of(terminals_.begin(), terminals_.end(), [&](NodeIndex node) {
        return sets_.contains(set, node) && tree->reaches(node);
      });
      if (touched) {
        tree->pays.set(set);
      } else {
        tree->pays.clear(set);
        sets_.pay(set, tree->multiplicity);
      }
    }
  }

  // Returns all capacity that the tree uses.
  void uproot(const Tree& tree) {
    for (const NodeIndex node : terminals_) {
      if (node != tree.root && tree.reaches(node)) release(tree.entry[index(node)], tree.multiplicity);
    }
  }

  // Undoes `uproot`, if nothing else was used in between.
  void replant(const Tree& tree) {
    for (const NodeIndex node : terminals_) {
      if (node == tree.root || !tree.reaches(node)) continue;
      path_.clear();
      paths_.for_each_arc(tree.entry[index(node)], [&](ArcIndex arc) { path_.push_back(arc); });
      if (!occupy(path_, tree.multiplicity))
        throw std::logic_error("a tree does not fit into the capacity that it used");
    }
  }

  void release(ArcPath path, Capacity multiplicity) {
    paths_.for_each_arc(path, [&](ArcIndex arc) { change(arc, multiplicity); });
  }

  // Takes the path out of the capacities and ignores tight sets; returns false, and does nothing, if it does not fit.
  bool occupy(std::span<const ArcIndex> path, Capacity multiplicity) {
    for (std::size_t step = 0; step < path.size(); ++step) {
      if (left(path[step]) < multiplicity) {
        while (step-- > 0) change(path[step], multiplicity);
        return false;
      }
      change(path[step], -multiplicity);
    }
    return true;
  }

  NodeIndex parent(const Tree& tree, NodeIndex node) const { return paths_.from(tree.entry[index(node)]); }

  // The capacity of the arc before any tree was grown.
  Capacity full(ArcIndex arc) const { return prices_.full(index(arc)); }
  bool is_terminal(NodeIndex node) const { return is_terminal_[index(node)]; }
  ArcPathTable& paths() { return paths_; }
  const ArcPathTable& paths() const { return paths_; }
  const Network<Capacity>& network() const { return network_; }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  static constexpr ArcIndex kNoArc = -1;

  // Returns whether this arc alone permits the tree to use it.
  bool open(const Tree& tree, ArcIndex arc, Rules rules) const {
    if (left(arc) < rules.enough) return false;
    for (const SetIndex set : sets_.entered(arc)) {
      if (tree.pays[set] && sets_.spare(set, rules.spend) < rules.enough) return false;
    }
    return true;
  }

  // Returns whether this arc alone permits the tree to use it on its way to `target`.
  bool allows(const Tree& tree, ArcIndex arc, NodeIndex target, Rules rules) const {
    if (left(arc) < rules.enough) return false;
    for (const SetIndex set : sets_.entered(arc)) {
      if (costs(tree, set, target) && sets_.spare(set, rules.spend) < rules.enough) return false;
    }
    return true;
  }

  Cost cost(ArcIndex arc) const { return kHop + prices_[index(capacity_arc(arc))]; }

  // What is left of the arc's capacity.
  Capacity left(ArcIndex arc) const { return network_.capacity(capacity_arc(arc)); }
  ArcIndex capacity_arc(ArcIndex arc) const { return shared_ ? capacity_arc_[index(arc)] : arc; }
  NodeIndex sender(ArcIndex arc) const { return sender_[index(network_.tail(arc))]; }

  void change(ArcIndex arc, Capacity amount) {
    const ArcIndex used = capacity_arc(arc);
    network_.add_capacity(used, amount);
    if (amount > 0 || !prices_.holds(index(used), network_.capacity(used))) {
      prices_.update(index(used), network_.capacity(used));
      entrances_[index(network_.head(arc))].choice = kNoArc;
    }
    if (is_terminal(sender(arc))) send(index(sender(arc)), -amount);
  }

  // Takes the amount out of what the compute node can send.
  void send(std::size_t from, Capacity amount) {
    sendable_[from] -= amount;
    if (amount < 0 || !sender_prices_.holds(from, sendable_[from])) sender_prices_.update(from, sendable_[from]);
  }

  // Searches from the frontier through switches, cheapest first (Dijkstra), and records the compute nodes on the way.
  void find_ways(const Tree& tree, Rules rules) {
    ++round_;
    targets_.clear();
    // If fewer nodes are missing, this takes less time than a search over all switches.
    prunes_ = static_cast<NodeIndex>(tree.frontier.size()) > tree.missing;
    if (prunes_) useful_.mark(tree, terminals_);
    for (const NodeIndex node : tree.frontier) leave(tree, node, 0, rules);
    while (!open_.empty()) {
      const Visit visit = open_.pop();
      if (settled(visit.node)) continue;
      settled_[index(visit.node)] = round_;
      leave(tree, visit.node, visit.cost, rules);
    }
  }

  void leave(const Tree& tree, NodeIndex node, Cost so_far, Rules rules) {
    const std::span<const Exit> out = exits_[index(node)];
    if (out.empty()) return;
    const std::size_t first = index(tree.root) % out.size();  // the place of the arc that is tried first
    for (std::size_t place = 0; place < out.size(); ++place) {
      const ArcIndex arc = out[place].arc;
      const auto head = static_cast<NodeIndex>(out[place].head);
      if (out[place].leads_to_terminal) {
        if (tree.reaches(head) || !open(tree, arc, rules)) continue;
        const std::size_t turn = place >= first ? place - first : place + out.size() - first;
        const Cost whole = so_far + cost(arc) + sender_prices_[index(sender_[index(head)])];
        targets_.push_back({whole, static_cast<std::uint32_t>(turn), arc});
      } else if (!settled(head) && (!prunes_ || useful_.contains(head)) && open(tree, arc, rules)) {
        feed(head, arc, so_far + cost(arc));
      }
    }
  }

  bool settled(NodeIndex node) const { return settled_[index(node)] == round_; }

  // Records that the switch can be entered over `arc`, at the cost `reached`.
  void feed(NodeIndex node, ArcIndex arc, Cost reached) {
    Entrance& entrance = entrances_[index(node)];
    if (entrance.met != round_) {
      entrance.met = round_;
      entrance.feeders = 0;
      entrance.choice = kNoArc;
      entrance.distance = reached + 1;
    }
    feeders_[entrance.first + entrance.feeders++] = arc;
    if (reached < entrance.distance) {
      entrance.distance = reached;
      open_.push({reached, node});
    }
  }

  // Whether the node is a switch that can no longer be entered.
  bool is_cut_off(NodeIndex node) const { return !is_terminal(node) && entrances_[index(node)].feeders == 0; }

  // Finds a path from the frontier that ends in `last`, and stores it in `path_`.
  bool find_way(const Tree& tree, ArcIndex last, Rules rules) {
    NodeIndex node = network_.tail(last);
    path_.assign(1, last);
    while (!is_terminal(node)) {
      const ArcIndex next = next_feeder(tree, node, rules);
      if (next != kNoArc) {
        path_.push_back(next);
        node = network_.tail(next);
      } else if (path_.size() == 1) {
        return false;
      } else {  // the switch cannot be entered any more, so another way to it is needed
        entrances_[index(network_.head(path_.back()))].choice = kNoArc;
        path_.resize(1);
        node = network_.tail(last);
      }
    }
    std::reverse(path_.begin(), path_.end());
    return true;
  }

  // The cheapest arc, by present use, over which the switch can still be entered, or kNoArc.
  ArcIndex next_feeder(const Tree& tree, NodeIndex node, Rules rules) {
    ArcIndex& choice = entrances_[index(node)].choice;
    if (choice == kNoArc || shared_ || !open(tree, choice, rules)) choice = cheapest_feeder(tree, node, rules);
    return choice;
  }

  // Also removes the arcs over which the switch cannot be entered any more.
  ArcIndex cheapest_feeder(const Tree& tree, NodeIndex node, Rules rules) {
    Entrance& entrance = entrances_[index(node)];
    ArcIndex* const feeders = feeders_.data() + entrance.first;
    ArcIndex best = kNoArc;
    Cost least = 0;
    for (std::uint32_t place = 0; place < entrance.feeders;) {
      const ArcIndex arc = feeders[place];
      const NodeIndex tail = network_.tail(arc);
      if (!open(tree, arc, rules) || is_cut_off(tail)) {
        feeders[place] = feeders[--entrance.feeders];
        continue;
      }
      const Cost reached = (is_terminal(tail) ? 0 : entrances_[index(tail)].distance) + cost(arc);
      if (best == kNoArc || reached < least) {
        best = arc;
        least = reached;
      }
      ++place;
    }
    return best;
  }

  // To enter a set costs nothing for a tree that was not in it, on its way to a node in it; to pass through costs
  // slack.
  bool costs(const Tree& tree, SetIndex set, NodeIndex target) const {
    return tree.pays[set] || !sets_.contains(set, target);
  }

  // Adds the node at the end of `path_`, if the whole path is available.
  template <class Split>
  void attach(Tree& tree, Rules rules, Split split) {
    const NodeIndex head = network_.head(path_.back());
    const Capacity carried = list_entries(tree, head, rules);
    if (carried < rules.enough) return;
    const Capacity whole = std::exchange(tree.multiplicity, carried);
    Tree rest;
    if (carried < whole) rest = tree;
    if (!pay_sets(tree, rules)) {
      tree.multiplicity = whole;
      return;
    }
    if (carried < whole) {
      rest.multiplicity = whole - carried;
      split(std::move(rest));
    }
    for (const ArcIndex arc : path_) change(arc, -tree.multiplicity);
    tree.add(head, paths_.add(path_));
    next_frontier_.push_back(head);
  }

  // Stores the entries of `path_` into sets in `entries_`, and returns how many copies of the tree can use the path.
  Capacity list_entries(const Tree& tree, NodeIndex head, Rules rules) {
    Capacity carried = tree.multiplicity;
    entries_.clear();
    for (const ArcIndex arc : path_) {
      carried = std::min(carried, shared_ ? left(arc) / uses(arc) : left(arc));
      for (const SetIndex set : sets_.entered(arc)) {
        const bool cost = costs(tree, set, head);
        if (cost) carried = std::min(carried, sets_.spare(set, rules.spend));
        entries_.push_back({set, cost});
      }
    }
    return carried;
  }

  // How often `path_` uses the capacity of the arc, if arcs share it.
  Capacity uses(ArcIndex arc) const {
    return std::count_if(path_.begin(), path_.end(),
                         [&](ArcIndex other) { return capacity_arc(other) == capacity_arc(arc); });
  }

  // Pays for all entries of `path_`, or for none: the path may enter a set more than once, and sets may share slack.
  bool pay_sets(Tree& tree, Rules rules) {
    for (std::size_t place = 0; place < entries_.size(); ++place) {
      Entry& entry = entries_[place];
      entry.cost = entry.cost || tree.pays[entry.set];
      if (!entry.cost) {
        tree.pays.set(entry.set);
      } else if (sets_.spare(entry.set, rules.spend) >= tree.multiplicity) {
        sets_.pay(entry.set, tree.multiplicity);
      } else {
        entries_.resize(place);
        pay_back(tree);
        return false;
      }
    }
    return true;
  }

  void pay_back(Tree& tree) {
    for (const auto& [set, cost] : entries_) {
      if (cost) {
        sets_.pay(set, -tree.multiplicity);
      } else {
        tree.pays.clear(set);
      }
    }
  }

  Network<Capacity>& network_;
  TightSets<Capacity>& sets_;
  const std::vector<NodeIndex>& terminals_;
  ArcPathTable paths_;
  std::vector<char> is_terminal_;
  std::vector<std::uint32_t> settled_;  // for a node, the last round in which it was settled
  std::uint32_t round_ = 0;
  bool prunes_ = false;  // whether the search of this round enters only useful switches
  UsefulSwitches<Capacity> useful_;
  struct Exit {
    ArcIndex arc;
    std::uint32_t head : 31, leads_to_terminal : 1;  // 8 bytes in all: the search reads all exits for each tree
  };
  FlatLists<Exit> exits_;  // for a node, the arcs out of it
  // How the search of a round enters a switch.
  struct Entrance {
    Cost distance = 0;
    std::uint32_t first = 0, feeders = 0;  // the place of the first of its feeders, and how many there are
    std::uint32_t met = 0;                 // the last round in which the search met it
    ArcIndex choice = kNoArc;              // the cheapest feeder while no price of them changes
  };
  std::vector<Entrance> entrances_;     // for each node
  std::vector<ArcIndex> feeders_;       // for each switch, the arcs into it from nodes settled before it
  bool shared_ = false;                 // whether arcs share capacities
  std::vector<ArcIndex> capacity_arc_;  // for an arc, the arc of its orbit whose capacity it uses
  std::vector<NodeIndex> sender_;       // for a node, the node that its sending is counted with
  Prices<Capacity> prices_;             // of the capacities of arcs
  std::vector<Capacity> sendable_;      // for a compute node, what is left of all arcs out of it
  Prices<Capacity> sender_prices_;      // of `sendable_`, paid by paths to the node
  struct Visit {
    Cost cost;
    NodeIndex node;
    bool operator>(const Visit& other) const {
      return (cost > other.cost) | ((cost == other.cost) & (node > other.node));
    }
  };
  QuaternaryHeap<Visit> open_;
  struct Target {
    Cost cost;
    std::uint32_t turn;  // trees from different roots begin with different ones of equally good targets
    ArcIndex arc;
    // Bitwise operators leave one branch to the sort, which the processor cannot predict.
    bool operator<(const Target& other) const {
      return (cost < other.cost) | ((cost == other.cost) & (turn < other.turn));
    }
  };
  std::vector<Target> targets_;
  struct BackStep {
    NodeIndex node;
    ArcIndex arc;
    std::size_t back;
  };
  std::vector<BackStep> walk_;
  std::vector<NodeIndex> next_frontier_;
  DepthOrder depth_order_;
  std::vector<ArcIndex> path_;
  struct Entry {
    SetIndex set;
    bool cost;
  };
  std::vector<Entry> entries_;
};

}  // namespace forestcoll
