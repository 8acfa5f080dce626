// Sets of nodes that trees may enter only so often.
//
// For a set X with a compute node, slack(X) = B-(X) - (trees whose root is outside X) must not fall below 0: each of
// those trees enters X at least once. A tree of multiplicity m that enters X beyond that, or although its root is
// inside, costs m of slack. Growing trees that respect the sets with little slack seldom end in a dead end. Which sets
// are kept never decides what is right, only what is tried first: completion checks against all sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

using SetIndex = std::int32_t;

template <class Capacity>
class TightSets {
 public:
  explicit TightSets(const Network<Capacity>& network)
      : network_(network), entered_(static_cast<std::size_t>(network.arcs())) {}

  SetIndex size() const { return static_cast<SetIndex>(slack_.size()); }
  bool full() const { return size() >= kMostSets; }
  const std::vector<SetIndex>& entered(ArcIndex arc) const { return entered_[static_cast<std::size_t>(arc)]; }
  bool contains(SetIndex set, NodeIndex node) const {
    return members_[static_cast<std::size_t>(set)][static_cast<std::size_t>(node)];
  }
  Capacity slack(SetIndex set) const { return slack_[static_cast<std::size_t>(set)]; }
  // How much of the slack a tree may take: before trees `spend`, only where there is plenty.
  Capacity spare(SetIndex set, bool spend) const {
    return spend || !tight_[static_cast<std::size_t>(set)] ? slack(set) : 0;
  }
  void pay(SetIndex set, Capacity amount) { slack_[static_cast<std::size_t>(set)] -= amount; }

  // Keeps the set given by `members`, unless it is kept already. True if it is new.
  bool add(const std::vector<bool>& members, Capacity slack, bool tight) {
    if (full() || !known_.insert(members).second) return false;
    const SetIndex set = size();
    members_.push_back(members);
    slack_.push_back(slack);
    tight_.push_back(tight);
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      if (members[static_cast<std::size_t>(network_.head(arc))] &&
          !members[static_cast<std::size_t>(network_.tail(arc))]) {
        entered_[static_cast<std::size_t>(arc)].push_back(set);
      }
    }
    return true;
  }

  // What all sets have left, to come back to.
  const std::vector<Capacity>& slacks() const { return slack_; }
  void set_slacks(const std::vector<Capacity>& slacks) { slack_ = slacks; }

  // Makes every slack what the arcs into the set have left, before any tree is counted.
  void restart() {
    std::fill(slack_.begin(), slack_.end(), 0);
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      for (const SetIndex set : entered(arc)) slack_[static_cast<std::size_t>(set)] += network_.capacity(arc);
    }
  }

 private:
  static constexpr SetIndex kMostSets = 1 << 14;

  const Network<Capacity>& network_;
  std::vector<std::vector<bool>> members_;
  std::vector<Capacity> slack_;
  std::vector<char> tight_;
  std::vector<std::vector<SetIndex>> entered_;  // of each arc, the sets that it leads into
  std::set<std::vector<bool>> known_;
};

// Finds natural candidates: what hangs together by links of at least some capacity, and what hangs on a switch.
template <class Capacity>
class SetSeeds {
 public:
  SetSeeds(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals,
           const std::vector<Capacity>& remaining)
      : network_(network), terminals_(terminals), remaining_(remaining),
        cluster_(static_cast<std::size_t>(network.nodes())) {}

  // Adds the candidates and their complements; those with little slack count as tight.
  void plant(TightSets<Capacity>& sets) {
    std::iota(cluster_.begin(), cluster_.end(), 0);
    gather_hanging();
    consider_clusters(sets);
    std::vector<Capacity> thresholds;
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) thresholds.push_back(network_.capacity(arc));
    std::sort(thresholds.begin(), thresholds.end(), std::greater<>());
    thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
    if (thresholds.size() > kMostThresholds) thresholds.resize(kMostThresholds);
    std::iota(cluster_.begin(), cluster_.end(), 0);
    join_from(thresholds, sets);
    std::iota(cluster_.begin(), cluster_.end(), 0);
    gather_hanging();
    join_from(thresholds, sets);
  }

 private:
  NodeIndex cluster(NodeIndex node) {
    auto place = static_cast<std::size_t>(node);
    while (cluster_[place] != static_cast<NodeIndex>(place)) {
      cluster_[place] = cluster_[static_cast<std::size_t>(cluster_[place])];
      place = static_cast<std::size_t>(cluster_[place]);
    }
    return static_cast<NodeIndex>(place);
  }
  void join(NodeIndex one, NodeIndex other) {
    const NodeIndex first = cluster(one), second = cluster(other);
    cluster_[static_cast<std::size_t>(std::max(first, second))] = std::min(first, second);
  }

  // A node with a single neighbour joins it.
  void gather_hanging() {
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      NodeIndex neighbour = -1;
      bool single = true;
      const auto meet = [&](NodeIndex other) {
        single = single && (neighbour < 0 || neighbour == other);
        neighbour = other;
      };
      for (const ArcIndex arc : network_.in(node)) meet(network_.tail(arc));
      for (const ArcIndex arc : network_.out(node)) meet(network_.head(arc));
      if (single && neighbour >= 0) join(node, neighbour);
    }
  }

  void join_from(const std::vector<Capacity>& thresholds, TightSets<Capacity>& sets) {
    for (const Capacity threshold : thresholds) {
      for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
        if (network_.capacity(arc) >= threshold) join(network_.tail(arc), network_.head(arc));
      }
      consider_clusters(sets);
    }
  }

  void consider_clusters(TightSets<Capacity>& sets) {
    std::vector<std::vector<NodeIndex>> clusters(static_cast<std::size_t>(network_.nodes()));
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      clusters[static_cast<std::size_t>(cluster(node))].push_back(node);
    }
    for (const auto& nodes : clusters) {
      if (nodes.size() < 2) continue;
      std::vector<bool> members(static_cast<std::size_t>(network_.nodes()));
      for (const NodeIndex node : nodes) members[static_cast<std::size_t>(node)] = true;
      consider(members, sets);
      members.flip();
      consider(members, sets);
    }
  }

  void consider(const std::vector<bool>& members, TightSets<Capacity>& sets) {
    Capacity demand = 0;
    bool has_terminal = false;
    for (const NodeIndex root : terminals_) {
      if (members[static_cast<std::size_t>(root)]) {
        has_terminal = true;
      } else {
        demand += remaining_[static_cast<std::size_t>(root)];
      }
    }
    if (!has_terminal || demand == 0) return;
    const Capacity entering =
        network_.entering([&](NodeIndex node) { return members[static_cast<std::size_t>(node)]; });
    sets.add(members, entering - demand, entering - demand <= entering / 4);
  }

  static constexpr std::size_t kMostThresholds = 16;

  const Network<Capacity>& network_;
  const std::vector<NodeIndex>& terminals_;
  const std::vector<Capacity>& remaining_;
  std::vector<NodeIndex> cluster_;
};

}  // namespace forestcoll
