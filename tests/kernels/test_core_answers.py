"""The three cores give the same answers, which agree with the definitions."""

from fractions import Fraction
from itertools import product

from flow_problems import Scaled, weighted
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.kernels import cores
from networks import examples, networks, one_way_networks
from oracles import can_feed, exit_of, most_copies, most_split, subsets

CORES = cores()


@examples(300)
@given(weighted(networks()))
def test_bottleneck(network: Scaled) -> None:
    terminals = frozenset(network.terminals)
    ratios = set()
    for core in CORES.values():
        inside, leaving, cut = core.bottleneck(network.on(core))
        assert inside == sum(network.times(1)[node] for node in terminals & frozenset(cut))
        assert leaving == exit_of(frozenset(cut), network.capacities)
        assert cut == sorted(set(cut))
        ratios.add(Fraction(inside, leaving))
    assert ratios == {Fraction(1, network.supply)}


@examples(300)
@given(weighted(networks()), st.fractions(0, 2, max_denominator=100), st.integers(-1, 1))
def test_feeds(network: Scaled, factor: Fraction, added: int) -> None:
    supply = max(0, int(network.supply * factor) + added)
    expected = can_feed(network.nodes, network.capacities, network.terminals, network.times(supply))
    assert expected == (supply <= network.supply)
    assert {name: core.supply_reaches_all(network.on(core), supply) for name, core in CORES.items()} == dict.fromkeys(
        CORES, expected
    )


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


@examples(300)
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
    for inside in subsets(range(network.nodes)):
        if len(inside) < network.nodes:
            needed = sum(others[node] for node in inside) + (copies if tree <= inside else 0)
            assert exit_of(inside, left) >= needed


@examples(300)
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
