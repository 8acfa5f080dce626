"""The graphs of Tables 8 and 9 of the direct-connect paper: sizes, degrees, diameters, and defining properties."""

from collections import Counter
from itertools import combinations, product

import networkx as nx
import numpy as np

from forestcoll.solver.bounds.latency import moore_steps
from forestcoll.topology.families.cayley import Metacyclic
from forestcoll.topology.families.distance_regular import GRAPHS
from forestcoll.topology.networkx_graph import to_networkx
from forestcoll.topology.registry import build_topology
from refusal import refusal


def graph(spec: str) -> nx.DiGraph:
    return to_networkx(build_topology(spec))


def distances(digraph: nx.DiGraph) -> np.ndarray:
    """Return the distance from u to v in row u, column v."""
    adjacent = nx.to_numpy_array(digraph, nodelist=range(len(digraph)), weight=None, dtype=np.float32)
    reached = np.eye(len(digraph), dtype=np.float32)
    apart = np.where(reached > 0, 0, -1)
    for distance in range(1, len(digraph)):
        reached = np.minimum(reached @ adjacent, 1)
        apart[(reached > 0) & (apart < 0)] = distance
        if apart.min() >= 0:
            break
    return apart


def regular_of(digraph: nx.DiGraph, degree: int) -> bool:
    return {*dict(digraph.in_degree).values(), *dict(digraph.out_degree).values()} == {degree}


def is_reverse_symmetric(digraph: nx.DiGraph) -> bool:
    return bool(nx.is_isomorphic(digraph, digraph.reverse()))


TABLE_8 = {
    # nodes: T_L, T_L*, T_L**
    6: (2, 2, 2), 9: (2, 2, 2), 10: (3, 2, 2), 14: (3, 2, 2), 15: (3, 2, 2), 16: (4, 2, 2), 21: (3, 2, 3),
    26: (3, 3, 3), 32: (4, 3, 3), 35: (3, 3, 3), 45: (4, 3, 3), 70: (7, 3, 4), 80: (4, 3, 4),
    189: (6, 4, 5), 728: (6, 5, 6),
}  # fmt: skip


def test_the_distance_regular_graphs_have_the_published_properties() -> None:
    assert list(TABLE_8) == sorted(GRAPHS)
    for nodes, (diameter, *bounds) in TABLE_8.items():
        digraph = graph(f"distance-regular:nodes={nodes}")
        assert len(digraph) == nodes
        assert regular_of(digraph, 4), nodes
        assert set(digraph.edges) == set(digraph.reverse().edges), nodes
        assert [moore_steps(nodes, 4, both_ways=both_ways) for both_ways in (False, True)] == bounds, nodes
        apart = distances(digraph)
        assert apart.max() == diameter, nodes
        # Intersection numbers depend only on the distance.
        adjacent = (apart == 1).astype(np.float32)  # counts are small, so they are exact as floats
        for distance in range(diameter + 1):
            there = apart == distance
            for near in (distance - 1, distance + 1):
                counts = (adjacent @ (apart == near).astype(np.float32))[there]
                assert counts.min() == counts.max(), nodes


def graph_of_distance_three(expected: nx.Graph) -> nx.Graph:
    near = dict(nx.all_pairs_shortest_path_length(expected))
    return nx.Graph((one, other) for one, other in combinations(expected, 2) if near[one][other] == 3)


NAMESAKES = [
    ("distance-regular:nodes=6", nx.octahedral_graph()),
    ("distance-regular:nodes=9", nx.cartesian_product(nx.complete_graph(3), nx.complete_graph(3))),
    ("distance-regular:nodes=14", graph_of_distance_three(nx.heawood_graph())),
    ("distance-regular:nodes=15", nx.line_graph(nx.petersen_graph())),
    ("distance-regular:nodes=16", nx.hypercube_graph(4)),
    ("distance-regular:nodes=21", nx.line_graph(nx.heawood_graph())),
    ("generalized-petersen:outer=5,step=2", nx.petersen_graph()),
    ("generalized-petersen:outer=8,step=3", nx.moebius_kantor_graph()),
    ("generalized-petersen:outer=10,step=2", nx.dodecahedral_graph()),
    ("generalized-petersen:outer=10,step=3", nx.desargues_graph()),
    ("generalized-petersen:outer=7,step=1", nx.circular_ladder_graph(7)),
]


def test_a_graph_is_isomorphic_to_its_namesake() -> None:
    for spec, expected in NAMESAKES:
        digraph = graph(spec)
        assert regular_of(digraph, 4 if spec.startswith("distance") else 3), spec
        assert nx.is_isomorphic(digraph.to_undirected(), expected), spec


INVALID = {
    "generalized-petersen:outer=6,step=3": "step 3 is too large; with 6 nodes in a circle it must be at most 2",
    "distance-regular:nodes=33": "no such graph of 33 nodes is listed; the nearest has 32",
    "generalized-kautz:degree=4,nodes=4": "nodes is 4; with degree 4 it must be at least 5",
    "modified-de-bruijn:degree=3,length=3": "no such rewiring is known; take one of degree=2,length=3, degree=2,len",
    "twisted-torus:dims=8": "has one dimension, and nothing to twist",
    "twisted-torus:dims=2x8": "a dimension has 2 nodes",
    "twisted-torus:dims=4x8,twist=8": "twist is 8; with 8 nodes along the last dimension it must be less",
    "cayley:outer=7,inner=2,ratio=3,generators=1": "ratio^inner is 2 modulo outer; choose ratio so that it is 1",
    "cayley:outer=5,inner=2,ratio=4,generators=1+10": "generator 10 is too large; with 10 nodes",
    "cayley:outer=5,inner=2,ratio=4,generators=1+1": "a generator is given twice",
    "cayley:outer=6,inner=1,ratio=1,generators=2+4": "compute node 0 cannot reach compute node 1",
}


