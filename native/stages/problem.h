// A network with its compute nodes, as all stages take it.
#pragma once

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "flow/network.h"

namespace forestcoll {

using IntList = std::vector<std::int32_t>;

template <class Capacity>
Network<Capacity> make_network(NodeIndex nodes, const IntList& tails, const IntList& heads,
                               const std::vector<Capacity>& capacities) {
  if (tails.size() != heads.size() || tails.size() != capacities.size()) {
    throw std::invalid_argument("tails, heads and capacities must have the same length");
  }
  Network<Capacity> network(nodes);
  for (std::size_t arc = 0; arc < tails.size(); ++arc) network.add_arc(tails[arc], heads[arc], capacities[arc]);
  return network;
}

inline void check_terminals(NodeIndex nodes, const IntList& terminals) {
  if (terminals.empty()) throw std::invalid_argument("terminals must not be empty");
  const auto not_rising = std::adjacent_find(terminals.begin(), terminals.end(), std::greater_equal<>());
  if (not_rising != terminals.end()) throw std::invalid_argument("terminals must rise");
  if (terminals.front() < 0 || terminals.back() >= nodes) throw std::invalid_argument("a terminal is out of range");
}

template <class Capacity>
void check_weights(const IntList& terminals, const std::vector<Capacity>& weights) {
  if (weights.size() != terminals.size()) throw std::invalid_argument("weights must have one entry per terminal");
  if (*std::min_element(weights.begin(), weights.end()) < 0) throw std::invalid_argument("a weight is negative");
  if (*std::max_element(weights.begin(), weights.end()) == 0) throw std::invalid_argument("all weights are 0");
}

// A network with its compute nodes, as Python passes it. Weights say how many shards of one size each node holds: one
// by default.
template <class Capacity>
struct Problem {
  Problem(NodeIndex nodes, const IntList& tails, const IntList& heads, const std::vector<Capacity>& capacities,
          IntList terminals_, std::vector<Capacity> weights_)
      : Problem(make_network(nodes, tails, heads, capacities), std::move(terminals_), std::move(weights_)) {}

  Problem(Network<Capacity> network_, IntList terminals_, std::vector<Capacity> weights_)
      : network(std::move(network_)), terminals(std::move(terminals_)), weights(std::move(weights_)) {
    check_terminals(network.nodes(), terminals);
    if (weights.empty()) weights.assign(terminals.size(), 1);
    check_weights(terminals, weights);
  }

  // For every compute node `each` times its weight, and 0 for switches.
  std::vector<Capacity> supplies(Capacity each) const {
    std::vector<Capacity> of_node(static_cast<std::size_t>(network.nodes()));
    for (std::size_t place = 0; place < terminals.size(); ++place) {
      of_node[static_cast<std::size_t>(terminals[place])] = checked_multiply(weights[place], each);
    }
    return of_node;
  }

  Network<Capacity> network;
  IntList terminals;
  std::vector<Capacity> weights;  // of each terminal
};

}  // namespace forestcoll
