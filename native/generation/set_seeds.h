// Natural candidates for tight sets: nodes joined by links of at least some capacity, nodes that depend on one switch,
// and the parts into which the network falls without its highest switches, or without those with most neighbours.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "flow/network.h"
#include "generation/clusters.h"
#include "generation/crowding.h"
#include "generation/levels.h"
#include "generation/orbits.h"
#include "generation/tight_sets.h"

namespace forestcoll {

template <class Capacity>
class SetSeeds {
 public:
  // With `orbits`, sets that are mapped to each other share their slack; `supplies` are still those of all roots.
  SetSeeds(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals,
           const std::vector<Capacity>& supplies, const Orbits* orbits = nullptr)
      : network_(network), supplies_(supplies), orbits_(orbits), is_terminal_(marked(network, terminals)),
        terminals_(terminals.size()), levels_(network, is_terminal_), clusters_(network.nodes()),
        crowding_(is_terminal_) {
    for (const NodeIndex terminal : terminals) total_ += supplies[index(terminal)];
    for (NodeIndex node = 0; node < network.nodes(); ++node) all_nodes_.toggle(node);
  }

  SetSeeds(const SetSeeds&) = delete;
  SetSeeds& operator=(const SetSeeds&) = delete;

  // Adds the candidates and their complements. Returns the least care that the first attempt to grow trees needs.
  Care plant(TightSets<Capacity>& sets) {
    gather_hanging();
    add_clusters(sets);
    clusters_.start_over();
    join_from_strongest(sets);
    clusters_.start_over();
    gather_hanging();
    join_from_strongest(sets);
    part_at_levels(sets);
    part_at_hubs(sets);
    return crowding_.find(sets) ? Care::kCluster : Care::kTight;
  }

 private:
  using Cluster = typename Crowding<Capacity>::Cluster;
  using Terms = typename TightSets<Capacity>::Terms;

  // The numbers under which a cluster and its complement were added.
  struct Pair {
    SetIndex set, complement;
  };

  static std::size_t index(NodeIndex node) { return static_cast<std::size_t>(node); }

  static std::vector<char> marked(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals) {
    std::vector<char> is_terminal(index(network.nodes()));
    for (const NodeIndex terminal : terminals) is_terminal[index(terminal)] = true;
    return is_terminal;
  }

