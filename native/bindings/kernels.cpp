// The bindings: they convert Python values to values of the core, release the interpreter lock, and do nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

#include "bindings/arrays.h"
#include "bindings/events.h"
#include "bindings/python_observer.h"
#include "bindings/wide_caster.h"
#include "bounds/all_to_all.h"
#include "bounds/throughput.h"
#include "generation/breadth_first.h"
#include "generation/forest.h"
#include "generation/routing.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace forestcoll {
namespace {

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

void check_terminals(NodeIndex nodes, const IntList& terminals) {
  if (terminals.empty()) throw std::invalid_argument("terminals must not be empty");
  const auto not_rising = std::adjacent_find(terminals.begin(), terminals.end(), std::greater_equal<>());
  if (not_rising != terminals.end()) throw std::invalid_argument("terminals must rise");
  if (terminals.front() < 0 || terminals.back() >= nodes) throw std::invalid_argument("a terminal is out of range");
}

template <class Capacity>
void check_weights(const IntList& terminals, const std::vector<Capacity>& weights) {
  if (weights.size() != terminals.size()) throw std::invalid_argument("weights needs a number for every terminal");
  if (*std::min_element(weights.begin(), weights.end()) < 0) throw std::invalid_argument("a weight is negative");
  if (*std::max_element(weights.begin(), weights.end()) == 0) throw std::invalid_argument("all weights are 0");
}

// A network with its compute nodes, as Python passes it. Weights say how many shards of one size each node holds: one
// by default.
template <class Capacity>
struct Problem {
  Problem(NodeIndex nodes, const IntList& tails, const IntList& heads, const std::vector<Capacity>& capacities,
          IntList terminals_, std::vector<Capacity> weights_)
      : network(make_network(nodes, tails, heads, capacities)), terminals(std::move(terminals_)),
        weights(std::move(weights_)) {
    check_terminals(nodes, terminals);
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

template <class Capacity>
nb::tuple bottleneck(const Problem<Capacity>& problem, nb::object progress) {
  PythonObserver observer(std::move(progress));
  Bottleneck<Capacity> found;
  {
    nb::gil_scoped_release unlocked;
    found = BottleneckSearch<Capacity>(problem.network, problem.terminals, problem.supplies(1)).run(observer);
  }
  return nb::make_tuple(found.weight_inside, found.exit_capacity, found.inside);
}

template <class Capacity>
bool supply_reaches_all(const Problem<Capacity>& problem, Capacity supply, nb::object progress) {
  PythonObserver observer(std::move(progress));
  nb::gil_scoped_release unlocked;
  return supply_reaches_all(problem.network, problem.terminals, problem.supplies(supply), observer);
}

template <class Capacity>
Capacity split_capacity(const Problem<Capacity>& problem, Capacity supply, std::array<NodeIndex, 3> way,
                        Capacity amount) {
  for (const NodeIndex node : way) problem.network.require_node(node);
  PythonObserver observer{nb::none()};
  return SwitchRemoval<Capacity>(problem.network, problem.terminals, problem.supplies(supply))
      .split_capacity(way[0], way[1], way[2], amount, observer);
}

template <class Capacity>
Capacity tree_capacity(const Problem<Capacity>& problem, const std::vector<Capacity>& remaining, ArcIndex arc,
                       Capacity multiplicity) {
  if (remaining.size() != static_cast<std::size_t>(problem.network.nodes())) {
    throw std::invalid_argument("remaining needs a number for every node");
  }
  if (arc < 0 || arc >= problem.network.arcs()) throw std::invalid_argument("the arc number is out of range");
  return Packing<Capacity>(problem.network, problem.terminals, problem.supplies(0))
      .tree_capacity(remaining, arc, multiplicity);
}

template <class Capacity>
LogicalNetwork<Capacity> remove_switches(const Problem<Capacity>& problem, Capacity supply, nb::object progress) {
  PythonObserver observer(std::move(progress));
  nb::gil_scoped_release unlocked;
  return SwitchRemoval<Capacity>(problem.network, problem.terminals, problem.supplies(supply)).run(observer);
}

template <class Capacity>
nb::tuple pack_trees(const Problem<Capacity>& problem, const LogicalNetwork<Capacity>& logical, Capacity supply,
                     nb::object progress) {
  PythonObserver observer(std::move(progress));
  TreeBatches<Capacity> batches;
  PackingCounters counters;
  {
    nb::gil_scoped_release unlocked;
    Packing<Capacity> packing(logical.network, problem.terminals, problem.supplies(supply));
    batches = packing.run(observer);
    counters = packing.counters();
  }
  nb::dict counted;
  counted["batches"] = batches.roots.size();
  counted["proposals"] = counters.proposals;
  counted["refused"] = counters.refused;
  counted["grown_exactly"] = counters.grown_exactly;
  counted["learned_cuts"] = counters.learned_cuts;
  return nb::make_tuple(std::move(batches), counted);
}

template <class Capacity>
nb::tuple to_tuple(RoutedTrees<Capacity> trees, FlatPaths paths) {
  const auto nodes = static_cast<std::size_t>(paths.starts.back());
  return nb::make_tuple(std::move(trees.roots), std::move(trees.multiplicities), to_numpy(std::move(trees.paths)),
                        to_numpy(std::move(paths.starts)), to_numpy(std::move(paths.nodes), nodes));
}

template <class Capacity>
nb::tuple route(const Problem<Capacity>& problem, const LogicalNetwork<Capacity>& logical,
                const TreeBatches<Capacity>& batches, nb::object progress) {
  PythonObserver observer(std::move(progress));
  RoutedTrees<Capacity> trees;
  FlatPaths paths;
  {
    nb::gil_scoped_release unlocked;
    LogicalNetwork<Capacity> used = logical;
    trees = route_trees(used, batches, problem.terminals.size() - 1, observer);
    const auto& table = used.paths;
    paths = flat_paths(
        table.size(), [&](PathIndex path) { return table[path].size(); },
        [&](PathIndex path, NodeIndex* out) { std::ranges::copy(table[path], out); }, observer);
  }
  return to_tuple(std::move(trees), std::move(paths));
}

nb::dict to_dict(const ForestCounters& counters) {
  nb::dict counted;
  counted["tight_sets"] = counters.tight_sets;
  counted["short_sets"] = counters.attempts.short_sets;
  counted["attempts"] = counters.attempts.attempts;
  counted["grown"] = counters.grown;
  counted["split"] = counters.attempts.split;
  counted["repaired"] = counters.repaired;
  counted["given_up"] = counters.given_up;
  counted["cut_off"] = counters.completion.cut_off;
  counted["inflows"] = counters.completion.inflows;
  counted["checks"] = counters.completion.checks;
  counted["learned_sets"] = counters.completion.learned_sets;
  counted["completed"] = counters.completion.completed;
  counted["lowered"] = counters.lowered;
  counted["proven"] = counters.proven;
  counted["missing"] = counters.missing;
  return counted;
}

// The members of the forest after `run`; the interpreter lock is released until the values are made.
template <class Capacity, class Run>
nb::tuple grown(Forest<Capacity>& forest, Run run, Observer& observer) {
  RoutedTrees<Capacity> trees;
  FlatPaths paths;
  {
    nb::gil_scoped_release unlocked;
    run();
    trees = forest.trees(observer);
    paths = forest.paths(observer);
  }
  return nb::make_tuple(to_tuple(std::move(trees), std::move(paths)), to_dict(forest.counters()));
}

template <class Capacity>
nb::tuple grow_trees(const Problem<Capacity>& problem, Capacity supply, nb::object progress, bool prove) {
  PythonObserver observer(std::move(progress));
  Forest<Capacity> forest(problem.network, problem.terminals, problem.supplies(supply));
  return grown(forest, [&] { forest.run(prove, observer); }, observer);
}

template <class Capacity>
nb::tuple grow_base_trees(const Problem<Capacity>& problem, Capacity supply, std::vector<IntList> images,
                          IntList arc_orbits, std::int64_t unit, nb::object progress) {
  PythonObserver observer(std::move(progress));
  const Orbits orbits{std::move(images), std::move(arc_orbits), unit};
  orbits.check(problem.network.nodes(), problem.network.arcs());
  Forest<Capacity> forest(problem.network, problem.terminals, problem.supplies(supply), orbits);
  return grown(forest, [&] { forest.run_base_trees(orbits, observer); }, observer);
}

template <class Capacity>
nb::tuple broadcast_breadth_first(const Problem<Capacity>& problem, Capacity demand,
                                  const std::vector<Capacity>& latencies, Capacity chunks, IntList targets,
                                  nb::object progress) {
  PythonObserver observer(std::move(progress));
  if (targets.empty()) targets = problem.terminals;
  StepTransfers<Capacity> sent;
  {
    nb::gil_scoped_release unlocked;
    sent = BreadthFirstBroadcast<Capacity>(problem.network, latencies, demand, chunks).run(targets, observer);
  }
  return nb::make_tuple(to_numpy(std::move(sent.steps)), to_numpy(std::move(sent.shards)),
                        to_numpy(std::move(sent.sources)), to_numpy(std::move(sent.targets)),
                        to_numpy(std::move(sent.lows)), to_numpy(std::move(sent.highs)), std::move(sent.numerators),
                        std::move(sent.denominators));
}

template <class Capacity>
nb::tuple spread_all_to_all(const Problem<Capacity>& problem, std::int64_t rounds, double gap, nb::object progress) {
  PythonObserver observer(std::move(progress));
  AllToAllSpread found;
  {
    nb::gil_scoped_release unlocked;
    found = AllToAll<Capacity>(problem.network, problem.terminals).run(rounds, gap, observer);
  }
  return nb::make_tuple(found.trees, std::move(found.loads), std::move(found.lengths));
}

template <class Capacity>
Capacity distance_sum(const Problem<Capacity>& problem, const std::vector<Capacity>& lengths, nb::object progress) {
  PythonObserver observer(std::move(progress));
  nb::gil_scoped_release unlocked;
  return sum_of_distances(problem.network, problem.terminals, lengths, observer);
}

template <class Capacity>
nb::tuple logical_arcs(const LogicalNetwork<Capacity>& logical) {
  IntList tails, heads;
  std::vector<Capacity> capacities;
  for (ArcIndex arc = 0; arc < logical.network.arcs(); ++arc) {
    if (logical.network.capacity(arc) == 0) continue;
    tails.push_back(logical.network.tail(arc));
    heads.push_back(logical.network.head(arc));
    capacities.push_back(logical.network.capacity(arc));
  }
  return nb::make_tuple(tails, heads, capacities);
}

template <class Capacity>
nb::tuple batch_lists(const TreeBatches<Capacity>& batches, const LogicalNetwork<Capacity>& logical) {
  IntList tails, heads;
  for (const ArcIndex arc : batches.arcs) {
    tails.push_back(logical.network.tail(arc));
    heads.push_back(logical.network.head(arc));
  }
  return nb::make_tuple(batches.roots, batches.multiplicities, tails, heads);
}

template <class Capacity>
void bind(nb::module_ module) {
  nb::class_<Problem<Capacity>>(module, "Problem", "A network of integer capacities with its compute nodes.")
      .def(nb::init<NodeIndex, const IntList&, const IntList&, const std::vector<Capacity>&, IntList,
                    std::vector<Capacity>>(),
           "nodes"_a, "tails"_a, "heads"_a, "capacities"_a, "terminals"_a, "weights"_a = std::vector<Capacity>{});
  nb::class_<LogicalNetwork<Capacity>>(module, "LogicalNetwork",
                                       "The network without its switches, and the paths behind it.")
      .def("arcs", &logical_arcs<Capacity>, "Return tails, heads and capacities of the arcs that have capacity.");
  nb::class_<TreeBatches<Capacity>>(module, "TreeBatches", "Trees over logical links, each with its multiplicity.")
      .def("lists", &batch_lists<Capacity>, "logical"_a,
           "Return roots, multiplicities, and tails and heads of all tree edges.");
  module.def("bottleneck", &bottleneck<Capacity>, "problem"_a, "progress"_a = nb::none(),
             "Return weight inside, exit capacity and nodes of the throughput bottleneck cut.");
  module.def("supply_reaches_all", &supply_reaches_all<Capacity>, "problem"_a, "supply"_a, "progress"_a = nb::none(),
             "Return whether every compute node can receive `supply` times its weight from each.");
  module.def("split_capacity", &split_capacity<Capacity>, "problem"_a, "supply"_a, "way"_a, "amount"_a,
             "Return gamma of Theorem 6, but at most `amount`.");
  module.def("tree_capacity", &tree_capacity<Capacity>, "problem"_a, "remaining"_a, "arc"_a, "multiplicity"_a,
             "Return mu of Theorem 10, where every other tree is still a lone root.");
  module.def("remove_switches", &remove_switches<Capacity>, "problem"_a, "supply"_a, "progress"_a = nb::none(),
             "Return the network with all switches split off.");
  module.def("pack_trees", &pack_trees<Capacity>, "problem"_a, "logical"_a, "supply"_a, "progress"_a = nb::none(),
             "Return batches of spanning trees, and counters of how they were found.");
  module.def("grow_trees", &grow_trees<Capacity>, "problem"_a, "supply"_a, "progress"_a = nb::none(), nb::kw_only(),
             "prove"_a = true, "Return what route_trees returns, grown optimistically, and counters.");
  module.def("grow_base_trees", &grow_base_trees<Capacity>, "problem"_a, "supply"_a, "images"_a, "arc_orbits"_a,
             "unit"_a, "progress"_a = nb::none(),
             "Return what grow_trees returns, for one root of each orbit; the other trees are images of these.");
  module.def("route_trees", &route<Capacity>, "problem"_a, "logical"_a, "batches"_a, "progress"_a = nb::none(),
             "Return roots, multiplicities, path numbers of all trees, and the paths' starts and nodes.");
  module.def("spread_all_to_all", &spread_all_to_all<Capacity>, "problem"_a, "rounds"_a, "gap"_a,
             "progress"_a = nb::none(),
             "Return the units of each pair, the load of each arc, and lengths for a bound.");
  module.def("distance_sum", &distance_sum<Capacity>, "problem"_a, "lengths"_a, "progress"_a = nb::none(),
             "Return the distances between all ordered pairs of terminals, added up.");
  module.def("broadcast_breadth_first", &broadcast_breadth_first<Capacity>, "problem"_a, "demand"_a, "latencies"_a,
             "chunks"_a, "targets"_a = IntList{}, "progress"_a = nb::none(),
             "Return steps, shards, sources, targets, lows and highs of transfers, and the points that these name.");
}

}  // namespace
}  // namespace forestcoll

NB_MODULE(_native, module) {
  module.doc() =
      "The core of forestcoll: flow algorithms for 64-bit and for 128-bit capacities, and the simulation of programs.";
  nb::module_ narrow = module.def_submodule("narrow", "Capacities of 64 bits.");
  nb::module_ wide = module.def_submodule("wide", "Capacities of 128 bits.");
  forestcoll::bind<forestcoll::Narrow>(narrow);
  forestcoll::bind<forestcoll::Wide>(wide);
  nb::module_ events = module.def_submodule("events", "The simulation of programs.");
  forestcoll::bind_events(events);
  forestcoll::bind_hops(events);
}
