"""The graphs of Tables 8 and 9 of the direct-connect paper: sizes, degrees, diameters, and defining properties."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from forestcoll.base.errors import InputError
from forestcoll.topology.families.cayley import Metacyclic
from forestcoll.topology.families.distance_regular import GRAPHS
from forestcoll.topology.networkx_graph import to_networkx
from forestcoll.topology.registry import build_topology


def graph(spec: str) -> nx.DiGraph:
    return to_networkx(build_topology(spec))


def distances(digraph: nx.DiGraph) -> np.ndarray:
    """Return the distance from u to v in row u, column v."""
    lengths = dict(nx.all_pairs_shortest_path_length(digraph))
    nodes = range(len(digraph))
    return np.array([[lengths[one][other] for other in nodes] for one in nodes])


def regular_of(digraph: nx.DiGraph, degree: int) -> bool:
    return {*dict(digraph.in_degree).values(), *dict(digraph.out_degree).values()} == {degree}


def is_reverse_symmetric(digraph: nx.DiGraph) -> bool:
    return bool(nx.is_isomorphic(digraph, digraph.reverse()))


def undirected_moore_distance(nodes: int, degree: int) -> int:
    """Return the Moore bound on the diameter of an undirected graph: 1 + d + d(d-1) + d(d-1)^2 + ... nodes."""
    within, ring, hops = 1, degree, 0
    while within < nodes:
        within, ring, hops = within + ring, ring * (degree - 1), hops + 1
    return hops


def one_way_moore_distance(nodes: int, degree: int) -> int:
    within, ring, hops = 1, 1, 0
    while within < nodes:
        ring, hops = ring * degree, hops + 1
        within += ring
    return hops


TABLE_8 = [
    # nodes, T_L, T_L*, T_L**
    (6, 2, 2, 2),
    (9, 2, 2, 2),
    (10, 3, 2, 2),
    (14, 3, 2, 2),
    (15, 3, 2, 2),
    (16, 4, 2, 2),
    (21, 3, 2, 3),
    (26, 3, 3, 3),
    (32, 4, 3, 3),
    (35, 3, 3, 3),
    (45, 4, 3, 3),
    (70, 7, 3, 4),
    (80, 4, 3, 4),
    (189, 6, 4, 5),
    (728, 6, 5, 6),
]


@pytest.mark.parametrize(("nodes", "diameter", "one_way_bound", "both_ways_bound"), TABLE_8)
def test_a_distance_regular_graph_has_the_published_properties(
    nodes: int, diameter: int, one_way_bound: int, both_ways_bound: int
) -> None:
    digraph = graph(f"distance-regular:nodes={nodes}")
    assert len(digraph) == nodes
    assert regular_of(digraph, 4)
    assert set(digraph.edges) == set(digraph.reverse().edges)
    assert (one_way_moore_distance(nodes, 4), undirected_moore_distance(nodes, 4)) == (one_way_bound, both_ways_bound)
    assert distances(digraph).max() == diameter


@pytest.mark.parametrize("nodes", sorted(GRAPHS))
def test_intersection_numbers_depend_only_on_the_distance(nodes: int) -> None:
    digraph = graph(f"distance-regular:nodes={nodes}")
    apart = distances(digraph)
    adjacent = (apart == 1).astype(np.float32)  # counts are small, so they are exact as floats
    for distance in range(apart.max() + 1):
        nearer = adjacent @ (apart == distance - 1).astype(np.float32)
        further = adjacent @ (apart == distance + 1).astype(np.float32)
        there = apart == distance
        assert len(set(nearer[there].tolist())) == len(set(further[there].tolist())) == 1


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (6, nx.octahedral_graph()),
        (9, nx.cartesian_product(nx.complete_graph(3), nx.complete_graph(3))),
        (14, nx.power(nx.heawood_graph(), 3)),
        (15, nx.line_graph(nx.petersen_graph())),
        (16, nx.hypercube_graph(4)),
        (21, nx.line_graph(nx.heawood_graph())),
    ],
)  # fmt: skip
def test_a_distance_regular_graph_is_isomorphic_to_its_namesake(nodes: int, expected: nx.Graph) -> None:
    found = graph(f"distance-regular:nodes={nodes}").to_undirected()
    if nodes == 14:
        near = nx.heawood_graph()
        expected = nx.Graph(
            (one, other) for one, other in expected.edges if nx.shortest_path_length(near, one, other) == 3
        )
    assert nx.is_isomorphic(found, expected)


@pytest.mark.parametrize(
    ("outer", "step", "expected"),
    [
        (5, 2, nx.petersen_graph()),
        (8, 3, nx.moebius_kantor_graph()),
        (10, 2, nx.dodecahedral_graph()),
        (10, 3, nx.desargues_graph()),
        (7, 1, nx.circular_ladder_graph(7)),
    ],
)
def test_a_generalized_petersen_graph_is_isomorphic_to_its_namesake(outer: int, step: int, expected: nx.Graph) -> None:
    digraph = graph(f"generalized-petersen:outer={outer},step={step}")
    assert regular_of(digraph, 3)
    assert nx.is_isomorphic(digraph.to_undirected(), expected)


def test_an_inner_link_of_a_generalized_petersen_graph_spans_less_than_half_of_the_circle() -> None:
    with pytest.raises(InputError, match="step 3 is too large; with 6 nodes in a circle it must be at most 2"):
        build_topology("generalized-petersen:outer=6,step=3")


def test_the_nearest_distance_regular_graph_is_named() -> None:
    with pytest.raises(InputError, match=r"no such graph of 33 nodes is listed; the nearest has 32"):
        build_topology("distance-regular:nodes=33")


@pytest.mark.parametrize(("degree", "length"), [(2, 1), (2, 2), (3, 1), (3, 2), (4, 1)])
def test_the_kautz_graph_is_a_line_graph_of_the_complete_graph(degree: int, length: int) -> None:
    expected = nx.complete_graph(degree + 1, create_using=nx.DiGraph)
    for _ in range(length):
        expected = nx.line_graph(expected)
    found = graph(f"kautz:degree={degree},length={length}")
    assert nx.is_isomorphic(found, expected)
    assert distances(found).max() == length + 1 == one_way_moore_distance(len(found), degree)
    assert is_reverse_symmetric(found)


@pytest.mark.parametrize(
    ("degree", "nodes"), [(degree, nodes) for degree in (2, 3, 4) for nodes in range(degree + 1, 70)]
)
def test_a_generalized_kautz_graph_is_within_one_hop_of_the_least_diameter(degree: int, nodes: int) -> None:
    found = graph(f"generalized-kautz:degree={degree},nodes={nodes}")
    assert len(found) == nodes
    assert distances(found).max() <= one_way_moore_distance(nodes, degree) + 1
    if nodes % (degree + 1) == 0:
        assert {link for _, link in found.out_degree(weight="bandwidth")} == {degree}


def test_a_generalized_kautz_graph_needs_more_nodes_than_its_degree() -> None:
    with pytest.raises(InputError, match="nodes is 4; with degree 4 it must be at least 5"):
        build_topology("generalized-kautz:degree=4,nodes=4")


@pytest.mark.parametrize(("degree", "length"), [(2, 1), (2, 4), (3, 2), (4, 2), (2, 7)])
def test_the_de_bruijn_graph_shifts_digits_and_lacks_its_loops(degree: int, length: int) -> None:
    found = graph(f"de-bruijn:degree={degree},length={length}")
    assert len(found) == degree**length
    assert distances(found).max() == length
    assert Counter(dict(found.out_degree).values()) == Counter(
        {degree: degree**length - degree, degree - 1: degree} if length > 1 else {degree - 1: degree}
    )
    assert length > 4 or is_reverse_symmetric(found)


@pytest.mark.parametrize(("degree", "length"), [(2, 3), (2, 4), (3, 2), (4, 2)])
def test_the_modified_de_bruijn_graph_has_neither_loops_nor_pairs_of_opposite_links(degree: int, length: int) -> None:
    found = graph(f"modified-de-bruijn:degree={degree},length={length}")
    shifts = {(one, (degree * one + digit) % len(found)) for one in range(len(found)) for digit in range(degree)}
    assert len(found) == degree**length
    assert regular_of(found, degree)
    kept = {(one, other) for one, other in shifts if (other, one) not in shifts}
    cycle = nx.DiGraph(set(found.edges) - kept)
    assert kept < set(found.edges)
    assert nx.is_strongly_connected(cycle)
    assert set(dict(cycle.out_degree).values()) == {1}


def test_an_unknown_modified_de_bruijn_graph_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"no such rewiring is known; take one of degree=2,length=3, degree=2,length=4"
    ):
        build_topology("modified-de-bruijn:degree=3,length=3")


def test_the_diamond_has_the_least_diameter_and_is_isomorphic_to_its_transpose() -> None:
    found = graph("diamond")
    assert (len(found), distances(found).max(), one_way_moore_distance(8, 2)) == (8, 3, 3)
    assert regular_of(found, 2)
    assert is_reverse_symmetric(found)
    assert distances(found).sum() == 8 * 53 / 4


@pytest.mark.parametrize("degree", [1, 2, 4, 7])
def test_the_directed_circulant_has_diameter_two(degree: int) -> None:
    found = graph(f"directed-circulant:degree={degree}")
    offsets = "+".join(map(str, range(1, degree + 1)))
    assert set(found.edges) == set(graph(f"circulant:nodes={degree + 2},offsets={offsets},one_way=true").edges)
    assert distances(found).max() == 2
    assert is_reverse_symmetric(found)


@pytest.mark.parametrize(
    ("spec", "diameter", "torus_diameter"),
    [
        ("twisted-torus:dims=4x8", 4, 6),
        ("twisted-torus:dims=4x4x8", 6, 8),
        ("twisted-torus:dims=3x6", 3, 4),
    ],
)
def test_a_twisted_torus_has_a_smaller_diameter_than_the_torus(spec: str, diameter: int, torus_diameter: int) -> None:
    found = graph(spec)
    dims = spec.partition("=")[2]
    assert regular_of(found, 2 * len(dims.split("x")))
    assert set(found.edges) == set(found.reverse().edges)
    assert distances(found).max() == diameter
    assert distances(graph(f"torus:dims={dims}")).max() == torus_diameter


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("twisted-torus:dims=8", "has one dimension, and nothing to twist"),
        ("twisted-torus:dims=2x8", "a dimension has 2 nodes"),
        ("twisted-torus:dims=4x8,twist=8", "twist is 8; with 8 nodes along the last dimension it must be less"),
    ],
)
def test_an_invalid_twist_is_refused(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_topology(spec)


@pytest.mark.parametrize("dim", [3, 4, 5])
def test_the_diameter_of_a_twisted_hypercube_is_one_less_than_that_of_a_hypercube(dim: int) -> None:
    found = graph(f"twisted-hypercube:dim={dim}")
    cube = graph(f"hypercube:dim={dim}")
    assert regular_of(found, dim)
    assert distances(found).max() == dim - 1
    assert len(set(cube.edges) - set(found.edges)) == len(set(found.edges) - set(cube.edges)) == 4


@pytest.mark.parametrize(("one_way", "degree"), [("true", 3), ("false", 6)])
def test_parallel_links_of_a_ring_add_up(one_way: str, degree: int) -> None:
    ring = build_topology(f"ring:nodes=5,one_way={one_way},parallel=3")
    assert set(ring.egress) == set(ring.ingress) == {degree}


@pytest.mark.parametrize(("outer", "inner", "ratio"), [(5, 4, 2), (8, 2, 7), (7, 3, 2), (9, 1, 1), (4, 4, 3)])
def test_a_metacyclic_group_satisfies_the_group_axioms(outer: int, inner: int, ratio: int) -> None:
    group = Metacyclic(outer, inner, ratio)
    assert group.is_group
    elements = range(group.order)
    for one in elements:
        assert group.product(one, 0) == group.product(0, one) == one
        assert group.product(one, group.inverse(one)) == group.product(group.inverse(one), one) == 0
        for other in range(0, group.order, 3):
            for third in range(0, group.order, 4):
                assert group.product(group.product(one, other), third) == group.product(
                    one, group.product(other, third)
                )


def test_a_cayley_graph_is_vertex_transitive() -> None:
    found = graph("cayley")
    assert regular_of(found, 4)
    apart = distances(found)
    assert len({tuple(sorted(row)) for row in apart.tolist()}) == 1
    circulant = graph("circulant:nodes=9,offsets=1+4,one_way=true")
    assert set(graph("cayley:outer=9,inner=1,ratio=1,generators=1+4").edges) == set(circulant.edges)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "cayley:outer=7,inner=2,ratio=3,generators=1",
            r"ratio\^inner is 2 modulo outer; choose ratio so that it is 1",
        ),
        ("cayley:outer=5,inner=2,ratio=4,generators=1+10", "generator 10 is too large; with 10 nodes"),
        ("cayley:outer=5,inner=2,ratio=4,generators=1+1", "a generator is given twice"),
        ("cayley:outer=6,inner=1,ratio=1,generators=2+4", "compute node 0 cannot reach compute node 1"),
    ],
)
def test_invalid_parameters_of_a_cayley_graph_are_refused(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_topology(spec)


def test_optimal_offsets_give_circulants_of_degree_four_the_least_diameter() -> None:
    for nodes in range(7, 60):
        least = next(m for m in range(nodes) if 2 * m * m + 2 * m + 1 >= nodes)
        assert distances(graph(f"circulant:nodes={nodes},offsets={least}+{least + 1}")).max() == least
    smaller = min(
        distances(graph(f"circulant:nodes=21,offsets={one}+{other}")).max()
        for one, other in combinations(range(1, 11), 2)
        if np.gcd.reduce([21, one, other]) == 1
    )
    assert smaller == 3
