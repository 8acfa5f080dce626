// The throughput bottleneck cut, by Newton's method on cuts (ForestColl §4, §5.2; here without bisection).
//
// Computes the greatest p/q = w(S) / B+(S) over sets S that miss a compute node, where w adds up the weights of the
// compute nodes inside S, that is, their shards. Start from the best cut of the form "all but one compute node", which
// is a lower bound. Ask every compute node whether it can be fed at this ratio. The minimum cut of a shortfall has a
// greater ratio, which becomes the new one. A node that is fed stays fed until the ratio grows. All numbers are
// integers: the capacities are b * p, and a compute node of weight w supplies q * w.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "bounds/results.h"
#include "bounds/supply_reaches_all.h"

namespace forestcoll {

template <class Capacity>
class BottleneckSearch {
 public:
  // `weights` has one for every node, 0 for switches.
  BottleneckSearch(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals,
                   std::vector<Capacity> weights)
      : network_(network), terminals_(terminals), weights_(std::move(weights)), scaled_(network), max_flow_(scaled_),
        is_terminal_(static_cast<std::size_t>(network.nodes())) {
    for (const NodeIndex terminal : terminals) {
      is_terminal_[static_cast<std::size_t>(terminal)] = true;
      total_ = checked_add(total_, weight(terminal));
    }
  }

  Bottleneck<Capacity> run(Observer& observer) {
    start();
    const auto order = breadth_first(network_, terminals_.front(), [&](NodeIndex v) { return is_terminal(v); });
    const auto needed = [&] { return checked_multiply(total_, supply_); };
    const auto on_shortfall = [&](Capacity) {
      std::vector<NodeIndex> inside;
      for (NodeIndex node = 0; node < network_.nodes(); ++node) {
        if (!max_flow_.on_sink_side(node)) inside.push_back(node);
      }
      take(std::move(inside), network_.entering([&](NodeIndex node) { return max_flow_.on_sink_side(node); }));
      return true;
    };
    supply_all<Capacity>(max_flow_, order, needed, on_shortfall, observer);
    return best_;
  }

 private:
  bool is_terminal(NodeIndex node) const { return is_terminal_[static_cast<std::size_t>(node)]; }
  Capacity weight(NodeIndex node) const { return weights_[static_cast<std::size_t>(node)]; }

  // All compute nodes except the terminal into which the least capacity leads hold some of the data.
  void start() {
    NodeIndex least = -1;
    for (const NodeIndex terminal : terminals_) {
      if (weight(terminal) == total_) continue;
      if (least < 0 || network_.ingress(terminal) < network_.ingress(least)) least = terminal;
    }
    if (least < 0) throw std::invalid_argument("no compute node needs what others hold");
    std::vector<NodeIndex> inside;
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      if (node != least) inside.push_back(node);
    }
    take(std::move(inside), network_.ingress(least));
  }

  // Makes S = `inside` the cut whose ratio is tested next.
  void take(std::vector<NodeIndex> inside, Capacity exit_capacity) {
    if (exit_capacity == 0) throw std::invalid_argument("a compute node cannot be reached");
    Capacity weight_inside = 0;
    for (const NodeIndex node : inside) weight_inside += weight(node);
    best_ = {weight_inside, exit_capacity, std::move(inside)};
    const Capacity divisor = greatest_common_divisor(weight_inside, exit_capacity);
    supply_ = exit_capacity / divisor;
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      scaled_.set_capacity(arc, checked_multiply(network_.capacity(arc), weight_inside / divisor));
    }
    for (const NodeIndex terminal : terminals_) {
      max_flow_.set_supply(terminal, checked_multiply(supply_, weight(terminal)));
    }
  }

  const Network<Capacity>& network_;
  const std::vector<NodeIndex>& terminals_;
  std::vector<Capacity> weights_;
  Network<Capacity> scaled_;
  MaxFlow<Capacity> max_flow_;
  std::vector<char> is_terminal_;
  Capacity total_ = 0, supply_ = 0;
  Bottleneck<Capacity> best_{};
};

// Returns whether the trees that `supplies` counts fit: every terminal can receive everything that the terminals supply
// (ForestColl Theorem 3).
template <class Capacity>
bool supply_reaches_all(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals,
                        const std::vector<Capacity>& supplies, Observer& observer) {
  MaxFlow<Capacity> max_flow(network);
  Capacity all = 0;
  std::vector<char> wanted(static_cast<std::size_t>(network.nodes()));
  for (const NodeIndex terminal : terminals) {
    const Capacity supply = supplies[static_cast<std::size_t>(terminal)];
    max_flow.set_supply(terminal, supply);
    all = checked_add(all, supply);
    wanted[static_cast<std::size_t>(terminal)] = true;
  }
  const auto order =
      breadth_first(network, terminals.front(), [&](NodeIndex v) { return wanted[static_cast<std::size_t>(v)] != 0; });
  return supply_all<Capacity>(max_flow, order, [&] { return all; }, [](Capacity) { return false; }, observer);
}

}  // namespace forestcoll
