// Growing spanning trees optimistically on the network as it is, switches included.
//
// A tree edge is a path of arcs with capacity left from a node of the tree, through switches, to a node that it misses.
// All trees grow together, a level at a time, so that every root has its own links to itself before others use them and
// trees stay low. Nothing proves along the way that the trees to come still fit; the tight sets make it likely, and a
// complete set of trees within the capacities is its own proof.
//
// Invariant: what the trees' paths use and the capacities left add up to the capacities at the start.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "flow/network.h"
#include "generate/growing_tree.h"
#include "generate/orbits.h"
#include "generate/prices.h"
#include "generate/tight_sets.h"
#include "generate/way_table.h"

namespace forestcoll {

template <class Capacity>
class Growth {
 public:
  using Tree = GrowingTree<Capacity>;

  // With `orbits`, the arcs of an orbit share one capacity, which counts uses by base trees.
  Growth(Network<Capacity>& network, const std::vector<NodeIndex>& terminals, TightSets<Capacity>& sets,
         const Orbits* orbits = nullptr)
      : network_(network), sets_(sets), terminals_(terminals), paths_(network.nodes()),
        is_terminal_(index(network.nodes())), stamp_(index(network.nodes())), settled_(index(network.nodes())),
        distance_(index(network.nodes())), feeders_(index(network.nodes())), cost_(index(network.arcs())),
        sent_(index(network.nodes())), sendable_(index(network.nodes())) {
    for (const NodeIndex terminal : terminals) is_terminal_[index(terminal)] = true;
    purse_.resize(index(network.arcs()));
    std::iota(purse_.begin(), purse_.end(), 0);
    sender_.resize(index(network.nodes()));
    std::iota(sender_.begin(), sender_.end(), 0);
    if (orbits != nullptr) {
      shared_ = true;
      purse_ = orbits->arcs;
      sender_ = orbits->first_nodes(network.nodes());
    }
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      full_.push_back(network.capacity(arc));
      if (sender(arc) == network.tail(arc)) sendable_[index(sender(arc))] += network.capacity(arc);
      update_cost(arc);
    }
    sender_price_.assign(index(network.nodes()), price<Capacity>(0, 1));
  }

  Tree plant(NodeIndex root, Capacity multiplicity) const {
    Tree tree;
    tree.root = root;
    tree.multiplicity = multiplicity;
    tree.missing = static_cast<NodeIndex>(terminals_.size()) - 1;
    tree.entry.assign(index(network_.nodes()), Tree::kUnreached);
    tree.paid.assign((index(sets_.size()) + 63) / 64, 0);
    for (SetIndex set = 0; set < sets_.size(); ++set) {
      if (sets_.contains(set, root)) close(tree, set);
    }
    tree.frontier = {root};
    return tree;
  }

  // How a level may grow: `spend` lets trees pay slack, `enough` is the least multiplicity that a path must carry, and
  // no more than `most` nodes are added.
  struct Rules {
    bool spend;
    Capacity enough;
    NodeIndex most = std::numeric_limits<NodeIndex>::max();
  };

  // Adds what can be reached from the frontier in one edge, and makes that the next frontier. If a path carries less
  // than the tree's multiplicity, the tree splits: `split(tree, carried)` makes the copy that stays behind.
  template <class Split>
  bool extend(Tree& tree, Rules rules, Split split) {
    find_ways(tree, rules);
    std::sort(targets_.begin(), targets_.end(), [&](const Target& one, const Target& other) {
      return std::tie(one.cost, one.turn) < std::tie(other.cost, other.turn);
    });
    next_frontier_.clear();
    for (const Target& target : targets_) {
      if (tree.complete() || static_cast<NodeIndex>(next_frontier_.size()) >= rules.most) break;
      if (tree.reaches(network_.head(target.arc)) || !open(tree, target.arc, rules)) continue;
      if (find_way(tree, target.arc, rules)) attach(tree, rules, split);
    }
    tree.frontier.swap(next_frontier_);
    return !tree.frontier.empty();
  }

