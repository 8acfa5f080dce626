// Packing spanning out-trees (ForestColl §5.4, appendix E.3; Edmonds, Bérczi and Frank, Gabow and Manu).
//
// Given a network of compute nodes and k, finds k trees from every node that together stay within the capacities. Trees
// are made in batches: one tree with the greatest multiplicity that leaves the remaining trees possible.
//
// 1. Growth proposes a tree, level by level from its root, over arcs that the pool of learned cuts allows.
// 2. Certification asks for every node whether all remaining trees could reach it (one flow question each). A shortfall
//    gives a cut, which lowers the multiplicity to its exact bound and is added to the pool. If the multiplicity is 0,
//    another tree is proposed.
// 3. After too many failures the tree is grown edge by edge, each checked by the mu of Theorem 10, which cannot fail.
//
// Certifying a whole tree at once gives the same answer as mu for each of its edges, because another edge can only make
// the remaining trees harder. There are few batches: each uses up an arc or a root, or makes another cut tight, and a
// tight cut stays tight. Cost: about N flow questions for each batch, most of them answered after a few arcs.
//
// Invariant: for every set T with a node, B-(T) >= number of remaining trees from outside T.
#pragma once

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bounds/supply_reaches_all.h"
#include "generation/cut_pool.h"
#include "generation/results.h"

namespace forestcoll {

template <class Capacity>
class Packing {
 public:
  // `supplies` gives, for each node, the number of trees that it is the root of.
  Packing(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals, std::vector<Capacity> supplies)
      : network_(network), terminals_(terminals), max_flow_(network_), pool_(network.nodes()),
        remaining_(std::move(supplies)), reached_(remaining_.size()),
        order_(breadth_first(network, terminals.front(), [&](NodeIndex node) { return is_in(terminals, node); })) {
    for (const NodeIndex terminal : terminals) total_ = checked_add(total_, remaining_[index(terminal)]);
  }

  TreeBatches<Capacity> run(Observer& observer) {
    TreeBatches<Capacity> batches;
    std::int64_t done = 0;
    for (const NodeIndex root : order_) {
      while (remaining_[index(root)] > 0) {
        observer.advance(done, static_cast<std::int64_t>(terminals_.size()));
        const Capacity multiplicity = make_tree(root, observer);
        batches.roots.push_back(root);
        batches.multiplicities.push_back(multiplicity);
        batches.arcs.insert(batches.arcs.end(), tree_.begin(), tree_.end());
      }
      ++done;
    }
    return batches;
  }

  const PackingCounters& counters() const { return counters_; }

  // mu of Theorem 10: how many of the `multiplicity` copies of the tree with node set `tree_nodes` can take `arc`. The
  // arcs of the tree are already subtracted from the capacities, and its copies from `remaining`.
  Capacity tree_capacity(const std::vector<Capacity>& remaining, ArcIndex arc, Capacity multiplicity) {
    Capacity others = 0;
    for (const NodeIndex terminal : terminals_) {
      max_flow_.set_supply(terminal, remaining[index(terminal)]);
      others = checked_add(others, remaining[index(terminal)]);
    }
    const Capacity most = std::min(multiplicity, network_.capacity(arc));
    max_flow_.limit_all();
    max_flow_.set_unlimited(network_.tail(arc));
    const NodeIndex sinks[] = {network_.head(arc)};
    return std::max<Capacity>(max_flow_.into(sinks, checked_add(others, most)) - others, 0);
  }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }
  static bool is_in(const std::vector<NodeIndex>& rising, NodeIndex node) {
    return std::binary_search(rising.begin(), rising.end(), node);
  }

  // Stores the next tree from `root` in `tree_`, takes it out of the network, and returns its multiplicity.
  Capacity make_tree(NodeIndex root, Observer& observer) {
    for (int tries = 0; tries < kMostProposals && !pool_.full(); ++tries) {
      ++counters_.proposals;
      if (!propose(root)) break;
      const Capacity multiplicity = certify(root, observer);
      if (multiplicity > 0) return multiplicity;
      ++counters_.refused;
    }
    ++counters_.grown_exactly;
    grow_exactly(root, observer);
    const Capacity multiplicity = certify(root, observer);
    if (multiplicity == 0) throw std::logic_error("a tree grown edge by edge does not fit");
    return multiplicity;
  }

  // Grows a tree that the pool allows, for the greatest multiplicity (halved at each failure) at which one is found.
  bool propose(NodeIndex root) {
    for (Capacity wanted = remaining_[index(root)]; wanted > 0; wanted /= 2) {
      pool_.begin_tree(root, wanted);
      if (grow(root, wanted)) return true;
    }
    return false;
  }

  void start_tree(NodeIndex root) {
    tree_.clear();
    std::fill(reached_.begin(), reached_.end(), false);
    reached_[index(root)] = true;
    level_.assign(1, root);
  }

  void add_to_tree(ArcIndex arc) {
    const NodeIndex head = network_.head(arc);
    pool_.enter(network_.tail(arc), head);
    reached_[index(head)] = true;
    tree_.push_back(arc);
    next_level_.push_back(head);
  }

