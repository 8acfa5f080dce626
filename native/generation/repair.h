// Reaches a node that a grown tree misses, by changing the paths of other trees to the node.
//
// All arcs into the node may be full. Then a tree that uses one of them is moved to another arc into the same node,
// which may be full as well, and so on: an augmenting path between the trees and the arcs at one node, found by
// breadth-first search.
//
// Invariant: every tree stays a tree, and capacities stay consistent, whether a repair succeeds or not.
#pragma once

#include <algorithm>
#include <vector>

#include "generation/growth.h"

namespace forestcoll {

template <class Capacity>
class Repair {
 public:
  using Tree = GrowingTree<Capacity>;

  Repair(Growth<Capacity>& growth, std::vector<Tree>& trees)
      : growth_(growth), network_(growth.network()), trees_(trees), slot_(index(network_.arcs())),
        seen_(index(network_.nodes())) {}

  // Makes the tree reach `node`, or leaves all trees unchanged.
  bool reach(std::size_t tree, NodeIndex node) {
    node_ = node;
    const auto& arcs = network_.in(node);
    list_users(arcs);
    came_from_.assign(trees_.size(), {kNone, 0, {}});
    came_from_[tree].tree = tree;
    arc_seen_.assign(arcs.size(), false);
    std::vector<std::size_t> queue{tree};
    for (std::size_t next = 0; next < queue.size() && next < kMostTrees; ++next) {
      const std::size_t mover = queue[next];
      for (std::size_t turn = 0; turn < arcs.size(); ++turn) {
        const std::size_t slot = (turn + tree) % arcs.size();
        if (arc_seen_[slot] || !can_use(trees_[mover], arcs[slot])) continue;
        if (network_.capacity(arcs[slot]) >= trees_[mover].multiplicity) {
          if (move_all(tree, mover, arcs[slot])) return true;
          continue;
        }
        arc_seen_[slot] = true;
        for (const std::size_t user : users_[slot]) {
          if (came_from_[user].tree != kNone || trees_[user].multiplicity < trees_[mover].multiplicity) continue;
          came_from_[user] = {mover, arcs[slot], path_};
          queue.push_back(user);
        }
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::size_t kMostTrees = 256;

  // The tree that wants the arc used by this tree, the arc, and the tree's path to the tail of the arc.
  struct Wish {
    std::size_t tree;
    ArcIndex arc;
    std::vector<ArcIndex> path;
  };

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  void list_users(const std::vector<ArcIndex>& arcs) {
    users_.assign(arcs.size(), {});
    for (std::size_t slot = 0; slot < arcs.size(); ++slot) slot_[index(arcs[slot])] = slot;
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
      if (trees_[tree].root == node_ || !trees_[tree].reaches(node_)) continue;
      users_[slot_[index(trees_[tree].entry[index(node_)].last)]].push_back(tree);
    }
  }

  // Returns whether the tree could reach the tail of the arc. Stores the path to it, without the arc, in `path_`.
  bool can_use(const Tree& tree, ArcIndex last) {
    path_.clear();
    if (growth_.is_terminal(network_.tail(last))) return holds(tree, network_.tail(last));
    ++round_;
    walk_.assign(1, {network_.tail(last), -1, 0});
    seen_[index(network_.tail(last))] = round_;
    for (std::size_t next = 0; next < walk_.size(); ++next) {
      for (const ArcIndex arc : network_.in(walk_[next].node)) {
        const NodeIndex tail = network_.tail(arc);
        if (seen_[index(tail)] == round_ || network_.capacity(arc) < tree.multiplicity) continue;
        seen_[index(tail)] = round_;
        if (!growth_.is_terminal(tail)) {
          walk_.push_back({tail, arc, next});
        } else if (holds(tree, tail)) {
          path_.push_back(arc);
          for (std::size_t step = next; walk_[step].arc >= 0; step = walk_[step].back) path_.push_back(walk_[step].arc);
          return true;
        }
      }
    }
    return false;
  }

  // Returns whether the tree reaches `tail` without passing through the node itself.
  bool holds(const Tree& tree, NodeIndex tail) const {
    if (!tree.reaches(tail)) return false;
    for (NodeIndex next = tail; next != tree.root; next = growth_.parent(tree, next)) {
      if (next == node_) return false;
    }
    return tail != node_;
  }

  // Moves the last tree of the chain to `arc`, which has capacity left, and then each earlier tree to the arc that
  // became free.
  bool move_all(std::size_t first, std::size_t mover, ArcIndex arc) {
    std::vector<ArcIndex> path = path_;
    while (true) {
      path.push_back(arc);
      if (!move(trees_[mover], path)) return false;
      if (mover == first) return true;
      const Wish wish = came_from_[mover];
      mover = wish.tree;
      arc = wish.arc;
      path = wish.path;
    }
  }

  bool move(Tree& tree, const std::vector<ArcIndex>& path) {
    // The paths were found one by one; an earlier move of the chain may have changed what a later path relies on.
    if (!holds(tree, network_.tail(path.front())) || !growth_.occupy(path, tree.multiplicity)) return false;
    if (tree.reaches(node_)) {
      growth_.release(tree.entry[index(node_)], tree.multiplicity);
      tree.remove(node_);
    }
    tree.add(node_, growth_.paths().add(path));
    return true;
  }

  struct Visit {
    NodeIndex node;
    ArcIndex arc;
    std::size_t back;
  };

  Growth<Capacity>& growth_;
  const Network<Capacity>& network_;
  std::vector<Tree>& trees_;
  NodeIndex node_ = 0;
  std::vector<std::vector<std::size_t>> users_;  // for each arc into the node, the trees that use it
  std::vector<std::size_t> slot_;
  std::vector<Wish> came_from_;
  std::vector<char> arc_seen_;
  std::vector<ArcIndex> path_;
  std::vector<Visit> walk_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
};

}  // namespace forestcoll
