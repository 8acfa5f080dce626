// The stages of the core, as the bindings call them. Each class is defined in a file of its own, which is compiled once
// for each width of capacities, so that a change of an algorithm compiles only its own stage again.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "bounds/results.h"
#include "flow/observer.h"
#include "generation/orbits.h"
#include "generation/results.h"
#include "greedy/chunk_taking.h"
#include "greedy/shallow_trees.h"
#include "greedy/taking_turns.h"
#include "stages/problem.h"

namespace forestcoll {

template <class Capacity>
struct Bounds {  // bounds.cpp
  static Bottleneck<Capacity> bottleneck(const Problem<Capacity>& problem, Observer& observer);

  // Whether every compute node can receive `supply` times its weight from each.
  static bool supply_reaches_all(const Problem<Capacity>& problem, Capacity supply, Observer& observer);

  static AllToAllSpread spread_all_to_all(const Problem<Capacity>& problem, std::int64_t rounds, double gap,
                                          Observer& observer);

  static Capacity distance_sum(const Problem<Capacity>& problem, const std::vector<Capacity>& lengths,
                               Observer& observer);
};

// The proven method.
template <class Capacity>
struct Packed {
  TreeBatches<Capacity> batches;
  PackingCounters counters;
};

template <class Capacity>
struct Routed {
  RoutedTrees<Capacity> trees;
  FlatPaths<NodeIndex> paths;
};

template <class Capacity>
struct Proven {  // proven.cpp
  static LogicalNetwork<Capacity> remove_switches(const Problem<Capacity>& problem, Capacity supply,
                                                  Observer& observer);

  // What can be split off along `way`, three nodes: gamma of Theorem 6, but at most `amount`.
  static Capacity split_capacity(const Problem<Capacity>& problem, Capacity supply, std::array<NodeIndex, 3> way,
                                 Capacity amount, Observer& observer);

  static Packed<Capacity> pack_trees(const Problem<Capacity>& problem, const LogicalNetwork<Capacity>& logical,
                                     Capacity supply, Observer& observer);

  // Mu of Theorem 10, where every other tree is still a lone root.
  static Capacity tree_capacity(const Problem<Capacity>& problem, const std::vector<Capacity>& remaining, ArcIndex arc,
                                Capacity multiplicity);

  static Routed<Capacity> route_trees(const Problem<Capacity>& problem, LogicalNetwork<Capacity> logical,
                                      const TreeBatches<Capacity>& batches, Observer& observer);
};

// The fast method.
template <class Capacity>
struct Grown {
  RoutedTrees<Capacity> trees;
  AnyFlatPaths paths;
  ForestCounters counters;
};

template <class Capacity>
struct Fast {  // fast.cpp
  static Grown<Capacity> grow_trees(const Problem<Capacity>& problem, Capacity supply, bool prove, Observer& observer);

  // Trees of one root of each orbit; the other trees are images of these.
  static Grown<Capacity> grow_base_trees(const Problem<Capacity>& problem, Capacity supply, const Orbits& orbits,
                                         Observer& observer);
};

template <class Capacity>
struct Steps {  // steps.cpp
  static StepTransfers<Capacity> broadcast_breadth_first(const Problem<Capacity>& problem, Capacity demand,
                                                         const std::vector<Capacity>& latencies, Capacity chunks,
                                                         const IntList& targets, Observer& observer);
};

// Algorithms that are compared with the optimum, and trees of bounded height.
template <class Capacity>
struct Greedy {  // greedy.cpp
  static TakenChunks<Capacity> take_chunks(const ChunkPaths<Capacity>& paths, std::int32_t chunks, std::uint32_t seed,
                                           Observer& observer);

  static std::optional<TurnPaths> take_turns(const TurnLinks<Capacity>& links, IntList members, TurnRule rule,
                                             Observer& observer);

  static ShallowForest grow_shallow(const ShallowSends<Capacity>& sends, const IntList& roots, std::int32_t more,
                                    std::int32_t height, std::int32_t passes, Observer& observer);
};

}  // namespace forestcoll
