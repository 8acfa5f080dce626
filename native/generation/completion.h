// Completes grown trees, with an exact check of each step.
//
// As much as possible of the grown trees stays. First, capacity is freed: while some set of nodes cannot be entered by
// all trees that still miss it, branches that enter the set although their tree was in it already are cut off. Then
// each incomplete tree is grown further, in blocks of nodes, and every block is checked exactly (GroupMaxFlow). A
// block that fails the check is undone, the violated set is added to the tight sets, and the block size is halved.
//
// A refused step is never tried again, for any block size, because the set that it violates forbids it. By the theorem
// of Edmonds, extended to switches by edge splitting (ForestColl Theorems 5 and 7), there is always a step that is not
// refused. If `run` finds none, it gives up, and the rest is left to switch removal and packing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "flow/observer.h"
#include "generation/group_max_flow.h"
#include "generation/growth.h"
#include "generation/results.h"

namespace forestcoll {

template <class Capacity>
class Completion {
 public:
  using Tree = GrowingTree<Capacity>;

  // `order` lists the terminals, near ones after each other, so that the questions for one help those for the next.
  Completion(Growth<Capacity>& growth, TightSets<Capacity>& sets, const std::vector<NodeIndex>& terminals,
             const std::vector<NodeIndex>& order, std::vector<Tree>& trees)
      : growth_(growth), sets_(sets), terminals_(terminals), order_(order), trees_(trees), network_(growth.network()),
        max_flow_(network_), proofs_(index(network_.nodes())) {}

  // Completes all trees; returns false if one could not be completed.
  bool run(Observer& observer) {
    make_room(observer);
    growth_.recompute_sets(growing());
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
      observer.advance(static_cast<std::int64_t>(tree), static_cast<std::int64_t>(trees_.size()));
      if (trees_[tree].complete()) continue;
      if (!complete(tree, observer)) return false;
      ++counters_.completed;
    }
    return true;
  }

  const CompletionCounters& counters() const { return counters_; }

 private:
  using Rules = typename Growth<Capacity>::Rules;
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  // What the trees that miss a node would use to reach it.
  struct Proof {
    bool known = false;
    std::vector<typename GroupMaxFlow<Capacity>::Use> flow;
  };

  // Freeing capacity

  void make_room(Observer& observer) {
    max_flow_.ask_about(incomplete());
    for (std::size_t place = 0; place < order_.size(); ++place) {
      while (!feeds(order_[place], observer)) {
        free_set(max_flow_.sink_side());
        max_flow_.ask_about(incomplete());
        // Cutting off makes no set worse, so earlier answers for other nodes stay valid.
        for (std::size_t before = 0; before < place; ++before) max_flow_.trust(order_[before]);
      }
      max_flow_.trust(order_[place]);
    }
  }

  // Returns whether all trees that miss it could reach every node; if not, the sink side of the max-flow shows why. A
  // node is checked only if its last proof does not fit any more: trees that grow need less, and can start from more
  // nodes. A proof may rely on nodes that come earlier in the order.
  bool all_fed(Observer& observer) {
    ++counters_.checks;
    max_flow_.ask_about(incomplete());
    renewed_.clear();
    for (const NodeIndex node : order_) {
      if (!fits(proofs_[index(node)])) {
        if (!feeds(node, observer)) return false;
        renewed_.push_back({node, {true, max_flow_.flow()}});
      }
      max_flow_.trust(node);
    }
    for (auto& [node, proof] : renewed_) proofs_[index(node)] = std::move(proof);
    return true;
  }

  bool fits(const Proof& proof) const {
    return proof.known && std::all_of(proof.flow.begin(), proof.flow.end(),
                                      [&](const auto& use) { return use.amount <= network_.capacity(use.at); });
  }

  bool feeds(NodeIndex node, Observer& observer) {
    observer.pulse();
    ++counters_.inflows;
    return max_flow_.reaches(node);
  }

  std::vector<const Tree*> incomplete() const {
    std::vector<const Tree*> found;
    for (const Tree& tree : trees_) {
      if (!tree.complete()) found.push_back(&tree);
    }
    return found;
  }

