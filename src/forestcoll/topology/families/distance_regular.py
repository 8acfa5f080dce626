"""The distance-regular graphs of degree 4 that Table 8 of the direct-connect paper lists, by their number of nodes.

In a distance-regular graph, take two nodes: how many nodes have distance i from the one and j from the other depends
only on the distance of the two. That is why a breadth-first broadcast loads all links equally. Each graph is made from
its definition: subsets, finite geometries (`_designs`), and line graphs of their incidence graphs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.families import _designs
from forestcoll.topology.families._direct import ArcRecipe, grid_pairs
from forestcoll.topology.registry import topology_builder

Pairs = list[tuple[int, int]]

DEGREE = 4


def _octahedron() -> Pairs:
    return [(one, other) for one, other in combinations(range(6), 2) if other != one + 3]


def _paley_nine() -> Pairs:
    """Return the Hamming graph H(2, 3), which equals the Paley graph of 9 nodes."""
    return [
        (one, other) for one, other in combinations(range(9), 2) if (one // 3 == other // 3) != (one % 3 == other % 3)
    ]


def _bipartite_without_matching() -> Pairs:
    return [(left, 5 + right) for left, right in product(range(5), repeat=2) if left != right]


def _points_off_lines_of_fano() -> Pairs:
    lines = _designs.projective_plane(2)
    return [(point, 7 + number) for number, line in enumerate(lines) for point in range(7) if point not in line]


def _line_graph_of_petersen() -> Pairs:
    return _line_graph(_disjoint_subsets(5, 2))


def _four_cube() -> Pairs:
    return list(grid_pairs([2] * 4, wrap=False))


def _line_graph_of_heawood() -> Pairs:
    return _line_graph(list(_designs.incidence_pairs(_designs.projective_plane(2), 7)))


def _incidence_of_plane_of_order_three() -> Pairs:
    return list(_designs.incidence_pairs(_designs.projective_plane(3), 13))


def _incidence_of_affine_plane() -> Pairs:
    return list(_designs.incidence_pairs(_designs.affine_plane_without_a_class(), 16))


def _odd_graph() -> Pairs:
    return _disjoint_subsets(7, 3)


def _line_graph_of_eight_cage() -> Pairs:
    return _line_graph(list(_designs.incidence_pairs(_designs.symplectic_quadrangle(2), 15)))


def _doubled_odd_graph() -> Pairs:
    threes = [frozenset(subset) for subset in combinations(range(7), 3)]
    fours = [frozenset(subset) for subset in combinations(range(7), 4)]
    return [
        (inner, len(threes) + outer)
        for inner, three in enumerate(threes)
        for outer, four in enumerate(fours)
        if three < four
    ]


def _incidence_of_quadrangle() -> Pairs:
    return list(_designs.incidence_pairs(_designs.symplectic_quadrangle(3), 40))


def _line_graph_of_twelve_cage() -> Pairs:
    return _line_graph(list(_designs.incidence_pairs(_designs.split_cayley_hexagon(2), 63)))


def _incidence_of_hexagon() -> Pairs:
    return list(_designs.incidence_pairs(_designs.split_cayley_hexagon(3), 364))


def _disjoint_subsets(ground: int, size: int) -> Pairs:
    subsets = [frozenset(subset) for subset in combinations(range(ground), size)]
    return [pair for pair in combinations(range(len(subsets)), 2) if subsets[pair[0]].isdisjoint(subsets[pair[1]])]


def _line_graph(edges: Pairs) -> Pairs:
    """Return the pairs of edges that share an end, by their positions in the list."""
    return [pair for pair in combinations(range(len(edges)), 2) if set(edges[pair[0]]) & set(edges[pair[1]])]


GRAPHS: Mapping[int, tuple[str, Callable[[], Pairs]]] = {
    6: ("octahedron J(4,2)", _octahedron),
    9: ("Paley graph P9, the Hamming graph H(2,3)", _paley_nine),
    10: ("K5,5 without a perfect matching", _bipartite_without_matching),
    14: ("distance-3 graph of the Heawood graph", _points_off_lines_of_fano),
    15: ("line graph of the Petersen graph", _line_graph_of_petersen),
    16: ("4-cube, the Hamming graph H(4,2)", _four_cube),
    21: ("line graph of the Heawood graph", _line_graph_of_heawood),
    26: ("incidence graph of PG(2,3)", _incidence_of_plane_of_order_three),
    32: ("incidence graph of AG(2,4) without a parallel class", _incidence_of_affine_plane),
    35: ("odd graph O4", _odd_graph),
    45: ("line graph of Tutte's 8-cage", _line_graph_of_eight_cage),
    70: ("doubled odd graph D(O4)", _doubled_odd_graph),
    80: ("incidence graph of GQ(3,3)", _incidence_of_quadrangle),
    189: ("line graph of Tutte's 12-cage", _line_graph_of_twelve_cage),
    728: ("incidence graph of GH(3,3)", _incidence_of_hexagon),
}
"""For each number of nodes: the name of the graph, and the function that yields its pairs of neighbours."""


@topology_builder(
    "distance-regular",
    summary="distance-regular graph of degree 4, nodes: 6, 9, 10, 14, 15, 16, 21, 26, 32, 35, 45, 70, 80, 189, 728",
    source="unit bandwidth; L. Zhao et al., Efficient Direct-Connect Topologies (NSDI 2025), Table 8",
)
@dataclass(frozen=True)
class DistanceRegular(ArcRecipe):
    """A distance-regular graph, selected by its number of nodes."""

    nodes: int = integer(32, "compute nodes", minimum=6, maximum=728, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")

    def problem(self) -> str | None:
        if self.nodes in GRAPHS:
            return None
        nearest = min(GRAPHS, key=lambda known: (abs(known - self.nodes), known))
        return f"no such graph of {self.nodes} nodes is listed; the nearest has {nearest}"

    def order(self) -> int:
        return self.nodes

    def degree_of_arcs(self) -> int:
        return DEGREE

    def arcs(self) -> Iterator[tuple[int, int]]:
        for one, other in GRAPHS[self.nodes][1]():
            yield one, other
            yield other, one