  // Adds level after level: nodes next to the root before all others. Returns whether the tree spans all terminals. In
  // a level, the arcs with most capacity left come first, so that the load is spread.
  bool grow(NodeIndex root, Capacity wanted) {
    start_tree(root);
    while (!level_.empty() && tree_.size() + 1 < terminals_.size()) {
      next_level_.clear();
      candidates_.clear();
      for (const NodeIndex node : level_) {
        for (const ArcIndex arc : network_.out(node)) {
          if (!reached_[index(network_.head(arc))] && network_.capacity(arc) >= wanted) candidates_.push_back(arc);
        }
      }
      std::stable_sort(candidates_.begin(), candidates_.end(),
                       [&](ArcIndex one, ArcIndex other) { return network_.capacity(one) > network_.capacity(other); });
      for (const ArcIndex arc : candidates_) {
        if (!reached_[index(network_.head(arc))] && pool_.allows(network_.tail(arc), network_.head(arc))) {
          add_to_tree(arc);
        }
      }
      std::swap(level_, next_level_);
    }
    return tree_.size() + 1 == terminals_.size();
  }

  // Grows a tree of multiplicity 1 in which every arc has mu > 0. A refused arc stays refused, so each arc is tested
  // once, and by the theorem of Edmonds some arc is always accepted.
  void grow_exactly(NodeIndex root, Observer& observer) {
    pool_.begin_tree(root, 1);
    start_tree(root);
    std::vector<Capacity> others = remaining_;
    --others[index(root)];
    while (!level_.empty() && tree_.size() + 1 < terminals_.size()) {
      next_level_.clear();
      for (const NodeIndex node : level_) {
        for (const ArcIndex arc : network_.out(node)) {
          observer.pulse();
          if (reached_[index(network_.head(arc))] || network_.capacity(arc) == 0) continue;
          if (!pool_.allows(node, network_.head(arc))) continue;
          if (tree_capacity(others, arc, 1) == 0) {
            learn_tight_cut();
            continue;
          }
          network_.add_capacity(arc, -1);
          add_to_tree(arc);
        }
      }
      std::swap(level_, next_level_);
    }
    for (const ArcIndex arc : tree_) network_.add_capacity(arc, 1);
    if (tree_.size() + 1 != terminals_.size()) throw std::logic_error("no arc could be added to a tree");
  }

  // Takes `tree_` out of the network with the greatest multiplicity, possibly 0, that leaves all other trees possible.
  Capacity certify(NodeIndex root, Observer& observer) {
    Capacity multiplicity = remaining_[index(root)];
    for (const ArcIndex arc : tree_) multiplicity = std::min(multiplicity, network_.capacity(arc));
    take_out(root, multiplicity);
    const auto on_shortfall = [&](Capacity) {
      take_out(root, -multiplicity);
      multiplicity = learn_cut(root);
      take_out(root, multiplicity);
      return multiplicity > 0;
    };
    if (supply_all<Capacity>(max_flow_, order_, [&] { return total_; }, on_shortfall, observer)) {
      pool_.end_tree(multiplicity);
      return multiplicity;
    }
    return 0;
  }

  void take_out(NodeIndex root, Capacity multiplicity) {
    for (const ArcIndex arc : tree_) network_.add_capacity(arc, -multiplicity);
    remaining_[index(root)] -= multiplicity;
    total_ -= multiplicity;
    for (const NodeIndex terminal : terminals_) max_flow_.set_supply(terminal, remaining_[index(terminal)]);
  }

  // After a shortfall: learns its minimum cut, and returns how often the tree fits through the cut.
  Capacity learn_cut(NodeIndex root) {
    const auto inside = [&](NodeIndex node) { return max_flow_.on_sink_side(node); };
    const Capacity slack = slack_of(inside);
    const Capacity entries = entries_of(inside);
    const Capacity extra = entries - !inside(root);
    if (slack < 0 || extra <= 0) throw std::logic_error("a cut fell short although the trees to come fitted");
    ++counters_.learned_cuts;
    pool_.add(inside, slack, entries);
    return slack / extra;
  }

  // An arc was refused while a tree is grown exactly, with its arcs already subtracted from the capacities.
  void learn_tight_cut() {
    if (pool_.full()) return;
    const auto inside = [&](NodeIndex node) { return max_flow_.on_sink_side(node); };
    const Capacity entries = entries_of(inside);
    ++counters_.learned_cuts;
    pool_.add(inside, slack_of(inside) + entries, entries);
  }

  // B-(T) minus the number of remaining trees from outside T.
  template <class Inside>
  Capacity slack_of(Inside inside) const {
    Capacity slack = network_.entering(inside);
    for (const NodeIndex terminal : terminals_) {
      if (!inside(terminal)) slack -= remaining_[index(terminal)];
    }
    return slack;
  }

  // How often `tree_` enters T.
  template <class Inside>
  Capacity entries_of(Inside inside) const {
    return std::count_if(tree_.begin(), tree_.end(),
                         [&](ArcIndex arc) { return inside(network_.head(arc)) && !inside(network_.tail(arc)); });
  }

  static constexpr int kMostProposals = 64;

  Network<Capacity> network_;
  const std::vector<NodeIndex>& terminals_;  // rising
  MaxFlow<Capacity> max_flow_;
  CutPool<Capacity> pool_;
  std::vector<Capacity> remaining_;  // for each root, the number of remaining trees
  std::vector<char> reached_;
  std::vector<NodeIndex> order_;
  Capacity total_ = 0;
  std::vector<ArcIndex> tree_, candidates_;
  std::vector<NodeIndex> level_, next_level_;
  PackingCounters counters_;
};

}  // namespace forestcoll
