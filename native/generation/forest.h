// A whole forest, grown optimistically: grow, repair, and complete the rest exactly.
//
// 1. All trees grow together, in some attempts with more and more restrictions (attempts.h).
// 2. Repair moves branches of other trees to reach nodes that are still missed.
// 3. Completion frees capacity where too much was used, and grows the incomplete trees further, checked exactly.
// 4. The remaining trees are made by switch removal and packing on the remaining capacities.
// 5. If there was no step 4, the highest trees are lowered (regrowth.h).
//
// The result is always right: complete trees within the capacities. Only the running time is uncertain.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "generation/attempts.h"
#include "generation/completion.h"
#include "generation/flat_paths.h"
#include "generation/free_memory.h"
#include "generation/growth.h"
#include "generation/path_numbers.h"
#include "generation/regrowth.h"
#include "generation/repair.h"
#include "generation/results.h"
#include "generation/set_seeds.h"
#include "stages/stages.h"

namespace forestcoll {

template <class Capacity>
class Forest {
 public:
  using Tree = GrowingTree<Capacity>;

  Forest(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals, std::vector<Capacity> supplies)
      : whole_(network), network_(network), terminals_(terminals), remaining_(std::move(supplies)), sets_(network_),
        growth_(network_, terminals_, sets_),
        order_(breadth_first(network, terminals.front(), [&](NodeIndex node) { return growth_.is_terminal(node); })) {}

  // A forest of base trees: those of the first root of each orbit; their images are the trees of all roots.
  Forest(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals, std::vector<Capacity> supplies,
         const Orbits& orbits)
      : whole_(network), network_(orbits.per_base_tree(network)), terminals_(terminals),
        remaining_(std::move(supplies)), sets_(network_), growth_(network_, terminals_, sets_, &orbits) {}

  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;

  // Only grows base trees; those that stay incomplete are left out and counted.
  void run_base_trees(const Orbits& orbits, Observer& observer) {
    const Care first_care = SetSeeds<Capacity>(whole_, terminals_, remaining_, &orbits).plant(sets_);
    remaining_ = orbits.per_base_tree(remaining_);
    for (const NodeIndex terminal : terminals_) {
      if (remaining_[index(terminal)] > 0) order_.push_back(terminal);
    }
    grow(first_care, false, observer);
    leave_out_incomplete();
  }

  // If `prove` is false, trees that would need step 4 are left out and counted.
  void run(bool prove, Observer& observer) {
    const Care first_care = SetSeeds<Capacity>(whole_, terminals_, remaining_).plant(sets_);
    grow(first_care, true, observer);
    if (complete(observer)) {
      counters_.lowered = Regrowth<Capacity>(growth_, sets_, trees_).run(observer);
    } else if (prove) {
      take_out_incomplete();
      prove_rest(observer);
    } else {
      leave_out_incomplete();
    }
  }

  // The trees, which the forest does not keep.
  RoutedTrees<Capacity> trees(Observer& observer) {
    RoutedTrees<Capacity> result;
    growth_.paths().close();
    for (Tree& grown : trees_) {
      if (result.roots.size() % kTreesAtOnce == 0) give_back_free_memory();
      const Tree tree = std::move(grown);  // frees its memory
      observer.advance(static_cast<std::int64_t>(result.roots.size()), static_cast<std::int64_t>(trees_.size()));
      result.roots.push_back(tree.root);
      result.multiplicities.push_back(tree.multiplicity);
      for (const NodeIndex node : growth_.by_depth(tree)) {
        if (node != tree.root) path_numbers_.add(tree.entry[index(node)]);
      }
    }
    give_back_free_memory();
    result.paths = path_numbers_.close(growth_.paths().prefixes(), network_.arcs(), observer);
    arcs_ = growth_.paths().template sums<std::uint32_t>([](ArcIndex) { return std::uint32_t{1}; });
    return result;
  }

  // The paths that `trees` numbered, as arrays of nodes. The forest does not keep them.
  AnyFlatPaths paths(Observer& observer) {
    if (has_short_numbers(network_.nodes())) return flat_paths_of<ShortNode>(observer);
    return flat_paths_of<NodeIndex>(observer);
  }

  const ForestCounters& counters() const { return counters_; }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  template <class Node>
  FlatPaths<Node> flat_paths_of(Observer& observer) {
    const auto size_of = [&](PathNumber number) { return nodes_of(path_numbers_[number]); };
    const auto write = [&](PathNumber number, Node* out) {
      const ArcPath path = path_numbers_[number];
      Node* place = out + nodes_of(path);
      growth_.paths().for_each_arc(path, [&](ArcIndex arc) { *--place = static_cast<Node>(network_.head(arc)); });
      *--place = static_cast<Node>(growth_.paths().from(path));
    };
    const auto close = [&](std::size_t block) {
      path_numbers_.forget(block);
      if (block % kBlocksAtOnce == 0) give_back_free_memory();
    };
    return flat_paths<Node>(path_numbers_.size(), size_of, write, close, observer);
  }

