// Breadth-first broadcast from every node (BFB, §6 of "Efficient Direct-Connect Topologies"): at step t, each node
// receives the shards of all nodes at distance t, over links from nodes at distance t - 1, which have the whole shards.
//
// The data that a node receives at a step is a separate problem, whose optimum `LinkBalance` finds. The greatest time
// of any node is the time of the step, and no other breadth-first schedule is faster (Theorem 16).
//
// Cost: distances from all nodes to the receiving nodes and their neighbours, O(N E) time and 2 N^2 bytes if all nodes
// receive. Then every shard is visited once for each node and each link that enters the node.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "flow/network.h"
#include "flow/observer.h"
#include "generation/link_balance.h"
#include "generation/results.h"

namespace forestcoll {

template <class Capacity>
class BreadthFirstBroadcast {
 public:
  // A capacity of `network` is a rate: a shard takes `demand` / rate over a link, in addition to the latency of the
  // link.
  BreadthFirstBroadcast(const Network<Capacity>& network, const std::vector<Capacity>& latencies, Capacity demand,
                        Capacity chunks)
      : network_(network), latencies_(latencies), demand_(demand), chunks_(chunks) {
    if (latencies.size() != index(network.arcs())) throw std::invalid_argument("latencies must have one entry per arc");
    if (demand <= 0) throw std::invalid_argument("demand must be greater than 0");
    if (chunks < 0) throw std::invalid_argument("chunks must be 0 or more");
    for (ArcIndex arc = 0; arc < network.arcs(); ++arc) {
      if (network.capacity(arc) <= 0) throw std::invalid_argument("a rate must be greater than 0");
      if (latencies[index(arc)] < 0) throw std::invalid_argument("a latency is negative");
    }
    point(0, 1);
    point(1, 1);
  }

  // Returns what the `targets` receive. Throws std::invalid_argument if some node cannot reach one of them.
  StepTransfers<Capacity> run(const std::vector<NodeIndex>& targets, Observer& observer) {
    find_distances(targets, observer);
    std::int64_t done = 0;
    for (const NodeIndex target : targets) {
      observer.advance(done++, static_cast<std::int64_t>(targets.size()));
      receive(target, observer);
    }
    return std::move(transfers_);
  }

 private:
  using Distance = std::uint16_t;
  static constexpr Distance unreached = std::numeric_limits<Distance>::max();

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }
  const Distance* distances_to(NodeIndex target) const {
    return distances_.data() + rows_[index(target)] * index(network_.nodes());
  }

