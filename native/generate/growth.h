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
#include <span>
#include <vector>

#include "flow/network.h"
#include "generate/sequence_table.h"
#include "generate/tight_sets.h"

namespace forestcoll {

using PathNumber = SequenceTable::Number;

template <class Capacity>
struct GrowingTree {
  NodeIndex root = 0;
  Capacity multiplicity = 0;
  NodeIndex missing = 0;            // compute nodes that it does not reach yet
  std::vector<PathNumber> entry;    // of each node, the path by which it is reached, or kUnreached
  std::vector<std::uint64_t> paid;  // one bit a tight set: a further entry costs slack
  std::vector<NodeIndex> frontier;  // the nodes that the next level starts from

  static constexpr PathNumber kUnreached = -1;

  bool complete() const { return missing == 0; }
  bool reaches(NodeIndex node) const {
    return node == root || entry[static_cast<std::size_t>(node)] != kUnreached;
  }
};

template <class Capacity>
class Growth {
 public:
  using Tree = GrowingTree<Capacity>;

  Growth(Network<Capacity>& network, const std::vector<NodeIndex>& terminals, TightSets<Capacity>& sets)
      : network_(network), sets_(sets), terminals_(terminals), is_terminal_(index(network.nodes())),
        stamp_(index(network.nodes())), depth_(index(network.nodes())), cursor_(index(network.nodes())),
        feeders_(index(network.nodes())) {
    for (const NodeIndex terminal : terminals) is_terminal_[index(terminal)] = true;
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

  // How a level may grow: `spend` lets trees pay slack, `enough` is the least multiplicity that a path must carry.
  struct Rules {
    bool spend;
    Capacity enough;
  };

  // Adds all that can be reached from the frontier in one edge, and makes that the next frontier. If a path carries less
  // than the tree's multiplicity, the tree splits: `split(tree, carried)` makes the copy that stays behind.
  template <class Split>
  bool extend(Tree& tree, std::size_t turn, Rules rules, Split split) {
    begin_level(tree, rules);
    reach_directly(tree, rules, split);
    for (std::size_t next = 0; next < queue_.size() && !tree.complete(); ++next) {
      reach_through(tree, queue_[next], turn, rules, split);
    }
    tree.frontier.swap(next_frontier_);
    return !tree.frontier.empty();
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
    for (const NodeIndex node : order) find_depth(tree, node);
    std::stable_sort(order.begin(), order.end(), [&](NodeIndex one, NodeIndex other) {
      return node_depth_[index(one)] < node_depth_[index(other)];
    });
    return order;
  }

  // Gives back all that the tree uses.
  void uproot(const Tree& tree) {
    for (const NodeIndex node : terminals_) {
      if (node != tree.root && tree.reaches(node)) release(tree.entry[index(node)], tree.multiplicity);
    }
  }

  void release(PathNumber path, Capacity multiplicity) {
    for (const ArcIndex arc : paths_[path]) network_.add_capacity(arc, multiplicity);
  }

  // Takes the path out of the capacities without looking at tight sets; false, and nothing done, if it does not fit.
  bool occupy(std::span<const ArcIndex> path, Capacity multiplicity) {
    for (std::size_t step = 0; step < path.size(); ++step) {
      if (network_.capacity(path[step]) < multiplicity) {
        while (step-- > 0) network_.add_capacity(path[step], multiplicity);
        return false;
      }
      network_.add_capacity(path[step], -multiplicity);
    }
    return true;
  }

  NodeIndex parent(const Tree& tree, NodeIndex node) const {
    return network_.tail(paths_[tree.entry[index(node)]].front());
  }

  bool is_terminal(NodeIndex node) const { return is_terminal_[index(node)]; }
  SequenceTable& paths() { return paths_; }
  const Network<Capacity>& network() const { return network_; }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  static void close(Tree& tree, SetIndex set) { tree.paid[index(set) / 64] |= std::uint64_t{1} << (set % 64); }
  static void reopen(Tree& tree, SetIndex set) { tree.paid[index(set) / 64] &= ~(std::uint64_t{1} << (set % 64)); }
  static bool pays(const Tree& tree, SetIndex set) { return ((tree.paid[index(set) / 64] >> (set % 64)) & 1) != 0; }

  // May the tree use the arc as far as this arc alone tells?
  bool open(const Tree& tree, ArcIndex arc, Rules rules) const {
    if (network_.capacity(arc) < rules.enough) return false;
    for (const SetIndex set : sets_.entered(arc)) {
      if (pays(tree, set) && (!rules.spend || sets_.slack(set) < rules.enough)) return false;
    }
    return true;
  }

  void begin_level(Tree& tree, Rules rules) {
    ++round_;
    queue_.clear();
    direct_.clear();
    next_frontier_.clear();
    for (const NodeIndex node : tree.frontier) {
      for (const ArcIndex arc : network_.out(node)) {
        const NodeIndex head = network_.head(arc);
        if ((is_terminal(head) && tree.reaches(head)) || !open(tree, arc, rules)) continue;
        if (is_terminal(head)) {
          direct_.push_back(arc);
        } else {
          feed(head, arc, 1);
        }
      }
    }
  }

  // The switch can be entered over `arc` on a shortest way from the frontier.
  void feed(NodeIndex node, ArcIndex arc, NodeIndex depth) {
    if (stamp_[index(node)] != round_) {
      stamp_[index(node)] = round_;
      depth_[index(node)] = depth;
      cursor_[index(node)] = 0;
      feeders_[index(node)].clear();
      queue_.push_back(node);
    }
    if (depth_[index(node)] == depth) feeders_[index(node)].push_back(arc);
  }

  template <class Split>
  void reach_directly(Tree& tree, Rules rules, Split split) {
    std::stable_sort(direct_.begin(), direct_.end(), [&](ArcIndex one, ArcIndex other) {
      return network_.capacity(one) > network_.capacity(other);
    });
    for (const ArcIndex arc : direct_) {
      if (tree.reaches(network_.head(arc)) || !open(tree, arc, rules)) continue;
      path_.assign(1, arc);
      attach(tree, rules, split);
    }
  }

  template <class Split>
  void reach_through(Tree& tree, NodeIndex node, std::size_t turn, Rules rules, Split split) {
    const auto& out = network_.out(node);
    const std::size_t first = out.empty() ? 0 : turn % out.size();  // each tree begins elsewhere: the load spreads
    for (std::size_t step = 0; step < out.size() && !feeders_[index(node)].empty(); ++step) {
      const std::size_t place = first + step < out.size() ? first + step : first + step - out.size();
      const ArcIndex arc = out[place];
      const NodeIndex head = network_.head(arc);
      if (is_terminal(head)) {
        if (!tree.reaches(head) && open(tree, arc, rules) && find_way(tree, arc, rules)) attach(tree, rules, split);
      } else if (open(tree, arc, rules)) {
        feed(head, arc, depth_[index(node)] + 1);
      }
    }
  }

  // Finds the rest of a path that ends in `last`, from the frontier, in `path_`.
  bool find_way(const Tree& tree, ArcIndex last, Rules rules) {
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

  // The next arc, in turn, over which the switch can still be entered; those over which it cannot are dropped.
  ArcIndex next_feeder(const Tree& tree, NodeIndex node, Rules rules) {
    auto& feeders = feeders_[index(node)];
    std::size_t& cursor = cursor_[index(node)];
    while (!feeders.empty()) {
      if (cursor >= feeders.size()) cursor = 0;
      const ArcIndex arc = feeders[cursor];
      const NodeIndex tail = network_.tail(arc);
      if (open(tree, arc, rules) && (is_terminal(tail) || !feeders_[index(tail)].empty())) {
        ++cursor;
        return arc;
      }
      feeders[cursor] = feeders.back();
      feeders.pop_back();
    }
    return -1;
  }

  // Adds the node at the end of `path_`, if all of the path can be had.
  template <class Split>
  void attach(Tree& tree, Rules rules, Split split) {
    Capacity carried = tree.multiplicity;
    for (const ArcIndex arc : path_) {
      carried = std::min(carried, network_.capacity(arc));
      for (const SetIndex set : sets_.entered(arc)) {
        if (pays(tree, set)) carried = std::min(carried, sets_.slack(set));
      }
    }
    if (carried < rules.enough) return;
    if (carried < tree.multiplicity) split(tree, carried);
    if (!pay_sets(tree, rules)) return;
    for (const ArcIndex arc : path_) network_.add_capacity(arc, -tree.multiplicity);
    const NodeIndex head = network_.head(path_.back());
    tree.entry[index(head)] = paths_.add(path_);
    --tree.missing;
    next_frontier_.push_back(head);
  }

  // A path may enter a set more than once: pays one entry after the other, or nothing.
  bool pay_sets(Tree& tree, Rules rules) {
    entries_.clear();
    for (const ArcIndex arc : path_) {
      for (const SetIndex set : sets_.entered(arc)) {
        const bool costs = pays(tree, set);
        if (costs && (!rules.spend || sets_.slack(set) < tree.multiplicity)) {
          for (const auto& [undone, cost] : entries_) {
            if (cost) {
              sets_.pay(undone, -tree.multiplicity);
            } else {
              reopen(tree, undone);
            }
          }
          return false;
        }
        if (costs) {
          sets_.pay(set, tree.multiplicity);
        } else {
          close(tree, set);
        }
        entries_.push_back({set, costs});
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
  SequenceTable paths_;
  std::vector<char> is_terminal_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t round_ = 0;
  std::vector<NodeIndex> depth_;  // of a switch in this round, its distance from the frontier
  std::vector<std::size_t> cursor_;
  std::vector<std::vector<ArcIndex>> feeders_;
  std::vector<NodeIndex> queue_, next_frontier_, node_depth_, way_up_;
  std::vector<ArcIndex> direct_, path_;
  struct Entry {
    SetIndex set;
    bool cost;
  };
  std::vector<Entry> entries_;
};

}  // namespace forestcoll