  std::size_t nodes_of(ArcPath path) const { return std::size_t{arcs_[index(path.prefix)]} + 2; }

  void grow(Care first_care, bool may_learn, Observer& observer) {
    counters_.tight_sets = sets_.size();
    Attempts<Capacity> attempts(growth_, sets_, terminals_, order_, remaining_, may_learn);
    trees_ = attempts.run(first_care, observer);
    counters_.attempts = attempts.counters();
    std::fill(remaining_.begin(), remaining_.end(), 0);
    for (const Tree& tree : trees_) counters_.grown += tree.complete();
  }

  void leave_out_incomplete() {
    take_out_incomplete();
    for (const NodeIndex root : terminals_) counters_.missing += remaining_[index(root)] > 0;
  }

  // Completes trees by steps 2 and 3. Returns whether all are complete.
  bool complete(Observer& observer) {
    if (std::ranges::all_of(trees_, &Tree::complete)) return true;
    repair_all(observer);
    Completion<Capacity> completion(growth_, sets_, terminals_, order_, trees_);
    const bool complete = completion.run(observer);
    counters_.completion = completion.counters();
    for (Tree& tree : trees_) growth_.measure(tree);  // both steps move and cut off branches
    return complete;
  }

  // Repair

  void repair_all(Observer& observer) {
    Repair<Capacity> repair(growth_, trees_);
    std::int64_t failures = 0, successes = 0;
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
      bool progress = true;
      while (!trees_[tree].complete() && progress && failures <= kMostFailures + 2 * successes) {
        progress = false;
        for (const NodeIndex node : terminals_) {
          observer.pulse();
          if (trees_[tree].reaches(node)) continue;
          if (failures > kMostFailures + 2 * successes) break;
          const bool reached = repair.reach(tree, node);
          ++(reached ? successes : failures);
          progress = progress || reached;
        }
      }
    }
    counters_.repaired = successes;
    counters_.given_up = failures;
  }

  void take_out_incomplete() {
    const auto incomplete =
        std::stable_partition(trees_.begin(), trees_.end(), [](const Tree& tree) { return tree.complete(); });
    for (auto tree = incomplete; tree != trees_.end(); ++tree) {
      growth_.uproot(*tree);
      remaining_[index(tree->root)] += tree->multiplicity;
    }
    trees_.erase(incomplete, trees_.end());
  }

  // The last step, which cannot fail.
  void prove_rest(Observer& observer) {
    std::vector<Capacity> missing;
    for (const NodeIndex root : terminals_) missing.push_back(remaining_[index(root)]);
    const Problem<Capacity> rest(network_, terminals_, std::move(missing));
    auto logical = Proven<Capacity>::remove_switches(rest, 1, observer);
    const auto batches = Proven<Capacity>::pack_trees(rest, logical, 1, observer).batches;
    const auto [routed, paths] = Proven<Capacity>::route_trees(rest, std::move(logical), batches, observer);
    for (std::size_t tree = 0; tree < routed.roots.size(); ++tree) {
      Tree proven = growth_.plant(routed.roots[tree], routed.multiplicities[tree]);
      for (std::size_t edge = 0; edge + 1 < terminals_.size(); ++edge) {
        const std::size_t path = index(routed.paths[tree * (terminals_.size() - 1) + edge]);
        const std::span<const NodeIndex> nodes(paths.nodes.get() + paths.starts[path],
                                               index(paths.starts[path + 1] - paths.starts[path]));
        proven.add(nodes.back(), growth_.paths().add(arcs_along(nodes)));
      }
      trees_.push_back(std::move(proven));
      ++counters_.proven;
    }
  }

  std::vector<ArcIndex> arcs_along(std::span<const NodeIndex> nodes) const {
    std::vector<ArcIndex> arcs;
    for (std::size_t step = 0; step + 1 < nodes.size(); ++step) {
      const auto& out = network_.out(nodes[step]);
      arcs.push_back(
          *std::find_if(out.begin(), out.end(), [&](ArcIndex arc) { return network_.head(arc) == nodes[step + 1]; }));
    }
    return arcs;
  }

  static constexpr std::int64_t kMostFailures = 200;
  static constexpr std::size_t kTreesAtOnce = 256, kBlocksAtOnce = 16;  // whose memory is given back together

  const Network<Capacity>& whole_;
  Network<Capacity> network_;  // capacities are what is left
  const std::vector<NodeIndex>& terminals_;
  std::vector<Capacity> remaining_;  // for each root, the number of its trees that are not in `trees_`
  TightSets<Capacity> sets_;
  Growth<Capacity> growth_;
  std::vector<NodeIndex> order_;
  std::vector<Tree> trees_;
  PathNumbers path_numbers_;
  std::vector<std::uint32_t> arcs_;  // of each prefix of paths, when all trees are finished
  ForestCounters counters_;
};

}  // namespace forestcoll