  // Cuts branches off until the arcs into the set carry the trees that miss it: branches of leaves first, and those of
  // the latest trees first. A tree that was in the set before a branch entered it stays in it without the branch.
  void free_set(const std::vector<bool>& inside) {
    Capacity slack = slack_of(inside);
    count_entries(inside);
    for (const bool only_leaves : {true, false}) {
      for (std::size_t place = trees_.size(); place-- > 0 && slack < 0;) {
        for (const NodeIndex node : extra_entries(trees_[place], inside)) {
          if (slack >= 0) break;
          if (!trees_[place].reaches(node)) continue;  // was cut off with another branch
          if (only_leaves && !is_leaf(trees_[place], node)) continue;
          const bool touched = touches(trees_[place], inside);
          for (const NodeIndex each : branch(trees_[place], node)) {
            slack += trees_[place].multiplicity * entries(trees_[place], each);
            growth_.cut_off(trees_[place], each);
          }
          if (touched && !touches(trees_[place], inside)) slack -= trees_[place].multiplicity;
          ++counters_.cut_off;
        }
      }
    }
    if (slack < 0) throw std::logic_error("a set is short although no tree wastes its arcs");
  }

  // Whether the node has no children in the tree.
  bool is_leaf(const Tree& tree, NodeIndex node) const {
    return std::none_of(terminals_.begin(), terminals_.end(), [&](NodeIndex other) {
      return other != tree.root && tree.reaches(other) && growth_.parent(tree, other) == node;
    });
  }

  // The node, and all nodes that the tree reaches through it.
  std::vector<NodeIndex> branch(const Tree& tree, NodeIndex node) const {
    std::vector<NodeIndex> nodes, ancestors;
    std::vector<char> known(index(network_.nodes()));  // 1: in the branch, 2: not
    known[index(node)] = 1;
    known[index(tree.root)] = 2;
    for (const NodeIndex each : terminals_) {
      if (!tree.reaches(each)) continue;
      ancestors.clear();
      NodeIndex next = each;
      for (; known[index(next)] == 0; next = growth_.parent(tree, next)) ancestors.push_back(next);
      for (const NodeIndex passed : ancestors) known[index(passed)] = known[index(next)];
      if (known[index(each)] == 1) nodes.push_back(each);
    }
    return nodes;
  }

  // The capacity of the arcs into the set that the trees that miss it do not need.
  Capacity slack_of(const std::vector<bool>& inside) const {
    Capacity slack = network_.entering([&](NodeIndex node) { return inside[index(node)]; });
    for (const Tree& tree : trees_) {
      if (!tree.complete() && !touches(tree, inside)) slack -= tree.multiplicity;
    }
    return slack;
  }

  bool touches(const Tree& tree, const std::vector<bool>& inside) const {
    return std::any_of(terminals_.begin(), terminals_.end(),
                       [&](NodeIndex node) { return inside[index(node)] && tree.reaches(node); });
  }

