"""Find symmetries of networks. The tests apply each result to every link, without the code under test."""

import random
from fractions import Fraction
from itertools import combinations, pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InternalError
from forestcoll.topology import Link, Node, Shift, Symmetry, Topology, TopologyBuilder
from forestcoll.topology.changes import changed_network
from forestcoll.topology.registry import build_topology, builders
from forestcoll.topology.symmetry.automorphisms import find_symmetry
from forestcoll.topology.symmetry.automorphisms.basis import basis
from forestcoll.topology.symmetry.automorphisms.graph import graph_of
from forestcoll.topology.symmetry.automorphisms.group import Gathering, Generator, common, is_free, power
from forestcoll.topology.symmetry.automorphisms.proof import prove
from forestcoll.topology.symmetry.automorphisms.refinement import Budget
from forestcoll.topology.symmetry.automorphisms.search import group_of
from forestcoll.topology.symmetry.orbits import Orbits
from networks import built, examples, linked, with_abilities

KNOWN_ORDERS = {
    "circulant": 16,
    "circulant:nodes=12,offsets=1+5,one_way=true": 12,
    "circulant:nodes=30,offsets=2+3+7": 30,
    "complete:nodes=2": 2,
    "complete:nodes=9": 9,
    "complete-bipartite:left=4,right=4": 8,
    "complete-bipartite:left=3,right=5": 1,
    "dgx-1": 4,
    "dgx-2:boxes=3": 48,
    "dgx-a100:boxes=1": 8,
    "dgx-a100:boxes=6": 48,
    "dgx-a100:boxes=3,pcie=true": 24,
    "dgx-h100:boxes=5,nvls=true": 40,
    "fat-tree:levels=3,arity=3": 27,
    "fat-tree:levels=4,arity=2,oversubscription=2": 16,
    "gb200-nvl72:boxes=2": 144,
    "hamming:dim=3,base=4": 64,
    "hypercube:dim=6": 64,
    "mesh:dims=4x4": 4,
    "mesh:dims=3x3": 1,
    "mi250:boxes=1": 4,
    "mi250:boxes=3": 12,
    "mi300x:boxes=3": 24,
    "rail:boxes=4,gpus=4": 16,
    "rail-only:boxes=3,gpus=5": 15,
    "ring:nodes=2": 2,
    "ring:nodes=15,one_way=true": 15,
    "torus:dims=2x2": 4,
    "torus:dims=2x3x5x4": 120,
    "torus:dims=6x6": 36,
}
SMALLEST_ORDERS = {"dragonfly": 18, "mi250:boxes=2,gpus=8": 2, "dgx-1:boxes=4,gpus=4": 4}


def assert_valid(topology: Topology, symmetry: Symmetry, *, moves_all: bool = True) -> None:
    """Apply every element of the group to every link, and count the images of each compute node."""
    links = {(link.source, link.target): (link.bandwidth, link.latency_us) for link in topology.links}
    images: dict[int, list[int]] = {node: [] for node in topology.compute}
    for element in symmetry.elements(len(topology.nodes)):
        image = element.tolist()
        assert sorted(image) == list(range(len(topology.nodes)))
        assert [_sort(topology.nodes[number]) for number in image] == [_sort(node) for node in topology.nodes]
        assert {(image[source], image[target]): value for (source, target), value in links.items()} == links
        for node in topology.compute:
            images[node].append(image[node])
    is_moved = [len(set(each)) == len(each) == symmetry.order for each in images.values()]
    assert all(is_moved) if moves_all else any(is_moved)
    for one, other in combinations(symmetry.shifts, 2):
        assert np.array_equal(one.image[other.image], other.image[one.image])
    for shift in symmetry.shifts:
        image = np.arange(len(topology.nodes))
        for _ in range(shift.order):
            image = shift.image[image]
        assert np.array_equal(image, np.arange(len(topology.nodes)))


def _sort(node: Node) -> tuple[bool, bool, bool]:
    return node.is_compute, node.multicast, node.aggregation


def valid_order(topology: Topology) -> int:
    symmetry = find_symmetry(topology)
    assert_valid(topology, symmetry)
    return symmetry.order


def renumbered(topology: Topology, seed: int | None) -> Topology:
    """Return the topology with its nodes in another order, which depends on the seed."""
    if seed is None:
        return topology
    order = list(range(len(topology.nodes)))
    random.Random(seed).shuffle(order)  # noqa: S311 (not for security)
    place = {node: number for number, node in enumerate(order)}
    links = [Link(place[each.source], place[each.target], each.bandwidth, each.latency_us) for each in topology.links]
    links.sort(key=lambda link: (link.source, link.target))
    return Topology(topology.name, tuple(topology.nodes[node] for node in order), tuple(links))