  // Partitions

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
      if (single && neighbour >= 0) clusters_.join(node, neighbour);
    }
  }

  // Adds the nodes joined by arcs of at least the greatest capacity, then of at least the second greatest, and so on.
  void join_from_strongest(TightSets<Capacity>& sets) {
    std::set<Capacity, std::greater<>> thresholds;
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) thresholds.insert(network_.capacity(arc));
    std::size_t tried = 0;
    for (const Capacity threshold : thresholds) {
      if (++tried > kMostPartitions) break;
      clusters_.join_ends(network_, [&](ArcIndex arc) { return network_.capacity(arc) >= threshold; });
      add_clusters(sets);
    }
  }

  // Adds the parts that remain without the switches of a certain level and of higher levels. If links between switches
  // are faster than links to compute nodes, only this step finds the pods.
  void part_at_levels(TightSets<Capacity>& sets) {
    for (NodeIndex removed = levels_.highest(); removed > 1; --removed) {
      add_parts(sets, [&](NodeIndex node) { return levels_.of(node) < removed; });
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
      if (++tried > kMostPartitions) break;
      for (const bool alone : {false, true}) {
        add_parts(sets, [&](NodeIndex node) {
          const std::size_t own = network_.in(node).size();
          return is_terminal_[index(node)] || own < size || (alone && own > size);
        });
      }
    }
  }

  // Adds the parts that remain when only the nodes for which `stays` holds are kept.
  template <class Stays>
  void add_parts(TightSets<Capacity>& sets, Stays stays) {
    clusters_.start_over();
    clusters_.join_ends(network_, [&](ArcIndex arc) { return stays(network_.tail(arc)) && stays(network_.head(arc)); });
    add_clusters(sets);
  }

  // Sets of a partition

  void add_clusters(TightSets<Capacity>& sets) {
    const std::vector<NodeIndex> labels = clusters_.labels();
    std::vector<std::vector<NodeIndex>> clusters(labels.size());
    for (NodeIndex node = 0; node < network_.nodes(); ++node) clusters[index(labels[index(node)])].push_back(node);
    const std::vector<char> whole = levels_.whole_clusters(network_, labels);
    const SetIndex before = sets.size();
    const std::int32_t table = sets.add_table(labels);
    std::vector<Cluster> judged;
    set_of_.assign(clusters.size(), {sets.kNoSet, sets.kNoSet});
    for (auto& nodes : clusters) {
      if (nodes.size() > 1) add_cluster(std::move(nodes), labels, table, whole, judged, sets);
    }
    if (sets.size() == before) sets.drop_table();
    crowding_.add_partition(std::move(judged));
    if (orbits_ == nullptr) return;
    share_slack(sets, &Pair::set);
    share_slack(sets, &Pair::complement);
  }

  // Adds the cluster and its complement. A cluster that is new and whole is also added to `judged`.
  void add_cluster(std::vector<NodeIndex> nodes, const std::vector<NodeIndex>& labels, std::int32_t table,
                   const std::vector<char>& whole, std::vector<Cluster>& judged, TightSets<Capacity>& sets) {
    const NodeIndex label = nodes.front();
    Capacity supply = 0;
    std::size_t terminals = 0;
    SetHash hash;
    for (const NodeIndex node : nodes) {
      supply += supplies_[index(node)];
      terminals += static_cast<std::size_t>(is_terminal_[index(node)]);
      hash.toggle(node);
    }
    if (terminals == 0 || terminals == terminals_) return;
    Pair& added = set_of_[index(label)];
    if (supply < total_) {
      const Capacity demand = total_ - supply;
      const Terms terms = terms_of(border(nodes, labels, true), demand, true, whole[index(label)]);
      added.set = sets.add({table, label, false}, hash, terms);
      if (added.set != sets.kNoSet && whole[index(label)]) {
        judged.push_back({added.set, nodes, terms.slack + demand, demand, terms.care});
      }
    }
    if (supply > 0) {
      added.complement = sets.add({table, label, true}, hash ^ all_nodes_,
                                  terms_of(border(nodes, labels, false), supply, false, false));
    }
  }

  // The arcs into the cluster, or out of it.
  std::vector<ArcIndex> border(const std::vector<NodeIndex>& nodes, const std::vector<NodeIndex>& labels,
                               bool into) const {
    std::vector<ArcIndex> found;
    for (const NodeIndex node : nodes) {
      for (const ArcIndex arc : into ? network_.in(node) : network_.out(node)) {
        const NodeIndex other = into ? network_.tail(arc) : network_.head(arc);
        if (labels[index(other)] != labels[index(node)]) found.push_back(arc);
      }
    }
    return found;
  }

  Terms terms_of(std::vector<ArcIndex> entering, Capacity demand, bool is_cluster, bool is_whole) const {
    Capacity capacity = 0;
    for (const ArcIndex arc : entering) capacity += network_.capacity(arc);
    return {std::move(entering), capacity - demand, care_for(capacity, demand, is_cluster, is_whole)};
  }

  static Care care_for(Capacity entering, Capacity demand, bool is_cluster, bool is_whole) {
    if (entering - demand <= entering / 4) return Care::kTight;
    if (!is_cluster) return Care::kNone;
    return is_whole && demand >= entering / 4 ? Care::kCluster : Care::kAmpleCluster;
  }

  // Sets that shifts map to each other share one slack, which counts entries by base trees.
  void share_slack(TightSets<Capacity>& sets, SetIndex Pair::* which) {
    std::vector<std::size_t> orbit;
    std::vector<bool> seen(set_of_.size());
    for (std::size_t start = 0; start < set_of_.size(); ++start) {
      if (seen[start] || set_of_[start].*which == sets.kNoSet) continue;
      seen[start] = true;
      orbit.assign(1, start);
      for (std::size_t next = 0; next < orbit.size(); ++next) {
        for (const auto& image : orbits_->images) {
          const std::size_t met = index(clusters_.of(image[orbit[next]]));
          if (!seen[met]) orbit.push_back(met);
          seen[met] = true;
        }
      }
      const SetIndex first = set_of_[start].*which;
      const Capacity slack = orbits_->by_base_trees(sets.slack(first), static_cast<std::int64_t>(orbit.size()));
      for (const std::size_t place : orbit) {
        if (set_of_[place].*which != sets.kNoSet) sets.share_slack(set_of_[place].*which, first, slack);
      }
    }
  }

  static constexpr std::size_t kMostPartitions = 16;  // of each kind

  const Network<Capacity>& network_;
  const std::vector<Capacity>& supplies_;  // for each node, the number of trees rooted there
  const Orbits* orbits_;
  std::vector<char> is_terminal_;
  std::size_t terminals_;
  Capacity total_ = 0;
  Levels levels_;
  Clusters clusters_;
  Crowding<Capacity> crowding_;
  SetHash all_nodes_;
  std::vector<Pair> set_of_;  // for each cluster by its first node, the numbers of its sets
};

}  // namespace forestcoll
