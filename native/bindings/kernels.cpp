// The bindings: they convert Python values to values of the core, release the interpreter lock, and do nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/events.h"
#include "bindings/python_observer.h"
#include "bindings/wide_caster.h"
#include "stages/stages.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace forestcoll {
namespace {

// Runs a stage without the interpreter lock; it can be stopped with Ctrl-C.
template <class Stage>
auto unlocked(nb::object progress, Stage stage) {
  PythonObserver observer(std::move(progress));
  nb::gil_scoped_release lock;
  return stage(observer);
}

template <class Capacity>
nb::tuple bottleneck(const Problem<Capacity>& problem, nb::object progress) {
  Bottleneck<Capacity> found = unlocked(
      std::move(progress), [&](Observer& observer) { return Bounds<Capacity>::bottleneck(problem, observer); });
  return nb::make_tuple(found.weight_inside, found.exit_capacity, found.inside);
}

template <class Capacity>
bool supply_reaches_all(const Problem<Capacity>& problem, Capacity supply, nb::object progress) {
  return unlocked(std::move(progress),
                  [&](Observer& observer) { return Bounds<Capacity>::supply_reaches_all(problem, supply, observer); });
}

template <class Capacity>
Capacity split_capacity(const Problem<Capacity>& problem, Capacity supply, std::array<NodeIndex, 3> way,
                        Capacity amount) {
  return unlocked(nb::none(), [&](Observer& observer) {
    return Proven<Capacity>::split_capacity(problem, supply, way, amount, observer);
  });
}

template <class Capacity>
LogicalNetwork<Capacity> remove_switches(const Problem<Capacity>& problem, Capacity supply, nb::object progress) {
  return unlocked(std::move(progress),
                  [&](Observer& observer) { return Proven<Capacity>::remove_switches(problem, supply, observer); });
}

template <class Capacity>
nb::tuple pack_trees(const Problem<Capacity>& problem, const LogicalNetwork<Capacity>& logical, Capacity supply,
                     nb::object progress) {
  Packed<Capacity> packed = unlocked(std::move(progress), [&](Observer& observer) {
    return Proven<Capacity>::pack_trees(problem, logical, supply, observer);
  });
  nb::dict counted;
  counted["batches"] = packed.batches.roots.size();
  counted["proposals"] = packed.counters.proposals;
  counted["refused"] = packed.counters.refused;
  counted["grown_exactly"] = packed.counters.grown_exactly;
  counted["learned_cuts"] = packed.counters.learned_cuts;
  return nb::make_tuple(std::move(packed.batches), counted);
}

template <class Capacity, class Node>
nb::tuple to_tuple(RoutedTrees<Capacity> trees, FlatPaths<Node> paths) {
  const auto nodes = static_cast<std::size_t>(paths.starts.back());
  return nb::make_tuple(std::move(trees.roots), std::move(trees.multiplicities), to_numpy(std::move(trees.paths)),
                        to_numpy(std::move(paths.starts)), to_numpy(std::move(paths.nodes), nodes));
}

template <class Capacity>
nb::tuple route_trees(const Problem<Capacity>& problem, const LogicalNetwork<Capacity>& logical,
                      const TreeBatches<Capacity>& batches, nb::object progress) {
  auto [trees, paths] = unlocked(std::move(progress), [&](Observer& observer) {
    return Proven<Capacity>::route_trees(problem, logical, batches, observer);
  });
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

template <class Capacity>
nb::tuple to_tuple(Grown<Capacity> grown) {
  const nb::tuple members = std::visit([&](auto paths) { return to_tuple(std::move(grown.trees), std::move(paths)); },
                                       std::move(grown.paths));
  return nb::make_tuple(members, to_dict(grown.counters));
}

template <class Capacity>
nb::tuple grow_trees(const Problem<Capacity>& problem, Capacity supply, nb::object progress, bool prove) {
  return to_tuple(unlocked(std::move(progress), [&](Observer& observer) {
    return Fast<Capacity>::grow_trees(problem, supply, prove, observer);
  }));
}

template <class Capacity>
nb::tuple grow_base_trees(const Problem<Capacity>& problem, Capacity supply, std::vector<IntList> images,
                          IntList arc_orbits, std::int64_t unit, nb::object progress) {
  const Orbits orbits{std::move(images), std::move(arc_orbits), unit};
  return to_tuple(unlocked(std::move(progress), [&](Observer& observer) {
    return Fast<Capacity>::grow_base_trees(problem, supply, orbits, observer);
  }));
}

template <class Capacity>
nb::tuple broadcast_breadth_first(const Problem<Capacity>& problem, Capacity demand,
                                  const std::vector<Capacity>& latencies, Capacity chunks, const IntList& targets,
                                  nb::object progress) {
  StepTransfers<Capacity> sent = unlocked(std::move(progress), [&](Observer& observer) {
    return Steps<Capacity>::broadcast_breadth_first(problem, demand, latencies, chunks, targets, observer);
  });
  return nb::make_tuple(to_numpy(std::move(sent.steps)), to_numpy(std::move(sent.shards)),
                        to_numpy(std::move(sent.sources)), to_numpy(std::move(sent.targets)),
                        to_numpy(std::move(sent.lows)), to_numpy(std::move(sent.highs)), std::move(sent.numerators),
                        std::move(sent.denominators));
}

template <class Capacity>
nb::tuple spread_all_to_all(const Problem<Capacity>& problem, std::int64_t rounds, double gap, nb::object progress) {
  AllToAllSpread found = unlocked(std::move(progress), [&](Observer& observer) {
    return Bounds<Capacity>::spread_all_to_all(problem, rounds, gap, observer);
  });
  return nb::make_tuple(found.trees, std::move(found.loads), std::move(found.lengths));
}

template <class Capacity>
Capacity distance_sum(const Problem<Capacity>& problem, const std::vector<Capacity>& lengths, nb::object progress) {
  return unlocked(std::move(progress),
                  [&](Observer& observer) { return Bounds<Capacity>::distance_sum(problem, lengths, observer); });
}

template <class Capacity>
nb::tuple take_chunks(std::int32_t places, std::vector<IntList> links, std::vector<Capacity> rates,
                      std::vector<Capacity> durations, std::vector<Capacity> capacities, std::int32_t chunks,
                      std::uint32_t seed, nb::object progress) {
  const ChunkPaths<Capacity> paths{places, std::move(links), std::move(rates), std::move(durations),
                                   std::move(capacities)};
  TakenChunks<Capacity> taken = unlocked(std::move(progress), [&](Observer& observer) {
    return Greedy<Capacity>::take_chunks(paths, chunks, seed, observer);
  });
  return nb::make_tuple(taken.time, to_numpy(std::move(taken.chunks)), to_numpy(std::move(taken.sources)),
                        to_numpy(std::move(taken.targets)));
}

template <class Capacity>
nb::object take_turns(NodeIndex nodes, IntList tails, IntList heads, std::vector<Capacity> widths,
                      std::vector<Capacity> copies, IntList members, std::int32_t rule, nb::object progress) {
  const TurnLinks<Capacity> links{nodes, std::move(tails), std::move(heads), std::move(widths), std::move(copies)};
  std::optional<TurnPaths> paths = unlocked(std::move(progress), [&](Observer& observer) {
    return Greedy<Capacity>::take_turns(links, std::move(members), static_cast<TurnRule>(rule), observer);
  });
  if (!paths) return nb::none();
  return nb::make_tuple(to_numpy(std::move(paths->starts)), to_numpy(std::move(paths->nodes)));
}

template <class Capacity>
nb::tuple grow_shallow(std::int32_t places, std::vector<IntList> links, IntList following,
                       std::vector<Capacity> weights, const IntList& roots, std::int32_t more, std::int32_t height,
                       std::int32_t passes, nb::object progress) {
  const ShallowSends<Capacity> sends{places, std::move(links), std::move(following), std::move(weights)};
  ShallowForest found = unlocked(std::move(progress), [&](Observer& observer) {
    return Greedy<Capacity>::grow_shallow(sends, roots, more, height, passes, observer);
  });
  return nb::make_tuple(std::move(found.roots), to_numpy(std::move(found.parents)));
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
  module.def("tree_capacity", &Proven<Capacity>::tree_capacity, "problem"_a, "remaining"_a, "arc"_a, "multiplicity"_a,
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
  module.def("route_trees", &route_trees<Capacity>, "problem"_a, "logical"_a, "batches"_a, "progress"_a = nb::none(),
             "Return roots, multiplicities, path numbers of all trees, and the paths' starts and nodes.");
  module.def("spread_all_to_all", &spread_all_to_all<Capacity>, "problem"_a, "rounds"_a, "gap"_a,
             "progress"_a = nb::none(),
             "Return the units of each pair, the load of each arc, and lengths for a bound.");
  module.def("distance_sum", &distance_sum<Capacity>, "problem"_a, "lengths"_a, "progress"_a = nb::none(),
             "Return the distances between all ordered pairs of terminals, added up.");
  module.def("broadcast_breadth_first", &broadcast_breadth_first<Capacity>, "problem"_a, "demand"_a, "latencies"_a,
             "chunks"_a, "targets"_a = IntList{}, "progress"_a = nb::none(),
             "Return steps, shards, sources, targets, lows and highs of transfers, and the points that these name.");
  module.def("take_chunks", &take_chunks<Capacity>, "places"_a, "links"_a, "rates"_a, "durations"_a, "capacities"_a,
             "chunks"_a, "seed"_a, "progress"_a = nb::none(),
             "Return the time of TACOS, and the chunks, sources and targets of its transfers.");
  module.def("take_turns", &take_turns<Capacity>, "nodes"_a, "tails"_a, "heads"_a, "widths"_a, "copies"_a, "members"_a,
             "rule"_a, "progress"_a = nb::none(), "Return the paths of the trees of MultiTree, or None.");
  module.def("grow_shallow", &grow_shallow<Capacity>, "places"_a, "links"_a, "following"_a, "weights"_a, "roots"_a,
             "more"_a, "height"_a, "passes"_a, "progress"_a = nb::none(),
             "Return the roots of trees of bounded height, and the parents of all places.");
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