def without(topology: Topology, *gone: tuple[int, int]) -> Topology:
    links = tuple(link for link in topology.links if (link.source, link.target) not in gone)
    return Topology(topology.name, topology.nodes, links)


def boxes_on_a_hub(*gpus: int) -> Topology:
    """Return one box per number of GPUs, with a switch in each box and a hub that connects all GPUs."""
    network = TopologyBuilder("boxes")
    network.add_switch("hub")
    for box, count in enumerate(gpus):
        network.add_switch(f"switch{box}")
        for gpu in range(count):
            network.add_compute(f"{box}/{gpu}")
            network.add_duplex(f"{box}/{gpu}", f"switch{box}", 300)
            network.add_duplex(f"{box}/{gpu}", "hub", 25)
    return network.build()


def test_the_result_for_a_builders_default_is_a_group_of_symmetries() -> None:
    for spec in builders():
        assert valid_order(build_topology(spec.name)) >= 1, spec.name


@pytest.mark.parametrize("seed", [None, 1])
def test_the_largest_group_is_found_for_any_numbering(seed: int | None) -> None:
    for spec, order in KNOWN_ORDERS.items():
        assert valid_order(renumbered(build_topology(spec), seed)) == order, spec
    for spec, order in SMALLEST_ORDERS.items():
        assert valid_order(renumbered(build_topology(spec), seed)) >= order, spec


LARGE_ORDERS = {
    "dgx-a100:boxes=2048": 16384,
    "mi250:boxes=1024": 4096,
    "torus:dims=16x32x32": 16384,
    "rail-only:boxes=512,gpus=8": 4096,
    "hypercube:dim=12": 4096,
    "hamming:dim=6,base=4": 4096,
    "fat-tree:levels=6,arity=4": 4096,
    "ring:nodes=1024": 1024,
}


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "order"), LARGE_ORDERS.items())
def test_the_largest_group_of_a_large_network_is_found_for_any_numbering(spec: str, order: int) -> None:
    topology = build_topology(spec)
    assert find_symmetry(topology).order == order
    assert find_symmetry(renumbered(topology, 1)).order == order


def test_boxes_of_two_sizes_are_shifted_together() -> None:
    assert valid_order(boxes_on_a_hub(8, 8, 8, 8, 8, 8, 4, 4, 4, 4)) == 8
    assert valid_order(boxes_on_a_hub(3, 3, 3, 3, 2, 2)) == 2
    assert valid_order(boxes_on_a_hub(3, 2, 2, 3, 2, 3)) == 3
    assert valid_order(boxes_on_a_hub(6, 3, 3)) == 6  # a group of some boxes replaces a shift of the others
    assert valid_order(boxes_on_a_hub(3, 2)) == 1


def test_copies_of_a_torus_are_exchanged_and_rotated() -> None:
    network = TopologyBuilder("tori")
    network.add_switch("hub")
    torus = build_topology("torus:dims=3x5")
    for copy in range(4):
        for node in torus.compute:
            network.add_compute(f"{copy}/{node}")
            network.add_duplex(f"{copy}/{node}", "hub", 1)
        for link in torus.links:
            network.add_link(f"{copy}/{link.source}", f"{copy}/{link.target}", link.bandwidth)
    assert valid_order(network.build()) == 60
    assert valid_order(renumbered(network.build(), 5)) == 60


@pytest.mark.parametrize("seed", [None, 3])
def test_a_torus_of_routers_has_its_translations_and_those_of_its_compute_nodes(seed: int | None) -> None:
    network = TopologyBuilder("routers")
    torus = build_topology("torus:dims=4x6")
    for node in torus.compute:
        network.add_switch(f"router{node}")
        for gpu in range(3):
            network.add_compute(f"{node}/{gpu}")
            network.add_duplex(f"{node}/{gpu}", f"router{node}", 2)
    for link in torus.links:
        network.add_link(f"router{link.source}", f"router{link.target}", link.bandwidth)
    assert valid_order(renumbered(network.build(), seed)) == 72


@pytest.mark.parametrize("seed", [None, 3])
def test_a_folded_clos_network_of_three_levels_is_one_orbit(seed: int | None) -> None:
    network = TopologyBuilder("clos")
    for core in range(4):
        network.add_switch(f"core{core}")
    for pod in range(4):
        for switch in range(2):
            network.add_switch(f"upper{pod}/{switch}")
            network.add_switch(f"lower{pod}/{switch}")
            for core in (2 * switch, 2 * switch + 1):
                network.add_duplex(f"upper{pod}/{switch}", f"core{core}", 1)
        for lower in range(2):
            for upper in range(2):
                network.add_duplex(f"lower{pod}/{lower}", f"upper{pod}/{upper}", 1)
            for host in range(2):
                network.add_compute(f"host{pod}/{lower}/{host}")
                network.add_duplex(f"host{pod}/{lower}/{host}", f"lower{pod}/{lower}", 1)
    assert valid_order(renumbered(network.build(), seed)) == 16


