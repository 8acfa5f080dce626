// Grows all trees together, and again with more restrictions while that leaves fewer edges missing.
//
// Trees grow level by level. At first they are strict: no tree enters a spared set more often than it must, and trees
// of many copies split if only some copies can continue. Then they may spend slack. If trees stay incomplete, all trees
// are grown again: first with more clusters spared, then with slack kept in the sets that the last trees could not all
// enter. If trees would crowd into clusters (crowding.h), the first attempt already spares these clusters, because an
// attempt that does not spare them would fail.
//
// Invariant between attempts: the trees of the best one are planted, so the capacities are those that they leave.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "flow/observer.h"
#include "generation/group_max_flow.h"
#include "generation/growth.h"
#include "generation/results.h"
#include "generation/tight_sets.h"

namespace forestcoll {

template <class Capacity>
class Attempts {
 public:
  using Tree = GrowingTree<Capacity>;

  Attempts(Growth<Capacity>& growth, TightSets<Capacity>& sets, const std::vector<NodeIndex>& terminals,
           const std::vector<NodeIndex>& order, const std::vector<Capacity>& supplies, bool may_learn)
      : growth_(growth), sets_(sets), terminals_(terminals), order_(order), supplies_(supplies), may_learn_(may_learn) {
  }

  // The trees of the attempt that left the fewest edges missing; they are planted. `first` is the care of
  // the first attempt. A care that no set has is skipped, because it would change nothing.
  std::vector<Tree> run(Care first, Observer& observer) {
    if (first > Care::kTight) sets_.heed_all();
    make(first, observer);
    for (const Care care : {Care::kCluster, Care::kAmpleCluster}) {
      if (best_.missing > 0 && care > first && sets_.has(care)) try_again(care, observer);
    }
    bool helps = may_learn_;
    while (helps && is_far_from_complete() && counters_.attempts < kMostAttempts) {
      const Capacity before = best_.missing;
      helps = learn(observer) && try_again(best_.care, observer) && best_.missing <= before - before / 4;
    }
    return std::move(best_.trees);
  }

  const AttemptCounters& counters() const { return counters_; }

 private:
  using Rules = typename Growth<Capacity>::Rules;
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  struct Attempt {
    Care care;
    std::vector<Tree> trees;
    Capacity missing;  // edges that all copies of all trees still lack
  };

  // If only a few edges are missing, completion is faster than another attempt.
  bool is_far_from_complete() const {
    Capacity trees = 0;
    for (const Capacity supply : supplies_) trees += supply;
    return best_.missing / static_cast<Capacity>(terminals_.size()) > trees / kFewMissing;
  }

  // Returns true if the new attempt is better than the best one; otherwise the best one is planted again.
  bool try_again(Care care, Observer& observer) {
    for (const Tree& tree : best_.trees) growth_.uproot(tree);
    sets_.heed_all();
    sets_.start_over();
    Attempt before = std::move(best_);
    make(care, observer);
    if (best_.missing < before.missing) return true;
    for (const Tree& tree : best_.trees) growth_.uproot(tree);
    for (const Tree& tree : before.trees) growth_.replant(tree);
    best_ = std::move(before);
    return false;
  }

  void make(Care care, Observer& observer) {
    ++counters_.attempts;
    sets_.take_care(care);
    trees_.clear();
    for (const NodeIndex root : order_) plant(root, supplies_[index(root)]);
    grow_together(observer);
    Capacity missing = 0;
    for (const Tree& tree : trees_) missing += tree.multiplicity * tree.missing;
    best_ = {care, std::exchange(trees_, {}), missing};
  }

  // Copies grow as one tree while they can. If there are few trees in all, as in a broadcast, each copy is a separate
  // tree: a node that forwards much data in one tree need not do so in the others, so that all trees are lower. Base
  // trees have images anyway.
  void plant(NodeIndex root, Capacity supply) {
    const Capacity copies = may_learn_ && has_few_trees() ? 1 : supply;
    for (Capacity planted = 0; planted < supply; planted += copies) trees_.push_back(growth_.plant(root, copies));
  }

