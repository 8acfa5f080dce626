// The throughput bottleneck cut, by Newton's method on cuts (ForestColl §4, §5.2; here without bisection).
//
// Wanted: the greatest p/q = |S & compute| / B+(S) over sets S that miss a compute node. Start from the best cut of the
// form "all but one compute node", an attained lower bound; ask every compute node whether it can be fed at that ratio;
// the minimum cut of a shortfall has a greater ratio, which becomes the new one. A node found fed stays fed, because
// the ratio only grows. All integers: the capacities are b * p, each compute node supplies q.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "bounds/feeding.h"

namespace forestcoll {

template <class Capacity>
struct Bottleneck {
  Capacity compute_inside;        // p, before reduction: compute nodes in S
  Capacity exit_capacity;         // q, before reduction: B+(S)
  std::vector<NodeIndex> inside;  // S, rising
};

template <class Capacity>
class BottleneckSearch {
 public:
  BottleneckSearch(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals)
      : network_(network), terminals_(terminals), scaled_(network), inflow_(scaled_),
        is_terminal_(static_cast<std::size_t>(network.nodes())) {
    for (const NodeIndex terminal : terminals) is_terminal_[static_cast<std::size_t>(terminal)] = true;
  }

  Bottleneck<Capacity> run(Observer& observer) {
    start();
    const auto order = breadth_first(network_, terminals_.front(), [&](NodeIndex v) { return is_terminal(v); });
    const auto needed = [&] { return checked_multiply(static_cast<Capacity>(terminals_.size()), supply_); };
    const auto mend = [&](Capacity) {
      std::vector<NodeIndex> inside;
      for (NodeIndex node = 0; node < network_.nodes(); ++node) {
        if (!inflow_.on_sink_side(node)) inside.push_back(node);
      }
      take(std::move(inside), network_.entering([&](NodeIndex node) { return inflow_.on_sink_side(node); }));
      return true;
    };
    feed_all<Capacity>(inflow_, order, needed, mend, observer);
    return best_;
  }

 private:
  bool is_terminal(NodeIndex node) const { return is_terminal_[static_cast<std::size_t>(node)]; }

  void start() {
    const NodeIndex least = *std::min_element(
        terminals_.begin(), terminals_.end(),
        [&](NodeIndex one, NodeIndex other) { return network_.ingress(one) < network_.ingress(other); });
    std::vector<NodeIndex> inside;
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      if (node != least) inside.push_back(node);
    }
    take(std::move(inside), network_.ingress(least));
  }

  // Makes S = `inside` the cut whose ratio is asked for next.
  void take(std::vector<NodeIndex> inside, Capacity exit_capacity) {
    if (exit_capacity == 0) throw std::invalid_argument("a compute node cannot be reached");
    Capacity compute_inside = 0;
    for (const NodeIndex node : inside) compute_inside += is_terminal(node);
    best_ = {compute_inside, exit_capacity, std::move(inside)};
    const Capacity divisor = greatest_common_divisor(compute_inside, exit_capacity);
    supply_ = exit_capacity / divisor;
    for (ArcIndex arc = 0; arc < network_.arcs(); ++arc) {
      scaled_.set_capacity(arc, checked_multiply(network_.capacity(arc), compute_inside / divisor));
    }
    for (const NodeIndex terminal : terminals_) inflow_.set_supply(terminal, supply_);
  }

  const Network<Capacity>& network_;
  const std::vector<NodeIndex>& terminals_;
  Network<Capacity> scaled_;
  Inflow<Capacity> inflow_;
  std::vector<char> is_terminal_;
  Capacity supply_ = 0;
  Bottleneck<Capacity> best_{};
};

// Whether k trees from every terminal fit: every terminal can receive `supply` from each (ForestColl Theorem 3).
template <class Capacity>
bool feeds_everyone(const Network<Capacity>& network, const std::vector<NodeIndex>& terminals, Capacity supply,
                    Observer& observer) {
  Inflow<Capacity> inflow(network);
  for (const NodeIndex terminal : terminals) inflow.set_supply(terminal, supply);
  const Capacity all = checked_multiply(static_cast<Capacity>(terminals.size()), supply);
  std::vector<char> wanted(static_cast<std::size_t>(network.nodes()));
  for (const NodeIndex terminal : terminals) wanted[static_cast<std::size_t>(terminal)] = true;
  const auto order =
      breadth_first(network, terminals.front(), [&](NodeIndex v) { return wanted[static_cast<std::size_t>(v)] != 0; });
  return feed_all<Capacity>(inflow, order, [&] { return all; }, [](Capacity) { return false; }, observer);
}

}  // namespace forestcoll