  // Finds the distances of all nodes to each of `targets` and to their neighbours.
  void find_distances(const std::vector<NodeIndex>& targets, Observer& observer) {
    const std::size_t nodes = index(network_.nodes());
    std::vector<bool> is_needed(nodes);
    for (const NodeIndex target : targets) {
      network_.require_node(target);
      is_needed[index(target)] = true;
      for (const ArcIndex arc : network_.in(target)) is_needed[index(network_.tail(arc))] = true;
    }
    rows_.assign(nodes, 0);
    std::size_t rows = 0;
    for (std::size_t node = 0; node < nodes; ++node) rows_[node] = is_needed[node] ? rows++ : 0;
    distances_.assign(rows * nodes, unreached);
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      observer.pulse();
      if (is_needed[index(node)]) find_distances_to(node);
    }
  }

  void find_distances_to(NodeIndex target) {
    Distance* to = distances_.data() + rows_[index(target)] * index(network_.nodes());
    queue_.assign(1, target);
    to[target] = 0;
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const Distance beyond = static_cast<Distance>(to[queue_[next]] + 1);
      for (const ArcIndex arc : network_.in(queue_[next])) {
        const NodeIndex node = network_.tail(arc);
        if (to[node] != unreached) continue;
        if (beyond == unreached) throw std::length_error("a distance is too great");
        to[node] = beyond;
        queue_.push_back(node);
      }
    }
    if (queue_.size() < index(network_.nodes())) throw std::invalid_argument("some node cannot reach some other");
  }

  // Appends everything that `target` receives.
  void receive(NodeIndex target, Observer& observer) {
    const auto& arcs = network_.in(target);
    std::vector<BalancedLink<Capacity>> links;
    for (const ArcIndex arc : arcs) links.push_back({network_.capacity(arc), latencies_[index(arc)]});
    const Distance* to = distances_to(target);
    std::vector<std::vector<NodeIndex>> rings;
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      if (rings.size() <= to[node]) rings.resize(to[node] + std::size_t{1});
      rings[to[node]].push_back(node);
    }
    LinkBalance<Capacity> balance(links, demand_, chunks_);
    for (std::size_t step = 1; step < rings.size(); ++step) {
      observer.pulse();
      if (step == 1) {
        classify_neighbours(target);
      } else {
        classify(target, static_cast<Distance>(step), rings[step]);
      }
      balance.run(classes_);
      append(target, static_cast<std::int32_t>(step - 1), balance);
    }
  }

  // Puts each neighbour into a separate class: only the links from it can bring its shard.
  void classify_neighbours(NodeIndex target) {
    const auto& arcs = network_.in(target);
    std::map<NodeIndex, std::vector<std::int32_t>> links_from;
    for (std::size_t link = 0; link < arcs.size(); ++link) {
      links_from[network_.tail(arcs[link])].push_back(static_cast<std::int32_t>(link));
    }
    classes_.clear();
    for (auto& [neighbour, links] : links_from) classes_.push_back({std::move(links), {neighbour}});
  }

  // Puts the nodes at distance `step` from `target` into classes by the links that can bring their shards.
  void classify(NodeIndex target, Distance step, const std::vector<NodeIndex>& ring) {
    const auto& arcs = network_.in(target);
    std::map<std::vector<std::int32_t>, std::size_t> known;
    classes_.clear();
    std::vector<std::int32_t> links;
    for (const NodeIndex shard : ring) {
      links.clear();
      for (std::size_t link = 0; link < arcs.size(); ++link) {
        if (distances_to(network_.tail(arcs[link]))[shard] + 1 == step)
          links.push_back(static_cast<std::int32_t>(link));
      }
      const auto [found, is_new] = known.try_emplace(links, classes_.size());
      if (is_new) classes_.push_back({links, {}});
      classes_[found->second].shards.push_back(shard);
    }
  }

  // Divides the flows of each class among its shards: shards form a sequence, and consecutive flows cover it.
  void append(NodeIndex target, std::int32_t step, const LinkBalance<Capacity>& balance) {
    const Capacity whole = balance.parts();
    std::size_t shard_class = classes_.size(), shard = 0;
    Capacity low = 0;
    for (const auto& flow : balance.flows()) {
      if (flow.shard_class != shard_class) {
        shard_class = flow.shard_class;
        shard = 0;
        low = 0;
      }
      const NodeIndex source = network_.tail(network_.in(target)[index(flow.link)]);
      for (Capacity left = flow.amount; left > 0;) {
        const Capacity high = std::min<Capacity>(whole, low + left);
        add(step, classes_[shard_class].shards[shard], source, target, point(low, whole), point(high, whole));
        left -= high - low;
        low = high == whole ? 0 : high;
        if (high == whole) ++shard;
      }
    }
  }

  void add(std::int32_t step, NodeIndex shard, NodeIndex source, NodeIndex target, std::int32_t low,
           std::int32_t high) {
    transfers_.steps.push_back(step);
    transfers_.shards.push_back(shard);
    transfers_.sources.push_back(source);
    transfers_.targets.push_back(target);
    transfers_.lows.push_back(low);
    transfers_.highs.push_back(high);
  }

  // The index of a fraction among the points; 0 and 1 have the indices 0 and 1.
  std::int32_t point(Capacity numerator, Capacity denominator) {
    if (numerator == 0 && !places_.empty()) return 0;
    if (numerator == denominator && places_.size() > 1) return 1;
    const Capacity common = greatest_common_divisor(numerator, denominator);
    const auto fraction = std::pair(Capacity{numerator / common}, Capacity{denominator / common});
    const auto [found, is_new] = places_.try_emplace(fraction, static_cast<std::int32_t>(places_.size()));
    if (is_new) {
      transfers_.numerators.push_back(fraction.first);
      transfers_.denominators.push_back(fraction.second);
    }
    return found->second;
  }

  const Network<Capacity>& network_;
  const std::vector<Capacity>& latencies_;
  Capacity demand_, chunks_;
  std::vector<std::size_t> rows_;    // for each node that is needed, its row of distances
  std::vector<Distance> distances_;  // row by target, column by node
  std::vector<NodeIndex> queue_;
  std::vector<ShardClass> classes_;
  std::map<std::pair<Capacity, Capacity>, std::int32_t> places_;
  StepTransfers<Capacity> transfers_;
};

}  // namespace forestcoll
