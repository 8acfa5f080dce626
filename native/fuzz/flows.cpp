// Fuzzes max-flow and the bottleneck cut on small networks with capacities of all sizes, in 64 and in 128 bits.
//
// The cut is compared with all cuts. A width that is too narrow for a network throws and gives no answer.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bounds/throughput.h"

namespace {

using namespace forestcoll;

void require(bool holds) {
  if (!holds) std::abort();
}

class Silent : public Observer {
  void report(std::int64_t, std::int64_t) override {}
};

struct Arc {
  NodeIndex tail, head;
  Wide capacity;
};

struct Instance {
  NodeIndex nodes;
  std::vector<Arc> arcs;
  std::vector<NodeIndex> terminals;
  std::vector<Wide> weights;  // of each node
};

Instance take_instance(FuzzedDataProvider& bytes) {
  Instance found{bytes.ConsumeIntegralInRange<NodeIndex>(1, 7), {}, {}, {}};
  for (NodeIndex node = 0; node < found.nodes; ++node) {
    const bool is_terminal = bytes.ConsumeBool();
    const Wide weight = bytes.ConsumeIntegralInRange(0, 9);
    if (is_terminal) found.terminals.push_back(node);
    found.weights.push_back(is_terminal ? weight : 0);
  }
  for (int left = bytes.ConsumeIntegralInRange(0, 20); left > 0; --left) {
    const auto tail = bytes.ConsumeIntegralInRange<NodeIndex>(0, found.nodes - 1);
    const auto head = bytes.ConsumeIntegralInRange<NodeIndex>(0, found.nodes - 1);
    const Wide factor = bytes.ConsumeIntegral<std::uint16_t>();
    if (tail != head) found.arcs.push_back({tail, head, factor << bytes.ConsumeIntegralInRange(0, 98)});
  }
  return found;
}

// Returns the bottleneck cut, or nothing if a number does not fit the width.
template <class Capacity>
std::optional<Bottleneck<Wide>> search(const Instance& instance) {
  Network<Capacity> network(instance.nodes);
  for (const Arc& arc : instance.arcs) {
    if (static_cast<Capacity>(arc.capacity) != arc.capacity) return std::nullopt;
    network.add_arc(arc.tail, arc.head, static_cast<Capacity>(arc.capacity));
  }
  const std::vector<Capacity> weights(instance.weights.begin(), instance.weights.end());
  Silent observer;
  try {
    auto found = BottleneckSearch<Capacity>(network, instance.terminals, weights).run(observer);
    return Bottleneck<Wide>{found.weight_inside, found.exit_capacity, std::move(found.inside)};
  } catch (const CapacityOverflow&) {
    return std::nullopt;
  }
}

// The set of nodes with these bits, as a cut. The exit capacity is nothing if it does not fit.
Bottleneck<Wide> cut_of(const Instance& instance, unsigned bits) {
  Bottleneck<Wide> cut{0, 0, {}};
  for (NodeIndex node = 0; node < instance.nodes; ++node) {
    if (bits >> node & 1) cut.weight_inside += instance.weights[static_cast<std::size_t>(node)];
  }
  for (const Arc& arc : instance.arcs) {
    if ((bits >> arc.tail & 1) && !(bits >> arc.head & 1)) cut.exit_capacity += arc.capacity;
  }
  return cut;
}

bool misses_terminal(const Instance& instance, unsigned bits) {
  for (const NodeIndex terminal : instance.terminals) {
    if (!(bits >> terminal & 1)) return true;
  }
  return false;
}

// No cut has a greater ratio than `best`, and the nodes inside `best` have its numbers.
void check(const Instance& instance, const Bottleneck<Wide>& best) {
  unsigned inside = 0;
  for (const NodeIndex node : best.inside) inside |= 1U << node;
  const Bottleneck<Wide> same = cut_of(instance, inside);
  require(misses_terminal(instance, inside));
  require(same.weight_inside == best.weight_inside && same.exit_capacity == best.exit_capacity);
  for (unsigned bits = 0; bits < 1U << instance.nodes; ++bits) {
    if (!misses_terminal(instance, bits)) continue;
    const Bottleneck<Wide> other = cut_of(instance, bits);  // weights up to 63, capacities below 2^119: no overflow
    require(other.weight_inside * best.exit_capacity <= best.weight_inside * other.exit_capacity);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  const Instance instance = take_instance(bytes);
  if (instance.terminals.empty()) return 0;
  try {
    const auto narrow = search<Narrow>(instance);
    const auto wide = search<Wide>(instance);
    if (narrow) check(instance, *narrow);
    if (wide) check(instance, *wide);
    require(!narrow || wide);
  } catch (const std::invalid_argument&) {  // a compute node cannot be reached, or all data is on one node
  }
  return 0;
}
