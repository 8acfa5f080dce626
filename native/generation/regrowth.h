// Lowers the highest trees of a complete forest, with the capacity that all trees leave.
//
// Trees that grow together keep capacity for each other. A tree that must not take an arc yet goes another way, over
// more compute nodes, and becomes high. When all trees are complete, nothing needs to be kept any more. So the highest
// trees are grown again, one after the other, from their own capacity and what all trees leave. They respect no sets,
// and each level takes every node that can be reached.
//
// Invariant: no tree becomes higher, and all trees fit. A tree that does not become lower gets its old paths back.
//
// The greatest height falls only if all trees of this height become lower. So the work ends at the first tree that does
// not, and at a height that too many trees have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "flow/observer.h"
#include "generation/growth.h"
#include "generation/tight_sets.h"

namespace forestcoll {

template <class Capacity>
class Regrowth {
 public:
  using Tree = GrowingTree<Capacity>;

  // All trees are complete.
  Regrowth(Growth<Capacity>& growth, TightSets<Capacity>& sets, std::vector<Tree>& trees)
      : growth_(growth), sets_(sets), trees_(trees) {}

  // Returns how often a tree became lower.
  std::int64_t run(Observer& observer) {
    sets_.heed_none();
    std::int64_t lowered = 0;
    std::size_t most = trees_.size() / kPart;  // fewer trees are grown again
    for (std::vector<Tree*> highest = find_highest(); highest.size() < most; highest = find_highest()) {
      most -= highest.size();
      for (Tree* tree : highest) {
        observer.pulse();
        if (growth_.measure(*tree)) continue;  // it was lower than its bound
        if (!lower(*tree)) return lowered;
        ++lowered;
      }
    }
    return lowered;
  }

 private:
  // Trees are grown again without sets and only if a few others are as high, so this part takes little time.
  static constexpr std::size_t kPart = 2;

  // The trees with the greatest bound of their height.
  std::vector<Tree*> find_highest() {
    std::vector<Tree*> highest;
    for (Tree& tree : trees_) {
      if (!highest.empty() && tree.height > highest.front()->height) highest.clear();
      if (highest.empty() || tree.height == highest.front()->height) highest.push_back(&tree);
    }
    return highest;
  }

  // Grows the tree again with fewer levels, or leaves it as it was.
  bool lower(Tree& tree) {
    growth_.uproot(tree);
    Tree grown = growth_.plant(tree.root, tree.multiplicity);
    const auto never = [](Tree) {};  // a path that is enough for all copies splits no tree
    while (!grown.complete() && grown.height + 1 < tree.height &&
           growth_.extend(grown, {true, tree.multiplicity}, never)) {
    }
    if (grown.complete()) {
      tree = std::move(grown);
      return true;
    }
    growth_.uproot(grown);
    growth_.replant(tree);
    return false;
  }

  Growth<Capacity>& growth_;
  TightSets<Capacity>& sets_;
  std::vector<Tree>& trees_;
};

}  // namespace forestcoll