def test_a_broken_or_slower_link_leaves_little_symmetry() -> None:
    for spec in ("dgx-a100:boxes=4", "torus:dims=4x4x4", "mi250:boxes=4", "ring:nodes=16"):
        topology = build_topology(spec)
        link = topology.links[0]
        assert valid_order(without(topology, (link.source, link.target))) == 1, spec
        assert valid_order(without(topology, (link.source, link.target), (link.target, link.source))) <= 2, spec
    topology = build_topology("dgx-a100:boxes=4")
    slower = tuple(
        Link(each.source, each.target, each.bandwidth / 2) if min(each.source, each.target) < 8 else each
        for each in topology.links
    )
    assert valid_order(Topology("slower", topology.nodes, slower)) == 8


def test_the_boxes_without_a_fault_are_shifted() -> None:
    for spec, gone, order, orbits in [
        ("dgx-a100:boxes=4", "b0/gpu0--ib", 24, 9),
        ("dgx-a100:boxes=4", "b1/gpu0--ib, b1/gpu1--ib", 6, 7),  # two GPUs of the faulty box are exchanged
        ("dgx-a100:boxes=5", "b1/gpu0--ib, b3/gpu1--b3/nvswitch", 24, 17),
        ("mi250:boxes=4", "b3/gpu0--b3/gpu4", 12, 20),
        ("rail:boxes=20", "b0/gpu0--rail0", 19, 16),
        ("gb200-nvl72:boxes=3,gpus=18", "b0/gpu0--ib", 36, 19),
    ]:
        topology = changed_network(build_topology(spec), without=gone.split(", "))
        symmetry = find_symmetry(topology, moves_all=False)
        assert_valid(topology, symmetry, moves_all=False)
        assert symmetry.order == order
        assert len(Orbits.of(topology, symmetry).first_compute(topology)) == orbits


def test_latencies_and_switch_abilities_must_be_equal() -> None:
    square = "a=b:1 b=c:1@1 c=d:1 d=a:1@2"
    assert valid_order(linked("a b c d", square)) == 2
    network = linked("a b c d", f"{square} a=one d=other", switches="one other")
    assert valid_order(network) == 2
    assert valid_order(with_abilities(network, [(False, False), (True, False)])) == 1


def test_a_network_without_symmetry_has_the_trivial_group() -> None:
    asymmetric = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 3), (3, 5), (5, 4), (5, 0)]
    frucht = [(node, (node + 1) % 7) for node in range(7)]  # every node has three neighbours, so none is distinguished
    frucht += [(0, 7), (1, 7), (2, 8), (3, 9), (4, 9), (5, 10), (6, 10), (7, 11), (8, 11), (8, 9), (10, 11)]
    for edges, first in ((asymmetric, 2), (frucht, 1)):
        links = [(one, other, 1 if one else first) for one, other in edges]
        assert find_symmetry(built(range(max(map(max, edges)) + 1), links)).shifts == ()


def test_the_same_links_give_the_same_shifts_whatever_the_ids_and_attributes() -> None:
    topology = renumbered(build_topology("torus:dims=4x5"), 9)
    first, again = ([each.image.tolist() for each in find_symmetry(topology).shifts] for _ in range(2))
    assert first == again
    network = TopologyBuilder("ring")
    ring = network.add_compute("x", place=1), network.add_compute(7, place="far"), network.add_compute("y")
    for one, other in pairwise((*ring, network.add_compute("z", box=3), "x")):
        network.add_link(one, other, 1)
    assert valid_order(network.build()) == 4


