"""Switch removal, packing and routing, on every core: the guarantees of each stage, checked by counting."""

from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from flow_problems import Scaled, check_trees, chunks, load_of, logical_capacities, routes_of, scaled, weighted, within
from hypothesis import given

from forestcoll.kernels import Core, RoutedTrees, cores
from forestcoll.kernels.reference import remove_switches
from forestcoll.kernels.reference.network import Problem
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples, networks
from oracles import Arc, can_feed


def check_logical(network: Scaled, capacities: dict[Arc, int]) -> None:
    compute = set(network.terminals)
    assert all(tail in compute and head in compute and tail != head for tail, head in capacities)
    assert all(capacity > 0 for capacity in capacities.values())
    assert can_feed(network.nodes, capacities, network.terminals, network.supplies)


def check_route(network: Scaled, route: list[int]) -> None:
    compute = set(network.terminals)
    assert len(route) == len(set(route)) >= 2
    assert {route[0], route[-1]} <= compute
    assert not compute & set(route[1:-1])
    assert all(pair in network.capacities for pair in pairwise(route))


def check_stages(core: Core, network: Scaled) -> None:
    problem = network.on(core)
    logical = core.remove_switches(problem, network.supply)
    capacities = logical_capacities(logical.arcs())
    check_logical(network, capacities)

    batches, counters = core.pack_trees(problem, logical, network.supply)
    roots, multiplicities, tails, heads = batches.lists(logical)
    trees = chunks(list(zip(tails, heads, strict=True)), len(network.terminals) - 1)
    check_trees(network.terminals, roots, trees, multiplicities, network.supplies)
    assert within(load_of(trees, multiplicities), capacities)
    assert counters["batches"] == len(roots) <= most_batches(network, capacities)

    check_routed(network, core.route_trees(problem, logical, batches))


def check_growing(core: Core, network: Scaled) -> None:
    routed, counters = core.grow_trees(network.on(core), network.supply)
    assert counters["missing"] == 0
    check_routed(network, routed)


def check_routed(network: Scaled, routed: RoutedTrees) -> None:
    roots, multiplicities, entries, starts, nodes = routed
    routes = routes_of(starts, nodes)
    for used in set(entries.tolist()):
        check_route(network, routes[used])
    edges = len(network.terminals) - 1
    taken = [[routes[entry] for entry in part.tolist()] for part in entries.reshape(len(roots), edges)]
    ends = [[(route[0], route[-1]) for route in tree] for tree in taken]
    check_trees(network.terminals, roots, ends, multiplicities, network.supplies)
    links = [[pair for route in tree for pair in pairwise(route)] for tree in taken]
    assert within(load_of(links, multiplicities), network.capacities)


def most_batches(network: Scaled, capacities: dict[Arc, int]) -> int:
    """Return a bound that holds however large capacities are.

    A batch ends when an arc or a root is used up, or when another cut becomes so tight that no tree may enter it as
    often as this one did. The number of independent events of the first kind is the number of arcs and roots, and each
    cut meets at most log2(number of nodes) of them before it is tight.
    """
    terminals = len(network.terminals)
    return (len(capacities) + terminals) * terminals.bit_length()


@examples(200)
@given(weighted(networks()))
def test_every_stage_of_every_core_keeps_its_guarantees(network: Scaled) -> None:
    for core in cores().values():
        check_stages(core, network)
        check_growing(core, network)
        check_growing_alone(core, network)


def check_growing_alone(core: Core, network: Scaled) -> None:
    """Check that trees that are not packed are correct, or that the missing ones are counted."""
    routed, counters = core.grow_trees(network.on(core), network.supply, prove=False)
    roots, multiplicities, *_ = routed
    found = Counter[int]()
    for root, multiplicity in zip(roots, multiplicities, strict=True):
        found[root] += multiplicity
    assert counters["missing"] == sum(found[root] < count for root, count in network.supplies.items())
    if "split" in counters:  # the reference does not grow
        sets = counters["tight_sets"] + counters["short_sets"]
        assert counters["split"] <= counters["attempts"] * (len(network.capacities) + 257 * sets)  # method-proofs.md
    if counters["missing"] == 0:
        check_routed(network, routed)


BIG = 1333333333334
SKEWED = Scaled(
    nodes=5,
    capacities={(0, 1): 2 * BIG, (0, 2): BIG, (1, 0): 3 * BIG - 1, (1, 2): 3 * BIG - 1, (1, 4): 2 * BIG}
    | {(2, 0): 2 * BIG - 2, (2, 1): 3 * BIG - 2, (2, 4): BIG + 2, (4, 0): 1, (4, 1): 3 * BIG},
    terminals=(0, 2, 4),
    supply=2000000000002,
)
ENTANGLED = Scaled(
    nodes=5,
    capacities={(0, 1): 4, (0, 2): 3, (2, 3): 12, (2, 4): 9, (1, 2): 3}
    | {(1, 0): 4, (4, 1): 8, (4, 0): 8, (3, 4): 3, (4, 2): 6},
    terminals=(0, 1, 2, 3, 4),
    supply=3,
)


@pytest.mark.parametrize("network", [SKEWED, ENTANGLED])
def test_trees_that_cannot_be_grown_are_packed(core: Core, network: Scaled) -> None:
    check_growing(core, network)


