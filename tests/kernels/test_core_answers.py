"""The three cores give the same answers, which agree with the definitions."""

from fractions import Fraction
from itertools import product

import networkx as nx
import pytest
from flow_problems import Scaled, problem_of, weighted
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.kernels import core_for, cores
from forestcoll.kernels.reference.network import max_flow, with_arcs
from networks import examples, networks, one_way_networks
from oracles import Arc, can_feed, exit_of, exits, most_copies, most_split, number_of, sums

CORES = cores()


@examples(200)
@given(weighted(networks()), st.fractions(0, 2, max_denominator=100), st.integers(-1, 1))
def test_the_bottleneck_and_what_can_be_fed(network: Scaled, factor: Fraction, added: int) -> None:
    terminals = frozenset(network.terminals)
    supply = max(0, int(network.supply * factor) + added)
    expected = can_feed(network.nodes, network.capacities, network.terminals, network.times(supply))
    assert expected == (supply <= network.supply)
    for name, core in CORES.items():
        inside, leaving, cut = core.bottleneck(network.on(core))
        assert inside == sum(network.times(1)[node] for node in terminals & frozenset(cut)), name
        assert leaving == exit_of(frozenset(cut), network.capacities), name
        assert cut == sorted(set(cut)), name
        assert Fraction(inside, leaving) == Fraction(1, network.supply), name
        assert core.supply_reaches_all(network.on(core), supply) == expected, name


@st.composite
def long_rings(draw: st.DrawFn) -> tuple[int, dict[Arc, int]]:
    """A ring of 8 to 40 nodes with different bandwidths in both directions, and a few links across."""
    nodes = draw(st.integers(8, 40))
    bandwidths = st.integers(1, 9)
    arcs = {(node, (node + step) % nodes): draw(bandwidths) for node in range(nodes) for step in (1, -1)}
    numbers = st.integers(0, nodes - 1)
    for tail, head in draw(st.lists(st.tuples(numbers, numbers), max_size=3)):
        if tail != head:
            arcs[tail, head] = draw(bandwidths)
    return nodes, arcs


@examples(150)
@given(long_rings(), st.data())
def test_cores_agree_where_a_flow_draws_from_nodes_at_many_distances(
    network: tuple[int, dict[Arc, int]], data: st.DataObject
) -> None:
    nodes, arcs = network
    terminals = sorted(data.draw(st.sets(st.integers(0, nodes - 1), min_size=2)))
    ratios = set()
    for core in CORES.values():
        inside, leaving, cut = core.bottleneck(problem_of(core, nodes, arcs, terminals))
        assert inside == len({*terminals} & {*cut}) < len(terminals)
        assert leaving == exit_of(frozenset(cut), arcs)
        ratios.add(Fraction(inside, leaving))
    assert len(ratios) == 1


@pytest.mark.timeout(80)  # a few seconds; minutes if a flow took one phase for each distance
def test_the_cut_of_a_large_ring() -> None:
    nodes = 4000
    arcs = {(node, (node + step) % nodes): 1 for node in range(nodes) for step in (1, -1)}
    core = core_for(nodes**2)
    inside, leaving, cut = core.bottleneck(problem_of(core, nodes, arcs, range(nodes)))
    assert (inside, leaving, len(cut)) == (nodes - 1, 2, nodes - 1)


def two_hop_paths(network: Scaled, capacities: dict[tuple[int, int], int]) -> list[tuple[int, int, int]]:
    switches = set(range(network.nodes)) - set(network.terminals)
    present = [arc for arc, capacity in capacities.items() if capacity]
    return [(u, w, t) for (u, w), (other, t) in product(present, present) if w == other and w in switches]


@examples(150)
@given(weighted(networks(most=7).filter(lambda topology: topology.switches)))
def test_split_capacity_of_every_path(network: Scaled) -> None:
    capacities = dict(network.capacities)
    for u, w, t in two_hop_paths(network, capacities):
        amount = min(capacities[u, w], capacities[w, t])
        expected = most_split(
            network.nodes, capacities, network.terminals, network.supplies, path=(u, w, t), amount=amount
        )
        for name, core in CORES.items():
            found = core.split_capacity(network.on(core), network.supply, (u, w, t), amount)
            assert found == expected, (name, u, w, t)