def test_a_search_that_reaches_its_limit_returns_what_it_found() -> None:
    for spec in ("mi250:boxes=3", "torus:dims=4x5", "rail-only:boxes=3,gpus=5", "dragonfly"):
        topology = renumbered(build_topology(spec), 4)
        for work in (0, 1, 10_000, 30_000, 100_000, 300_000, 1_000_000):
            found = group_of(graph_of(topology), Budget(work))
            assert_valid(topology, Symmetry(tuple(Shift(each.order, each.image.astype(np.int32)) for each in found)))


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """Copies of a small random network of compute nodes and switches, connected by a hub or a ring."""
    network = TopologyBuilder("random")
    compute, switches = draw(st.integers(1, 4)), draw(st.integers(0, 2))
    copies = draw(st.integers(1, 4))
    nodes = st.integers(0, compute + switches - 1)
    links = draw(st.lists(st.tuples(nodes, nodes, st.integers(1, 2)), max_size=8))
    network.add_switch("hub")
    for copy in range(copies + (compute == 1)):
        for node in range(compute + switches):
            (network.add_compute if node < compute else network.add_switch)(f"{copy}/{node}")
            network.add_duplex(f"{copy}/{node}", "hub", 1)
        for one, other, bandwidth in links:
            if one != other:
                network.add_link(f"{copy}/{one}", f"{copy}/{other}", bandwidth)
    if draw(st.booleans()) and copies > 1:
        for copy in range(copies):
            network.add_link(f"{copy}/0", f"{(copy + 1) % copies}/0", Fraction(1, 3))
    return network.build()


@examples(200)
@given(networks(), st.integers(0, 3))
def test_the_result_for_a_random_network_is_a_group_of_symmetries(topology: Topology, seed: int) -> None:
    assert_valid(topology, find_symmetry(topology))
    other = renumbered(topology, seed)
    assert_valid(other, find_symmetry(other))


def group(*shifts: tuple[int, list[int]]) -> Symmetry:
    return Symmetry(tuple(Shift(order, np.array(image, dtype=np.int32)) for order, image in shifts))


def test_a_wrong_group_is_refused() -> None:
    turn, mirror = [1, 2, 3, 0], [0, 3, 2, 1]
    ring = graph_of(build_topology("ring:nodes=4"))
    for shifts, what in [
        ([(4, [0, 0, 1, 2])], "not a permutation"),
        ([(2, [1, 0, 2, 3])], "keep the links"),
        ([(2, turn)], "stated order"),
        ([(8, turn)], "leaves a compute node"),
        ([(2, mirror)], "leaves a compute node"),
        ([(4, turn), (2, [1, 0, 3, 2])], "commute"),
    ]:
        with pytest.raises(InternalError, match=what):
            prove(ring, group(*shifts))
    prove(ring, group((2, mirror)), moves_all=False)
    with pytest.raises(InternalError, match="leaves a compute node"):
        prove(ring, group((4, mirror)), moves_all=False)


def _cyclic(*orders: int) -> list[Generator]:
    """Return the generators, of these orders, of a group that acts on itself."""
    places = np.arange(int(np.prod(orders))).reshape(orders)
    return [Generator(order, np.roll(places, -1, axis).reshape(-1)) for axis, order in enumerate(orders)]


def test_a_generator_replaces_a_power_of_itself() -> None:
    for seed in range(12):
        assert valid_order(renumbered(build_topology("ring:nodes=4,one_way=true"), seed)) == 4
        circulant = build_topology("circulant:nodes=12,offsets=2+3,one_way=true")
        assert valid_order(renumbered(circulant, seed)) == 12
    gathering = Gathering(np.ones(24, dtype=np.bool_))
    fours, sixes = _cyclic(4, 6)
    assert gathering.offer(power(fours.image, 2))
    assert gathering.offer(power(sixes.image, 3))
    assert gathering.offer(fours.image[sixes.image])
    assert sorted(each.order for each in gathering.generators) == [2, 12]
    assert is_free(gathering.generators, np.ones(24, dtype=np.bool_))
    assert not gathering.offer(fours.image)


def test_a_basis_has_the_orders_of_the_group_and_the_largest_common_group_is_found() -> None:
    for relations, orders in [
        ([[4]], [4]),
        ([[1]], []),
        ([[4, 0], [-1, 2]], [8]),
        ([[4, 0], [-2, 2]], [4, 2]),
        ([[2, 0, 0], [0, 6, 0], [-1, -3, 2]], [12, 2]),
        ([[0, 4], [6, 0]], [12, 2]),
    ]:
        found = basis(relations)
        assert prod(order for order, _ in found) == prod(orders), relations
        assert len(found) >= len(orders), relations
    for groups, orders in COMMON:
        shared = common([_cyclic(*each) for each in groups])
        assert [each.order for each in shared] == orders, groups
        nodes = sum(prod(each) for each in groups)
        assert is_free(shared, np.ones(nodes, dtype=np.bool_)), groups


COMMON: list[tuple[tuple[tuple[int, ...], ...], list[int]]] = [
    (((6,), (4,)), [2]),
    (((6,), (2, 3)), [6]),
    (((8, 6), (4, 4)), [4, 2]),
    (((12, 2), (2, 2, 3)), [6, 2]),
    (((9,), (3, 3)), [3]),
    (((5,), (7,)), []),
]