  bool has_few_trees() const {
    Capacity all = 0;
    for (const Capacity each : supplies_) all += each;
    return all < static_cast<Capacity>(terminals_.size());
  }

  // Keeps sets that the trees of the best attempt cannot all enter; returns false if there is no new one. Many such
  // sets have nearly the same nodes, for example the same switches and one compute node each, so disjoint ones are
  // kept. If there are few trees, each must take a large part of the data into every set, so all of them are kept.
  bool learn(Observer& observer) {
    const bool keeps_all = has_few_trees();
    GroupMaxFlow<Capacity> max_flow(growth_.network());
    std::vector<const Tree*> incomplete;
    for (const Tree& tree : best_.trees) {
      if (!tree.complete()) incomplete.push_back(&tree);
    }
    max_flow.ask_about(incomplete);
    const SetIndex before = sets_.size();
    for (const NodeIndex node : order_) {
      observer.advance(node, growth_.network().nodes());
      if (max_flow.reaches(node)) {
        max_flow.trust(node);
      } else {
        const std::vector<bool> side = max_flow.sink_side();
        keep(side);
        for (NodeIndex each = 0; each < growth_.network().nodes(); ++each) {
          if (side[index(each)] && !keeps_all) max_flow.trust(each);
        }
      }
    }
    counters_.short_sets += sets_.size() - before;
    return sets_.size() > before;
  }

  void keep(const std::vector<bool>& members) {
    const std::vector<ArcIndex> entering = sets_.arcs_into(members);
    Capacity slack = 0;
    for (const ArcIndex arc : entering) slack += growth_.full(arc);
    for (const NodeIndex root : terminals_) {
      if (!members[index(root)]) slack -= supplies_[index(root)];
    }
    sets_.add(members, {entering, slack, Care::kNone});
  }

  // Levels

  void grow_together(Observer& observer) {
    const Capacity most = *std::max_element(supplies_.begin(), supplies_.end());
    for (const bool spend : {false, true}) {
      for (Capacity enough = most; enough > 0; enough /= 2) {
        for (Tree& tree : trees_) {
          if (!tree.complete()) growth_.widen_frontier(tree);
        }
        grow_levels(spend, enough, observer);
      }
    }
  }

  void grow_levels(bool spend, Capacity enough, Observer& observer) {
    std::vector<std::size_t> growing;
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
      if (!trees_[tree].complete()) growing.push_back(tree);
    }
    while (!growing.empty()) {
      std::vector<std::size_t> still;
      for (std::size_t turn = 0; turn < growing.size(); ++turn) {
        const std::size_t place = growing[turn];
        sets_.ration(turn, growing.size());
        observer.advance(static_cast<std::int64_t>(place), static_cast<std::int64_t>(trees_.size()));
        Tree tree = std::move(trees_[place]);
        const bool grew = growth_.extend(tree, Rules{spend, std::min(tree.multiplicity, enough)},
                                         [&](Tree rest) { split_off_.push_back(std::move(rest)); });
        const bool go_on = grew && !tree.complete();
        trees_[place] = std::move(tree);
        if (go_on) still.push_back(place);
      }
      counters_.split += static_cast<std::int64_t>(split_off_.size());
      for (Tree& tree : split_off_) {
        growth_.widen_frontier(tree);
        still.push_back(trees_.size());
        trees_.push_back(std::move(tree));
      }
      split_off_.clear();
      growing = std::move(still);
    }
  }

  static constexpr std::int64_t kMostAttempts = 8;
  static constexpr Capacity kFewMissing = 1000;  // one edge in this many

  Growth<Capacity>& growth_;
  TightSets<Capacity>& sets_;
  const std::vector<NodeIndex>& terminals_;
  const std::vector<NodeIndex>& order_;
  const std::vector<Capacity>& supplies_;  // of each node, the trees rooted there
  bool may_learn_;                         // whether sets may be learned from incomplete trees: not for base trees
  Attempt best_;
  std::vector<Tree> trees_, split_off_;
  AttemptCounters counters_;
};

}  // namespace forestcoll