@examples(200)
@given(weighted(networks(most=7).filter(lambda topology: topology.switches)), st.data())
def test_split_capacity_while_switches_are_split_off(network: Scaled, data: st.DataObject) -> None:
    capacities = dict(network.capacities)
    for _ in range(6):
        if not (possible := two_hop_paths(network, capacities)):
            break
        u, w, t = data.draw(st.sampled_from(possible))
        wanted = data.draw(st.integers(0, min(capacities[u, w], capacities[w, t])))
        amount = most_split(
            network.nodes, capacities, network.terminals, network.supplies, path=(u, w, t), amount=wanted
        )
        for name, core in CORES.items():
            found = core.split_capacity(network.on(core, capacities), network.supply, (u, w, t), wanted)
            assert found == amount, (name, u, w, t)
        capacities[u, w] -= amount
        capacities[w, t] -= amount
        if u != t:
            capacities[u, t] = capacities.get((u, t), 0) + amount
        assert can_feed(network.nodes, capacities, network.terminals, network.supplies)


def check_state(
    network: Scaled, left: dict[tuple[int, int], int], others: list[int], tree: set[int], copies: int
) -> None:
    """Check that all remaining trees are still possible (condition 2 of ForestColl's appendix E.3)."""
    members, everything = number_of(tree), 2**network.nodes - 1
    for inside, (out, needed) in enumerate(zip(exits(network.nodes, left), sums(others), strict=True)):
        assert out >= needed + (copies if not members & ~inside else 0) or inside == everything


@examples(200)
@given(
    weighted(st.one_of(networks(most=6, switches=False), one_way_networks(most=6, switches=False, unbalanced=True))),
    st.data(),
)
def test_tree_capacity_while_trees_grow(network: Scaled, data: st.DataObject) -> None:
    arcs = list(network.capacities)
    capacities = dict(network.capacities)
    remaining = [network.supplies[node] for node in range(network.nodes)]
    for _ in range(2):
        root = data.draw(st.sampled_from([node for node in network.terminals if remaining[node]] or [0]))
        copies, reached, tree = remaining[root], {root}, list[tuple[int, int]]()
        if not copies:
            break
        while len(reached) < network.nodes:
            left = capacities | {arc: capacities[arc] - copies for arc in tree}
            others = [count - copies * (node == root) for node, count in enumerate(remaining)]
            check_state(network, left, others, reached, copies)
            leaving = [arc for arc in arcs if arc[0] in reached and arc[1] not in reached]
            rooms = {
                arc: most_copies(network.nodes, left, others, reached=frozenset(reached), arc=arc, multiplicity=copies)
                for arc in leaving
            }
            for name, core in CORES.items():
                problem = network.on(core, left)
                found = {arc: core.tree_capacity(problem, others, arcs.index(arc), copies) for arc in leaving}
                assert found == rooms, name
            arc = data.draw(st.sampled_from([arc for arc in leaving if rooms[arc]]))
            copies = min(copies, rooms[arc])
            tree.append(arc)
            reached.add(arc[1])
        remaining[root] -= copies
        capacities |= {arc: capacities[arc] - copies for arc in tree}


# The maximum flow of the reference.

ARCS = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda arc: arc[0] != arc[1])
CAPACITIES = st.one_of(st.integers(0, 5), st.integers(0, 10**12), st.sampled_from([1, 10**40]))


@examples(250)
@given(st.dictionaries(ARCS, CAPACITIES, max_size=30), st.just(0), st.integers(1, 6))
def test_max_flow_equals_that_of_networkx(capacities: dict[Arc, int], source: int, sink: int) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from([source, sink])
    graph.add_edges_from((*arc, {"capacity": capacity}) for arc, capacity in capacities.items())
    value, source_side = max_flow(capacities, source, sink)
    assert value == nx.maximum_flow_value(graph, source, sink)
    assert source in source_side
    assert sink not in source_side
    assert exit_of(frozenset(source_side), capacities) == value


def test_the_minimum_cut_is_the_one_nearest_to_the_sink() -> None:
    value, source_side = max_flow({(0, 1): 1, (1, 2): 1, (2, 3): 1}, 0, 3)
    assert (value, source_side) == (1, {0, 1, 2})


def test_extra_arcs_add_up_and_do_not_change_the_network() -> None:
    capacities = {(0, 1): 2}
    assert with_arcs(capacities, [(0, 1, 3), (1, 0, 4)]) == {(0, 1): 5, (1, 0): 4}
    assert capacities == {(0, 1): 2}