  // Adds `target` by a path with as few arcs as possible, searched for backwards from it: slower than `extend`, but
  // it overlooks no path that is allowed arc by arc.
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

  // All nodes of the tree, those near the root first: a frontier from which nothing is overlooked.
  void widen_frontier(Tree& tree) { tree.frontier = by_depth(tree); }

  // The nodes of the tree in the order of their distance from the root, in tree edges; equal ones in rising order.
  std::vector<NodeIndex> by_depth(const Tree& tree) {
    std::vector<NodeIndex> order{tree.root};
    for (const NodeIndex node : terminals_) {
      if (node != tree.root && tree.reaches(node)) order.push_back(node);
    }
    node_depth_.assign(index(network_.nodes()), -1);
    node_depth_[index(tree.root)] = 0;
    depth_starts_.assign(1, 0);
    for (const NodeIndex node : order) {
      find_depth(tree, node);
      const std::size_t depth = index(node_depth_[index(node)]);
      if (depth_starts_.size() < depth + 2) depth_starts_.resize(depth + 2);
      ++depth_starts_[depth + 1];
    }
    std::partial_sum(depth_starts_.begin(), depth_starts_.end(), depth_starts_.begin());
    std::vector<NodeIndex> sorted(order.size());
    for (const NodeIndex node : order) sorted[depth_starts_[index(node_depth_[index(node)])]++] = node;
    return sorted;
  }

  // The path by which the tree reaches a node other than its root.
  std::span<const ArcIndex> path_to(const Tree& tree, NodeIndex node) const { return paths_[tree.entry[index(node)]]; }

  // Does the tree reach nothing through the node?
  bool is_leaf(const Tree& tree, NodeIndex node) const {
    return std::none_of(terminals_.begin(), terminals_.end(), [&](NodeIndex other) {
      return other != tree.root && tree.reaches(other) && parent(tree, other) == node;
    });
  }

  // The node, and all nodes that the tree reaches through it.
  std::vector<NodeIndex> branch(const Tree& tree, NodeIndex node) {
    std::vector<NodeIndex> nodes;
    std::vector<char> known(index(network_.nodes()));  // 1: in the branch, 2: not
    known[index(node)] = 1;
    known[index(tree.root)] = 2;
    for (const NodeIndex each : terminals_) {
      if (!tree.reaches(each)) continue;
      way_up_.clear();
      NodeIndex next = each;
      for (; known[index(next)] == 0; next = parent(tree, next)) way_up_.push_back(next);
      for (const NodeIndex passed : way_up_) known[index(passed)] = known[index(next)];
      if (known[index(each)] == 1) nodes.push_back(each);
    }
    return nodes;
  }

  // The tree reaches the node no longer; what it reached through it must be cut off too.
  void cut_off(Tree& tree, NodeIndex node) {
    release(tree.entry[index(node)], tree.multiplicity);
    tree.entry[index(node)] = Tree::kUnreached;
    ++tree.missing;
  }

  // Computes anew what the tight sets have left and which trees pay for an entry, from the trees as they are now.
  void recompute_sets(const std::vector<Tree*>& incomplete) {
    sets_.count_arcs();
    for (SetIndex set = 0; set < sets_.size(); ++set) count_trees(set, incomplete);
  }

  // Counts the trees in what the set, of which nothing is paid yet, has left.
  void count_trees(SetIndex set, const std::vector<Tree*>& incomplete) {
    for (Tree* tree : incomplete) {
      tree->paid.resize((index(sets_.size()) + 63) / 64, 0);
      const bool touched = std::any_of(terminals_.begin(), terminals_.end(), [&](NodeIndex node) {
        return sets_.contains(set, node) && tree->reaches(node);
      });
      if (touched) {
        close(*tree, set);
      } else {
        reopen(*tree, set);
        sets_.pay(set, tree->multiplicity);
      }
    }
  }

