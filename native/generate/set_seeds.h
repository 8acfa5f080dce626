// Natural candidates for tight sets: nodes joined by links of at least some capacity, nodes that depend on one switch,
// and the parts into which the network falls without its hubs.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "flow/network.h"
#include "generate/orbits.h"
#include "generate/tight_sets.h"

namespace forestcoll {

template <class Capacity>
class SetSeeds {
 public:
  // With `orbits`, sets that are mapped to each other share their slack; `supplies` are still those of all roots.
  SetSeeds(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals,
           const std::vector<Capacity>& supplies, const Orbits* orbits = nullptr)
      : network_(network), supplies_(supplies), orbits_(orbits), cluster_(index(network.nodes())),
        is_terminal_(index(network.nodes())) {
    for (const NodeIndex terminal : terminals) {
      is_terminal_[index(terminal)] = true;
      ++terminals_;
      total_ += supplies[index(terminal)];
    }
  }

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
  // The number under which a cluster was added.
  struct Pair {
    SetIndex set, complement;
  };

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

  // The parts that remain without the switches that have a certain number of neighbours, alone or with all larger ones.
  void part_at_hubs(TightSets<Capacity>& sets) {
    std::set<std::size_t, std::greater<>> sizes;
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      if (!is_terminal_[index(node)]) sizes.insert(network_.in(node).size());
    }
    std::size_t tried = 0;
    for (const std::size_t size : sizes) {
      if (++tried > kMostThresholds) break;
      for (const bool alone : {false, true}) {
        const auto stays = [&](NodeIndex node) {
          const std::size_t own = network_.in(node).size();
          return is_terminal_[index(node)] || own < size || (alone && own > size);
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
    set_of_.assign(clusters.size(), {sets.kNoSet, sets.kNoSet});
    for (NodeIndex node = 0; node < network_.nodes(); ++node) clusters[index(cluster(node))].push_back(node);
    for (const auto& nodes : clusters) {
      if (nodes.size() < 2) continue;
      std::vector<bool> members(index(network_.nodes()));
      Capacity supply = 0;
      std::size_t terminals = 0;
      for (const NodeIndex node : nodes) {
        members[index(node)] = true;
        supply += supplies_[index(node)];
        terminals += is_terminal_[index(node)];
      }
      if (terminals == 0 || terminals == terminals_) continue;
      const std::vector<ArcIndex> into = border(nodes, members, true), out_of = border(nodes, members, false);
      const SetIndex set = supply < total_ ? consider(members, into, total_ - supply, true, sets) : sets.kNoSet;
      members.flip();
      const SetIndex complement = supply > 0 ? consider(members, out_of, supply, false, sets) : sets.kNoSet;
      set_of_[index(nodes.front())] = {set, complement};
    }
    if (orbits_ == nullptr) return;
    share_slack(sets, &Pair::set);
    share_slack(sets, &Pair::complement);
  }

  // Sets that shifts map to each other share one slack: that of the first set, which all elements of the group that
  // keep it in place use equally.
  void share_slack(TightSets<Capacity>& sets, SetIndex Pair::* which) {
    std::vector<std::size_t> orbit;
    std::vector<bool> seen(set_of_.size());
    for (std::size_t start = 0; start < set_of_.size(); ++start) {
      if (seen[start] || set_of_[start].*which == sets.kNoSet) continue;
      seen[start] = true;
      orbit.assign(1, start);
      for (std::size_t next = 0; next < orbit.size(); ++next) {
        for (const auto& image : orbits_->images) {
          const std::size_t met = index(cluster(image[orbit[next]]));
          if (!seen[met]) orbit.push_back(met);
          seen[met] = true;
        }
      }
      const SetIndex first = set_of_[start].*which;
      const Capacity slack =
          sets.slack(first) / static_cast<Capacity>(orbits_->order / static_cast<std::int64_t>(orbit.size()));
      for (const std::size_t place : orbit) {
        if (set_of_[place].*which != sets.kNoSet) sets.share_slack(set_of_[place].*which, first, slack);
      }
    }
  }

  // The arcs into the cluster, or out of it.
  std::vector<ArcIndex> border(const std::vector<NodeIndex>& nodes, const std::vector<bool>& members, bool into) const {
    std::vector<ArcIndex> found;
    for (const NodeIndex node : nodes) {
      for (const ArcIndex arc : into ? network_.in(node) : network_.out(node)) {
        if (!members[index(into ? network_.tail(arc) : network_.head(arc))]) found.push_back(arc);
      }
    }
    return found;
  }

  SetIndex consider(const std::vector<bool>& members, const std::vector<ArcIndex>& entering, Capacity demand,
                    bool is_cluster, TightSets<Capacity>& sets) {
    Capacity capacity = 0;
    for (const ArcIndex arc : entering) capacity += network_.capacity(arc);
    return sets.add(members, entering, capacity - demand, care_for(capacity, demand, is_cluster));
  }

  static Care care_for(Capacity entering, Capacity demand, bool is_cluster) {
    if (entering - demand <= entering / 4) return Care::kTight;
    if (!is_cluster) return Care::kNone;
    return demand >= entering / 4 ? Care::kCluster : Care::kAmpleCluster;
  }

  static constexpr std::size_t kMostThresholds = 16;

  static std::size_t index(NodeIndex node) { return static_cast<std::size_t>(node); }

  const Network<Capacity>& network_;
  const std::vector<Capacity>& supplies_;  // for each node, the number of trees rooted there
  const Orbits* orbits_;
  Capacity total_ = 0;
  std::vector<NodeIndex> cluster_;
  std::vector<char> is_terminal_;
  std::size_t terminals_ = 0;
  std::vector<Pair> set_of_;  // for each cluster by its first node, the numbers of its sets
};

}  // namespace forestcoll