  // Counts how often each prefix of paths enters the set.
  void count_entries(const std::vector<bool>& inside) {
    enters_.resize(index(network_.arcs()));
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      enters_[index(arc)] = inside[index(network_.head(arc))] && !inside[index(network_.tail(arc))];
    }
    entries_ = growth_.paths().template sums<std::uint32_t>([&](ArcIndex arc) { return enters_[index(arc)]; });
  }
  Capacity entries(const Tree& tree, NodeIndex node) const {
    const ArcPath path = tree.entry[index(node)];
    return entries_[index(path.prefix)] + enters_[index(path.last)];
  }

  // The nodes whose paths enter the set although the tree is in it already, the farthest from the root first.
  std::vector<NodeIndex> extra_entries(const Tree& tree, const std::vector<bool>& inside) {
    std::vector<NodeIndex> extra;
    for (const NodeIndex node : terminals_) {
      if (node != tree.root && tree.reaches(node) && entries(tree, node) > 0) extra.push_back(node);
    }
    if (extra.empty()) return {};
    const bool needed = !inside[index(tree.root)] && extra.size() == 1 && inside[index(extra.front())];
    if (needed && entries(tree, extra.front()) == 1) return {};
    std::vector<NodeIndex> order;
    for (const NodeIndex node : growth_.by_depth(tree)) {
      if (std::binary_search(extra.begin(), extra.end(), node)) order.push_back(node);
    }
    if (!inside[index(tree.root)]) {
      // The path to the first node inside brought the tree into the set. It stays, unless it enters the set more than
      // once.
      const auto first = std::find_if(order.begin(), order.end(), [&](NodeIndex node) { return inside[index(node)]; });
      if (first != order.end() && entries(tree, *first) == 1) order.erase(first);
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  std::vector<Tree*> growing() {
    std::vector<Tree*> found;
    for (Tree& tree : trees_) {
      if (!tree.complete()) found.push_back(&tree);
    }
    return found;
  }

  // Keeps the violated set; returns false if it was known.
  bool learn(const std::vector<bool>& violated) {
    ++counters_.learned_sets;
    const std::vector<ArcIndex> entering = sets_.arcs_into(violated);
    Capacity slack = 0;
    for (const ArcIndex arc : entering) slack += network_.capacity(arc);
    if (sets_.add(violated, {entering, slack, Care::kTight}) == sets_.kNoSet) return false;
    growth_.count_trees(sets_.size() - 1, growing());
    return true;
  }

  // Growing further

  bool complete(std::size_t place, Observer& observer) {
    NodeIndex block = trees_[place].missing;
    while (!trees_[place].complete()) {
      const Tree before = trees_[place];
      const std::size_t trees_before = trees_.size();
      const std::vector<Capacity> slacks_before = sets_.slacks();
      const NodeIndex added = grow_on(place, block);
      if (added == 0) return false;
      if (all_fed(observer)) {
        block = std::max<NodeIndex>(1, std::min(2 * block, trees_[place].missing));
        continue;
      }
      const std::vector<bool> violated = max_flow_.sink_side();
      undo(place, before, trees_before);
      sets_.set_slacks(slacks_before);
      if (!learn(violated) && added == 1) return false;
      block = std::max<NodeIndex>(1, added / 2);
    }
    return true;
  }

  // Adds up to `block` nodes to the tree; copies that cannot follow are left behind as separate trees.
  NodeIndex grow_on(std::size_t place, NodeIndex block) {
    Tree tree = std::move(trees_[place]);
    const NodeIndex goal = tree.missing - block;
    const NodeIndex before = tree.missing;
    const auto split = [&](Tree rest) { trees_.push_back(std::move(rest)); };
    for (Capacity enough = tree.multiplicity; enough > 0 && tree.missing == before; enough /= 2) {
      growth_.widen_frontier(tree);
      while (tree.missing > goal &&
             growth_.extend(tree, Rules{true, std::min(enough, tree.multiplicity), tree.missing - goal}, split)) {
      }
    }
    for (Capacity enough = tree.multiplicity; enough > 0 && tree.missing == before; enough /= 2) {
      for (const NodeIndex node : terminals_) {
        const Rules rules{true, std::min(enough, tree.multiplicity)};
        if (tree.missing == before && !tree.reaches(node)) growth_.reach(tree, node, rules, split);
      }
    }
    const NodeIndex added = before - tree.missing;
    trees_[place] = std::move(tree);
    return added;
  }

  // Undoes `grow_on`.
  void undo(std::size_t place, const Tree& before, std::size_t trees_before) {
    const auto give_back = [&](const Tree& tree) {
      for (const NodeIndex node : terminals_) {
        if (tree.reaches(node) && !before.reaches(node)) growth_.release(tree.entry[index(node)], tree.multiplicity);
      }
    };
    give_back(trees_[place]);
    for (std::size_t copy = trees_before; copy < trees_.size(); ++copy) give_back(trees_[copy]);
    trees_.erase(trees_.begin() + static_cast<std::ptrdiff_t>(trees_before), trees_.end());
    trees_[place] = before;
  }

  Growth<Capacity>& growth_;
  TightSets<Capacity>& sets_;
  const std::vector<NodeIndex>& terminals_;
  const std::vector<NodeIndex>& order_;
  std::vector<Tree>& trees_;
  const Network<Capacity>& network_;
  GroupMaxFlow<Capacity> max_flow_;
  std::vector<Proof> proofs_;           // for each node
  std::vector<std::uint32_t> enters_;   // for each arc, 1 if it enters the set in which room is made, else 0
  std::vector<std::uint32_t> entries_;  // for each prefix of paths, how often it enters this set
  std::vector<std::pair<NodeIndex, Proof>> renewed_;
  CompletionCounters counters_;
};

}  // namespace forestcoll