  // Gives back all that the tree uses.
  void uproot(const Tree& tree) {
    for (const NodeIndex node : terminals_) {
      if (node != tree.root && tree.reaches(node)) release(tree.entry[index(node)], tree.multiplicity);
    }
  }

  // Takes back what `uproot` gave, as nothing else was used meanwhile.
  void replant(const Tree& tree) {
    for (const NodeIndex node : terminals_) {
      if (node == tree.root || !tree.reaches(node)) continue;
      if (!occupy(path_to(tree, node), tree.multiplicity)) throw std::logic_error("a tree does not fit where it stood");
    }
  }

  void release(PathNumber path, Capacity multiplicity) {
    for (const ArcIndex arc : paths_[path]) change(arc, multiplicity);
  }

  // Takes the path out of the capacities without looking at tight sets; false, and nothing done, if it does not fit.
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

  NodeIndex parent(const Tree& tree, NodeIndex node) const {
    return network_.tail(paths_[tree.entry[index(node)]].front());
  }

  // The arc's capacity before any tree was grown.
  Capacity full(ArcIndex arc) const { return full_[index(arc)]; }
  bool is_terminal(NodeIndex node) const { return is_terminal_[index(node)]; }
  // The number of a path that is not empty.
  PathNumber number(std::span<const ArcIndex> path) {
    return paths_.add(network_.tail(path.front()), network_.head(path.back()), path);
  }
  const WayTable& paths() const { return paths_; }
  const Network<Capacity>& network() const { return network_; }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  static void close(Tree& tree, SetIndex set) { tree.paid[index(set) / 64] |= std::uint64_t{1} << (set % 64); }
  static void reopen(Tree& tree, SetIndex set) { tree.paid[index(set) / 64] &= ~(std::uint64_t{1} << (set % 64)); }
  static bool pays(const Tree& tree, SetIndex set) { return ((tree.paid[index(set) / 64] >> (set % 64)) & 1) != 0; }

  // May the tree use the arc as far as this arc alone tells?
  bool open(const Tree& tree, ArcIndex arc, Rules rules) const {
    if (left(arc) < rules.enough) return false;
    for (const SetIndex set : sets_.entered(arc)) {
      if (pays(tree, set) && sets_.spare(set, rules.spend) < rules.enough) return false;
    }
    return true;
  }

  // May the tree use the arc on its way to `target`, as far as this arc alone tells?
  bool allows(const Tree& tree, ArcIndex arc, NodeIndex target, Rules rules) const {
    if (left(arc) < rules.enough) return false;
    for (const SetIndex set : sets_.entered(arc)) {
      if (costs(tree, set, target) && sets_.spare(set, rules.spend) < rules.enough) return false;
    }
    return true;
  }

  Cost cost(ArcIndex arc) const { return cost_[index(purse(arc))]; }

  // What is left of the arc's capacity.
  Capacity left(ArcIndex arc) const { return network_.capacity(purse(arc)); }
  ArcIndex purse(ArcIndex arc) const { return purse_[index(arc)]; }
  NodeIndex sender(ArcIndex arc) const { return sender_[index(network_.tail(arc))]; }

  void update_cost(ArcIndex arc) {
    const Capacity full = full_[index(arc)];
    cost_[index(arc)] = kHop + price(full - network_.capacity(arc), full);
  }

  void change(ArcIndex arc, Capacity amount) {
    network_.add_capacity(purse(arc), amount);
    update_cost(purse(arc));
    const std::size_t from = index(sender(arc));
    sent_[from] -= amount;
    if (is_terminal_[from]) sender_price_[from] = price(sent_[from], sendable_[from]);
  }

  // Walks from the frontier through switches, cheapest first (Dijkstra), and notes the compute nodes met on the way.
  void find_ways(const Tree& tree, Rules rules) {
    ++round_;
    targets_.clear();
    for (const NodeIndex node : tree.frontier) leave(tree, node, 0, rules);
    while (!open_.empty()) {
      const Visit visit = open_.top();
      open_.pop();
      if (settled(visit.node)) continue;
      settled_[index(visit.node)] = round_;
      leave(tree, visit.node, visit.cost, rules);
    }
  }

