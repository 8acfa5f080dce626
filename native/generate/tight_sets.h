// Sets of nodes that trees may enter only so often.
//
// For a set X with a compute node, slack(X) = B-(X) - (trees whose root is outside X) must not fall below 0: each of
// those trees enters X at least once. A tree of multiplicity m that enters X beyond that, or although its root is
// inside, costs m of slack. Growing trees that respect the sets with little slack seldom end in a dead end. Which sets
// are kept never decides what is right, only what is tried first: completion checks against all sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

using SetIndex = std::int32_t;

// How near at hand it is to enter a set once only. Before trees spend slack, they spare the tight sets; if that does
// not do, clusters as well (nodes near each other), first those that have no more than four times what they need.
enum class Care : char { kTight, kCluster, kAmpleCluster, kNone };

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
    return spend || care_[static_cast<std::size_t>(set)] > care_taken_ ? slack(set) : 0;
  }
  // The sets up to this care are spared from now on.
  void take_care(Care care) { care_taken_ = care; }
  void pay(SetIndex set, Capacity amount) { slack_[static_cast<std::size_t>(set)] -= amount; }

  // Keeps the set given by `members`, unless it is kept already. True if it is new.
  bool add(const std::vector<bool>& members, Capacity slack, Care care) {
    if (full() || !known_.insert(members).second) return false;
    const SetIndex set = size();
    members_.push_back(members);
    slack_.push_back(slack);
    care_.push_back(care);
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      if (members[static_cast<std::size_t>(network_.head(arc))] &&
          !members[static_cast<std::size_t>(network_.tail(arc))]) {
        entered_[static_cast<std::size_t>(arc)].push_back(set);
      }
    }
    return true;
  }

  // The arcs are as free as at the start: of the slack, only the trees from `supplies` that must enter are taken.
  void start_over(const std::vector<NodeIndex>& terminals, const std::vector<Capacity>& supplies) {
    restart();
    for (SetIndex set = 0; set < size(); ++set) {
      for (const NodeIndex root : terminals) {
        if (!contains(set, root)) pay(set, supplies[static_cast<std::size_t>(root)]);
      }
    }
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
  std::vector<Care> care_;
  Care care_taken_ = Care::kTight;
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
    part_at_hubs(sets);
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

  // What falls apart when the switches of some number of neighbours are taken away, alone or with all larger ones.
  void part_at_hubs(TightSets<Capacity>& sets) {
    std::vector<char> is_terminal(index(network_.nodes()));
    for (const NodeIndex terminal : terminals_) is_terminal[index(terminal)] = true;
    std::set<std::size_t, std::greater<>> sizes;
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      if (!is_terminal[index(node)]) sizes.insert(network_.in(node).size());
    }
    std::size_t tried = 0;
    for (const std::size_t size : sizes) {
      if (++tried > kMostThresholds) break;
      for (const bool alone : {false, true}) {
        const auto stays = [&](NodeIndex node) {
          const std::size_t own = network_.in(node).size();
          return is_terminal[index(node)] || own < size || (alone && own > size);
        };
        std::iota(cluster_.begin(), cluster_.end(), 0);
        for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
          if (stays(network_.tail(arc)) && stays(network_.head(arc))) join(network_.tail(arc), network_.head(arc));
        }
        consider_clusters(sets);
      }
    }
  }

  void consider_clusters(TightSets<Capacity>& sets) {
    std::vector<std::vector<NodeIndex>> clusters(index(network_.nodes()));
    for (NodeIndex node = 0; node < network_.nodes(); ++node) clusters[index(cluster(node))].push_back(node);
    for (const auto& nodes : clusters) {
      if (nodes.size() < 2) continue;
      std::vector<bool> members(index(network_.nodes()));
      for (const NodeIndex node : nodes) members[index(node)] = true;
      consider(members, true, sets);
      members.flip();
      consider(members, false, sets);
    }
  }

  void consider(const std::vector<bool>& members, bool is_cluster, TightSets<Capacity>& sets) {
    Capacity demand = 0;
    bool has_terminal = false;
    for (const NodeIndex root : terminals_) {
      if (members[index(root)]) {
        has_terminal = true;
      } else {
        demand += remaining_[index(root)];
      }
    }
    if (!has_terminal || demand == 0) return;
    const Capacity entering = network_.entering([&](NodeIndex node) { return members[index(node)]; });
    sets.add(members, entering - demand, care_for(entering, demand, is_cluster));
  }

  static Care care_for(Capacity entering, Capacity demand, bool is_cluster) {
    if (entering - demand <= entering / 4) return Care::kTight;
    if (!is_cluster) return Care::kNone;
    return demand >= entering / 4 ? Care::kCluster : Care::kAmpleCluster;
  }

  static constexpr std::size_t kMostThresholds = 16;

  static std::size_t index(NodeIndex node) { return static_cast<std::size_t>(node); }

  const Network<Capacity>& network_;
  const std::vector<NodeIndex>& terminals_;
  const std::vector<Capacity>& remaining_;
  std::vector<NodeIndex> cluster_;
};

}  // namespace forestcoll