def test_parameters_that_make_no_graph_are_refused() -> None:
    for spec, message in INVALID.items():
        assert message in refusal(build_topology, spec)


def test_the_kautz_graph_is_a_line_graph_of_the_complete_graph() -> None:
    for degree, length in [(2, 1), (2, 2), (3, 1), (3, 2), (4, 1)]:
        expected = nx.complete_graph(degree + 1, create_using=nx.DiGraph)
        for _ in range(length):
            expected = nx.line_graph(expected)
        found = graph(f"kautz:degree={degree},length={length}")
        assert nx.is_isomorphic(found, expected), degree
        assert distances(found).max() == length + 1 == moore_steps(len(found), degree, both_ways=False)
        assert is_reverse_symmetric(found), degree


def test_the_de_bruijn_graph_shifts_digits_and_lacks_its_loops() -> None:
    for degree, length in [(2, 1), (2, 4), (3, 2), (4, 2), (2, 7)]:
        found = graph(f"de-bruijn:degree={degree},length={length}")
        assert len(found) == degree**length
        assert distances(found).max() == length
        assert Counter(dict(found.out_degree).values()) == Counter(
            {degree: degree**length - degree, degree - 1: degree} if length > 1 else {degree - 1: degree}
        )
        assert length > 4 or is_reverse_symmetric(found)


def test_the_modified_de_bruijn_graph_has_neither_loops_nor_pairs_of_opposite_links() -> None:
    for degree, length in [(2, 3), (2, 4), (3, 2), (4, 2)]:
        found = graph(f"modified-de-bruijn:degree={degree},length={length}")
        shifts = {(one, (degree * one + digit) % len(found)) for one in range(len(found)) for digit in range(degree)}
        assert len(found) == degree**length
        assert regular_of(found, degree)
        kept = {(one, other) for one, other in shifts if (other, one) not in shifts}
        cycle = nx.DiGraph(set(found.edges) - kept)
        assert kept < set(found.edges), degree
        assert nx.is_strongly_connected(cycle), degree
        assert set(dict(cycle.out_degree).values()) == {1}, degree


def test_the_directed_circulant_has_diameter_two() -> None:
    for degree in [1, 2, 4, 7]:
        found = graph(f"directed-circulant:degree={degree}")
        offsets = "+".join(map(str, range(1, degree + 1)))
        assert set(found.edges) == set(graph(f"circulant:nodes={degree + 2},offsets={offsets},one_way=true").edges)
        assert distances(found).max() == 2, degree
        assert is_reverse_symmetric(found), degree


def test_a_twisted_torus_has_a_smaller_diameter_than_the_torus() -> None:
    for dims, diameter, torus_diameter in [("4x8", 4, 6), ("4x4x8", 6, 8), ("3x6", 3, 4)]:
        found = graph(f"twisted-torus:dims={dims}")
        assert regular_of(found, 2 * len(dims.split("x"))), dims
        assert set(found.edges) == set(found.reverse().edges), dims
        assert distances(found).max() == diameter, dims
        assert distances(graph(f"torus:dims={dims}")).max() == torus_diameter, dims


def test_the_diameter_of_a_twisted_hypercube_is_one_less_than_that_of_a_hypercube() -> None:
    for dim in [3, 4, 5]:
        found = graph(f"twisted-hypercube:dim={dim}")
        cube = graph(f"hypercube:dim={dim}")
        assert regular_of(found, dim)
        assert distances(found).max() == dim - 1
        assert len(set(cube.edges) - set(found.edges)) == len(set(found.edges) - set(cube.edges)) == 4, dim


def test_a_metacyclic_group_satisfies_the_group_axioms() -> None:
    for outer, inner, ratio in [(5, 4, 2), (8, 2, 7), (7, 3, 2), (9, 1, 1), (4, 4, 3)]:
        group = Metacyclic(outer, inner, ratio)
        assert group.is_group, outer
        elements = range(group.order)
        for one in elements:
            assert group.product(one, 0) == group.product(0, one) == one, outer
            assert group.product(one, group.inverse(one)) == group.product(group.inverse(one), one) == 0, outer
            for other, third in product(range(0, group.order, 3), range(0, group.order, 4)):
                both = group.product(group.product(one, other), third)
                assert both == group.product(one, group.product(other, third)), outer


def test_a_cayley_graph_is_vertex_transitive() -> None:
    found = graph("cayley")
    assert regular_of(found, 4)
    apart = distances(found)
    assert len({tuple(sorted(row)) for row in apart.tolist()}) == 1
    circulant = graph("circulant:nodes=9,offsets=1+4,one_way=true")
    assert set(graph("cayley:outer=9,inner=1,ratio=1,generators=1+4").edges) == set(circulant.edges)