  void leave(const Tree& tree, NodeIndex node, Cost so_far, Rules rules) {
    const auto& out = network_.out(node);
    if (out.empty()) return;
    const std::size_t first = index(tree.root) % out.size();  // the place whose turn comes first
    for (std::size_t place = 0; place < out.size(); ++place) {
      const ArcIndex arc = out[place];
      const NodeIndex head = network_.head(arc);
      if (is_terminal(head)) {
        if (tree.reaches(head) || !open(tree, arc, rules)) continue;
        const std::size_t turn = place >= first ? place - first : place + out.size() - first;
        targets_.push_back({so_far + cost(arc) + sender_price_[index(sender_[index(head)])], turn, arc});
      } else if (!settled(head) && open(tree, arc, rules)) {
        feed(head, arc, so_far + cost(arc));
      }
    }
  }

  bool settled(NodeIndex node) const { return settled_[index(node)] == round_; }

  // The switch can be entered over `arc`, at the cost `reached`.
  void feed(NodeIndex node, ArcIndex arc, Cost reached) {
    Cost& best = distance_[index(node)];
    if (stamp_[index(node)] != round_) {
      stamp_[index(node)] = round_;
      feeders_[index(node)].clear();
      best = reached + 1;
    }
    feeders_[index(node)].push_back(arc);
    if (reached < best) {
      best = reached;
      open_.push({reached, node});
    }
  }

  // Finds a path from the frontier that ends in `last`, in `path_`.
  bool find_way(const Tree& tree, ArcIndex last, Rules rules) {
    path_.assign(1, last);
    if (is_terminal(network_.tail(last))) return true;
    while (!feeders_[index(network_.tail(last))].empty()) {
      path_.assign(1, last);
      while (!is_terminal(network_.tail(path_.back()))) {
        const ArcIndex arc = next_feeder(tree, network_.tail(path_.back()), rules);
        if (arc < 0) break;
        path_.push_back(arc);
      }
      if (is_terminal(network_.tail(path_.back()))) {
        std::reverse(path_.begin(), path_.end());
        return true;
      }
    }
    return false;
  }

  // The cheapest arc, by what is used now, over which the switch can still be entered; drops those over which it
  // cannot.
  ArcIndex next_feeder(const Tree& tree, NodeIndex node, Rules rules) {
    auto& feeders = feeders_[index(node)];
    ArcIndex best = -1;
    Cost least = 0;
    for (std::size_t place = 0; place < feeders.size();) {
      const ArcIndex arc = feeders[place];
      const NodeIndex tail = network_.tail(arc);
      if (!open(tree, arc, rules) || (!is_terminal(tail) && feeders_[index(tail)].empty())) {
        feeders[place] = feeders.back();
        feeders.pop_back();
        continue;
      }
      const Cost reached = (is_terminal(tail) ? 0 : distance_[index(tail)]) + cost(arc);
      if (best < 0 || reached < least) {
        best = arc;
        least = reached;
      }
      ++place;
    }
    return best;
  }

  // Entering a set is free for a tree that was not in it, on its way to a node in it; in passing it costs slack.
  bool costs(const Tree& tree, SetIndex set, NodeIndex target) const {
    return pays(tree, set) || !sets_.contains(set, target);
  }

  // Adds the node at the end of `path_`, if all of the path can be had.
  template <class Split>
  void attach(Tree& tree, Rules rules, Split split) {
    Capacity carried = tree.multiplicity;
    for (const ArcIndex arc : path_) {
      carried = std::min(carried, left(arc) / uses(arc));
      for (const SetIndex set : sets_.entered(arc)) {
        if (costs(tree, set, network_.head(path_.back()))) carried = std::min(carried, sets_.spare(set, rules.spend));
      }
    }
    if (carried < rules.enough) return;
    if (carried < tree.multiplicity) split(tree, carried);
    if (!pay_sets(tree, rules)) return;
    for (const ArcIndex arc : path_) change(arc, -tree.multiplicity);
    const NodeIndex head = network_.head(path_.back());
    tree.entry[index(head)] = number(path_);
    --tree.missing;
    next_frontier_.push_back(head);
  }