@pytest.mark.parametrize("factor", [10, 10**12])
def test_the_number_of_grown_trees_does_not_depend_on_how_many_copies_there_are(factor: int) -> None:
    capacities = {arc: each * factor + 1 for arc, each in ENTANGLED.capacities.items()}
    network = Scaled(ENTANGLED.nodes, capacities, ENTANGLED.terminals, 2 * factor)
    (roots, *_), counters = cores()["narrow"].grow_trees(network.on(cores()["narrow"]), network.supply)
    assert counters["missing"] == 0
    assert len(roots) <= 40


@pytest.mark.parametrize("name", ["narrow", "wide"])
def test_trees_that_cannot_be_grown_are_counted_if_nothing_may_be_packed(name: str) -> None:
    core = cores()[name]
    (_, multiplicities, *_), counters = core.grow_trees(ENTANGLED.on(core), ENTANGLED.supply, prove=False)
    assert counters["missing"] == 1
    assert sum(multiplicities) == sum(ENTANGLED.supplies.values()) - ENTANGLED.supply


@pytest.mark.parametrize("name", ["narrow", "wide"])
def test_a_detour_around_a_set_without_slack_is_found(name: str) -> None:
    """The cheapest path to a missing node passes through a set that the tree may not enter on its way.

    If only these paths were tried, a tree would stay incomplete.
    """
    capacities = {(0, 3): 2, (1, 2): 4, (1, 5): 4, (2, 1): 1, (2, 5): 1, (3, 0): 1, (3, 5): 2, (4, 0): 3}
    network = Scaled(6, capacities | {(5, 1): 3, (5, 3): 1, (5, 4): 3}, (0, 1, 2), 2)
    core = cores()[name]
    routed, counters = core.grow_trees(network.on(core), network.supply, prove=False)
    assert counters["completed"] > 0
    assert counters["missing"] == 0
    check_routed(network, RoutedTrees(*routed))


def test_links_without_capacity_change_nothing(core: Core) -> None:
    around = {(0, 2): 1, (2, 1): 1, (1, 2): 1, (2, 0): 1}
    network = Scaled(nodes=3, capacities={(0, 1): 0, **around, (1, 0): 0}, terminals=(0, 1), supply=1)
    check_stages(core, network)
    check_routed(network, core.grow_trees(network.on(core), 1)[0])


@pytest.mark.parametrize(
    "spec",
    [
        "dgx-a100:boxes=2,gpus=2,pcie=true",
        "dgx-1:boxes=2,gpus=3",
        "mi250:boxes=2,gpus=4",
        "fat-tree:levels=2,arity=3,oversubscription=3/2",
        "dragonfly:routers=2,nodes=1,global_links=1",
        "circulant:nodes=9,offsets=1+3,one_way=true",
    ],
)
def test_every_stage_on_machines(core: Core, spec: str) -> None:
    network = scaled(build_topology(spec))
    check_stages(core, network)
    check_growing(core, network)


@examples(100)
@given(networks())
def test_the_reference_keeps_paths_for_every_logical_arc(topology: Topology) -> None:
    network = scaled(topology)
    arcs = list(network.capacities)
    tails, heads = [tail for tail, _ in arcs], [head for _, head in arcs]
    problem = Problem(network.nodes, tails, heads, list(network.capacities.values()), network.terminals)
    logical = remove_switches(problem, network.supply)
    paths, amounts = [], []
    for arc, capacity in logical.capacities.items():
        assert sum(amount for _, amount in logical.stocks.get(arc, [])) == capacity
        for path, amount in logical.stocks.get(arc, []):
            assert (path[0], path[-1]) == arc
            check_route(network, list(path))
            paths.append(list(pairwise(path)))
            amounts.append(amount)
    assert within(load_of(paths, amounts), network.capacities)


def tight_network(seed: int, terminals: int, supply: int) -> Scaled:
    """Return a network whose capacities are what random trees use, so that there is hardly a choice of other trees."""
    draw, capacities = Random(seed), Counter[Arc]()  # noqa: S311 (a test)
    for root in range(terminals):
        left = supply
        while left:
            multiplicity = draw.randint(1, left)
            left -= multiplicity
            inside, outside = [root], [node for node in range(terminals) if node != root]
            draw.shuffle(outside)
            for node in outside:
                capacities[draw.choice(inside[-4:]), node] += multiplicity
                inside.append(node)
    return Scaled(terminals, capacities, tuple(range(terminals)), supply)


def test_networks_without_spare_capacity(core: Core) -> None:
    for seed in range(30):
        network = tight_network(seed, 3 + seed % 5, 1 + seed % 4)
        check_stages(core, network)
        check_growing(core, network)


def test_many_terminals_without_spare_capacity() -> None:
    """More cuts become tight than one word of the pool has bits."""
    network, core = tight_network(1, 170, 3), cores()["narrow"]
    problem = network.on(core)
    logical = core.remove_switches(problem, network.supply)
    batches, counters = core.pack_trees(problem, logical, network.supply)
    assert counters["learned_cuts"] > 64
    assert sum(batches.lists(logical)[1]) == 170 * 3
