// What the stages of generation return. The algorithms are in headers of their own, so that a change of one does not
// compile the others again.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <variant>
#include <vector>

#include "flow/network.h"
#include "generation/paths.h"

namespace forestcoll {

// The network without its switches.
template <class Capacity>
struct LogicalNetwork {
  Network<Capacity> network;            // only arcs between compute nodes have capacity
  std::vector<Stock<Capacity>> stocks;  // for each arc, the paths behind its capacity
  PathTable paths;
};

template <class Capacity>
struct TreeBatches {
  std::vector<NodeIndex> roots;
  std::vector<Capacity> multiplicities;
  std::vector<ArcIndex> arcs;  // for each batch N - 1 arcs, in the order in which the tree grew
};

struct PackingCounters {
  std::int64_t proposals = 0, refused = 0, grown_exactly = 0, learned_cuts = 0;
};

template <class Capacity>
struct RoutedTrees {
  std::vector<NodeIndex> roots;
  std::vector<Capacity> multiplicities;
  std::vector<PathIndex> paths;  // for each tree N - 1 paths, in the order in which data flows
};

using ShortNode = std::int16_t;  // the number of a node of a network with few nodes

// Whether the numbers of all nodes of a network fit into `ShortNode`.
inline bool has_short_numbers(NodeIndex nodes) { return nodes - 1 <= std::numeric_limits<ShortNode>::max(); }

template <class Node>
struct FlatPaths {
  std::vector<std::int32_t> starts;  // where each path begins, and the number of nodes of all paths
  std::unique_ptr<Node[]> nodes;     // of all paths, one after the other
};

// The paths of thousands of trees take most of the memory, so they have short numbers where these suffice.
using AnyFlatPaths = std::variant<FlatPaths<ShortNode>, FlatPaths<NodeIndex>>;

struct AttemptCounters {
  std::int64_t attempts = 0, short_sets = 0, split = 0;
};

struct CompletionCounters {
  std::int64_t cut_off = 0, inflows = 0, checks = 0, learned_sets = 0, completed = 0;
};

struct ForestCounters {
  std::int64_t tight_sets = 0, grown = 0, repaired = 0, given_up = 0, lowered = 0, proven = 0, missing = 0;
  AttemptCounters attempts;
  CompletionCounters completion;
};

// Parts of shards that cross links, as columns. Steps count from 0; lows and highs are indices into `points`.
template <class Capacity>
struct StepTransfers {
  std::vector<std::int32_t> steps, shards, sources, targets, lows, highs;
  std::vector<Capacity> numerators, denominators;  // of the points: distinct fractions of a shard
};

}  // namespace forestcoll