  // How often `path_` uses the capacity that the arc uses: once, unless arcs share it.
  Capacity uses(ArcIndex arc) const {
    if (!shared_) return 1;
    return std::count_if(path_.begin(), path_.end(), [&](ArcIndex other) { return purse(other) == purse(arc); });
  }

  // A path may enter a set more than once: pays one entry after the other, or nothing.
  bool pay_sets(Tree& tree, Rules rules) {
    entries_.clear();
    for (const ArcIndex arc : path_) {
      for (const SetIndex set : sets_.entered(arc)) {
        const bool paying = costs(tree, set, network_.head(path_.back()));
        if (paying && sets_.spare(set, rules.spend) < tree.multiplicity) {
          for (const auto& [undone, cost] : entries_) {
            if (cost) {
              sets_.pay(undone, -tree.multiplicity);
            } else {
              reopen(tree, undone);
            }
          }
          return false;
        }
        if (paying) {
          sets_.pay(set, tree.multiplicity);
        } else {
          close(tree, set);
        }
        entries_.push_back({set, paying});
      }
    }
    return true;
  }

  // Depth by way of the parents, without recursion.
  void find_depth(const Tree& tree, NodeIndex node) {
    way_up_.clear();
    for (NodeIndex next = node; node_depth_[index(next)] < 0; next = parent(tree, next)) way_up_.push_back(next);
    for (auto next = way_up_.rbegin(); next != way_up_.rend(); ++next) {
      node_depth_[index(*next)] = node_depth_[index(parent(tree, *next))] + 1;
    }
  }

  Network<Capacity>& network_;
  TightSets<Capacity>& sets_;
  const std::vector<NodeIndex>& terminals_;
  WayTable paths_;
  std::vector<char> is_terminal_;
  std::vector<std::uint32_t> stamp_, settled_;  // of a switch, the round in which it was last met, and settled
  std::uint32_t round_ = 0;
  std::vector<Cost> distance_;
  std::vector<std::vector<ArcIndex>> feeders_;  // of a switch, arcs into it from what was settled before it
  bool shared_ = false;                         // whether arcs share capacities
  std::vector<ArcIndex> purse_;                 // of an arc, the one whose capacity it uses: itself, or of its orbit
  std::vector<NodeIndex> sender_;               // of a node, the one that its sending is counted with, likewise
  std::vector<Capacity> full_;                  // of an arc, its capacity at the start
  std::vector<Cost> cost_;
  // Of a node, how much of the capacity of the arcs out of it is used, and all of it.
  std::vector<Capacity> sent_, sendable_;
  std::vector<Cost> sender_price_;  // of a compute node that sends, what its sending so far makes it cost to come to it
  struct Visit {
    Cost cost;
    NodeIndex node;
    bool operator>(const Visit& other) const { return std::tie(cost, node) > std::tie(other.cost, other.node); }
  };
  std::priority_queue<Visit, std::vector<Visit>, std::greater<>> open_;
  struct Target {
    Cost cost;
    std::size_t turn;  // trees from different roots begin with different ones of equally good targets
    ArcIndex arc;
  };
  std::vector<Target> targets_;
  struct BackStep {
    NodeIndex node;
    ArcIndex arc;
    std::size_t back;
  };
  std::vector<BackStep> walk_;
  std::vector<NodeIndex> next_frontier_, node_depth_, way_up_;
  std::vector<std::size_t> depth_starts_;  // of each depth, where its nodes begin in the sorted order
  std::vector<ArcIndex> path_;
  struct Entry {
    SetIndex set;
    bool cost;
  };
  std::vector<Entry> entries_;
};

}  // namespace forestcoll
