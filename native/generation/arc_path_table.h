// Paths of arcs. A path is its last arc after a prefix, and each prefix is stored once and identified by its number.
//
// Many paths share their prefixes, because many compute nodes hang on the same switches. So trees of millions of edges
// have few prefixes, and to name a path rarely needs a search in a table.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "flow/network.h"
#include "generation/continuations.h"

namespace forestcoll {

using PrefixNumber = std::int32_t;

// A path with at least one arc. Equal paths have equal members.
struct ArcPath {
  PrefixNumber prefix = -1;
  ArcIndex last = -1;
};

class ArcPathTable {
 public:
  template <class Capacity>
  explicit ArcPathTable(const Network<Capacity>& network)
      : nodes_(network.nodes()), continuations_(network), cached_(static_cast<std::size_t>(network.nodes())) {
    for (NodeIndex node = 0; node < network.nodes(); ++node) prefixes_.push_back({node, -1, -1});
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      prefixes_.push_back({network.tail(arc), network.tail(arc), arc});
      heads_.push_back(network.head(arc));
    }
  }

  // The path, whose prefixes are added if they are new.
  ArcPath add(std::span<const ArcIndex> arcs) {
    PrefixNumber prefix = prefixes_[index(nodes_ + arcs.front())].rest;  // the empty prefix
    for (const ArcIndex arc : arcs.first(arcs.size() - 1)) prefix = longer(prefix, arc);
    return {prefix, arcs.back()};
  }

  // Frees the memory that only new prefixes need; no path may be added after this.
  void close() { continuations_.clear(); }

  // The node where the path begins.
  NodeIndex from(ArcPath path) const { return prefixes_[index(path.prefix)].from; }

  // Calls `use(arc)` for each arc of the path, the last one first.
  template <class Use>
  void for_each_arc(ArcPath path, Use use) const {
    use(path.last);
    for (PrefixNumber prefix = path.prefix; prefix >= nodes_; prefix = prefixes_[index(prefix)].rest) {
      use(prefixes_[index(prefix)].arc);
    }
  }

  // For each prefix, the sum of `value(arc)` over its arcs.
  template <class Sum, class Value>
  std::vector<Sum> sums(Value value) const {
    std::vector<Sum> found(prefixes_.size());
    for (std::size_t prefix = index(nodes_); prefix < prefixes_.size(); ++prefix) {
      found[prefix] = found[index(prefixes_[prefix].rest)] + value(prefixes_[prefix].arc);
    }
    return found;
  }

  PrefixNumber prefixes() const { return static_cast<PrefixNumber>(prefixes_.size()); }

 private:
  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  // First come the empty prefixes, each with the number of its node, and then those of one arc, in the order of arcs.
  // The rest of a prefix, which is the prefix without its last arc, has a smaller number.
  struct Prefix {
    NodeIndex from;
    PrefixNumber rest;
    ArcIndex arc;
  };

  PrefixNumber longer(PrefixNumber rest, ArcIndex arc) {
    if (rest < nodes_) return nodes_ + arc;
    // Consecutive paths through a node often have the same prefix there.
    Cached& cached = cached_[index(heads_[index(arc)])];
    if (cached.rest != rest || cached.arc != arc) {
      cached = {rest, arc, continuations_.add(rest, arc, prefixes())};
      if (cached.number == prefixes()) prefixes_.push_back({prefixes_[index(rest)].from, rest, arc});
    }
    return cached.number;
  }

  // The prefix `number`, which is `rest` and then `arc`.
  struct Cached {
    PrefixNumber rest = -1;
    ArcIndex arc = -1;
    PrefixNumber number = -1;
  };

  PrefixNumber nodes_;
  std::vector<NodeIndex> heads_;  // for an arc
  std::vector<Prefix> prefixes_;
  Continuations continuations_;
  std::vector<Cached> cached_;  // for each node, the prefix by which it was entered last
};

}  // namespace forestcoll
