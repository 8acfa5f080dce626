"""The network, the schedule and the predicted cost of each expansion: built, verified, compared with the theorems."""

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestcoll.base.errors import InputError, InternalError
from forestcoll.demand.collective import Collective
from forestcoll.design.constructions import Base, Construction
from forestcoll.design.expressions import (
    Bidirectional,
    BreadthFirst,
    CartesianPower,
    CartesianProduct,
    DegreeExpansion,
    LineGraph,
    Parallel,
    construction_of,
)
from forestcoll.design.measure import Cost, moore_steps
from forestcoll.design.realisation import predicted_cost, schedule_of, topology_of
from forestcoll.design.search.catalogue import bases, kautz
from forestcoll.design.wiring import Wiring, is_mirror
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.topology.networkx_graph import to_networkx
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify


def base(nodes: int, degree: int, name: str) -> Base:
    known = (*bases(nodes, degree), kautz(nodes, degree))
    return next(each for each in known if each is not None and each.name == name)


K22, K44, K3 = base(4, 2, "K(2,2)"), base(8, 4, "K(4,4)"), base(3, 2, "K(3)")
DIAMOND, RING4, RING8 = base(8, 2, "Diamond"), base(4, 1, "UniRing(1,4)"), base(8, 1, "UniRing(1,8)")
PAIR, KAUTZ, MOD = base(2, 1, "K(2)"), base(13, 4, "Π(4,13)"), base(16, 2, "DBJMod(2,4)")
C13 = base(13, 4, "C(13,{2,3})")
WIDE_RING, HAMMING = base(6, 4, "BiRing(4,6)"), base(9, 4, "H(2,3)")

CONSTRUCTIONS: list[Construction] = [
    LineGraph.of(K22),
    LineGraph.of(LineGraph.of(K44)),
    LineGraph.of(HAMMING),
    LineGraph.of(DIAMOND),
    LineGraph.of(KAUTZ),
    LineGraph.of(WIDE_RING),
    LineGraph.of(base(8, 2, "DBJ(2,3)")),
    DegreeExpansion.of(RING4, 2),
    DegreeExpansion.of(RING4, 3),
    DegreeExpansion.of(K3, 2),
    DegreeExpansion.of(DIAMOND, 2),
    DegreeExpansion.of(base(6, 2, "BiRing(2,6)"), 2),
    DegreeExpansion.of(base(5, 3, "UniRing(3,5)"), 2),
    CartesianPower.of(DIAMOND, 2),
    CartesianPower.of(RING4, 3),
    CartesianPower.of(base(5, 2, "Π(2,5)"), 2),
    CartesianPower.of(CartesianProduct.of((RING4, PAIR)), 2),
    CartesianProduct.of((RING4, RING8)),
    CartesianProduct.of((K3, RING4, PAIR)),
    CartesianProduct.of((base(5, 2, "BiRing(2,5)"), K22)),
    Bidirectional.of(DIAMOND),
    Bidirectional.of(LineGraph.of(K22)),
    Bidirectional.of(CartesianPower.of(RING4, 2)),
    Bidirectional.of(MOD),
    BreadthFirst.of(DegreeExpansion.of(base(5, 2, "BiRing(2,5)"), 2)),
    BreadthFirst.of(Bidirectional.of(DIAMOND)),
    LineGraph.of(CartesianPower.of(DIAMOND, 2)),
    DegreeExpansion.of(LineGraph.of(K22), 2),
    LineGraph.of(DegreeExpansion.of(RING4, 2)),
    Parallel.of(C13, 2),
    Parallel.of(KAUTZ, 2),
    Parallel.of(DIAMOND, 2),
    Parallel.of(LineGraph.of(K22), 3),
    LineGraph.of(Parallel.of(K22, 2)),
    LineGraph.of(Parallel.of(C13, 2)),
    DegreeExpansion.of(Parallel.of(RING4, 2), 2),
    CartesianPower.of(Parallel.of(K3, 2), 2),
    Bidirectional.of(Parallel.of(RING4, 3)),
    BreadthFirst.of(DegreeExpansion.of(C13, 2)),
    BreadthFirst.of(DegreeExpansion.of(DIAMOND, 2)),
    base(13, 6, "C(13,{2,2,3})"),
    base(13, 5, "DirC(13,{2,2,3,10,11})"),
]
IDS = [each.name for each in CONSTRUCTIONS]


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=IDS)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_the_schedule_is_correct_and_has_the_predicted_cost(construction: Construction, collective: str) -> None:
    schedule = schedule_of(construction, collective)
    assert verify(schedule).ok
    predicted, cost = predicted_cost(construction, collective), step_shape(schedule)
    assert (cost.steps, cost.bandwidth_factor) == (predicted.steps, predicted.bandwidth_factor)
    assert schedule.topology.links == topology_of(construction).links
    assert schedule.collective is Collective(collective)


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=IDS)
def test_the_network_has_the_stated_size_degree_and_diameter(construction: Construction) -> None:
    wiring = construction.wiring
    assert (wiring.nodes, wiring.degree) == (construction.nodes, construction.degree)
    assert (wiring.is_simple, wiring.is_bidirectional) == (construction.is_simple, construction.is_bidirectional)
    assert nx.diameter(to_networkx(topology_of(construction))) == construction.diameter
    assert construction.diameter <= construction.cost.steps
    assert construction.is_breadth_first == (wiring.breadth_first_cost() == construction.cost) or (
        not construction.is_breadth_first
    )


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=IDS)
def test_expansions_keep_reverse_symmetry(construction: Construction) -> None:
    mirror = construction.mirror()
    if KAUTZ.name in construction.name or "Π(2,5)" in construction.name:
        assert mirror is None
    else:
        assert mirror is not None
        assert is_mirror(construction.wiring, mirror)


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=IDS)
def test_an_expression_is_read_back_from_its_document(construction: Construction) -> None:
    assert construction_of(construction.to_document()) == construction


def test_the_line_graph_is_that_of_graph_theory() -> None:
    graph = to_networkx(topology_of(LineGraph.of(HAMMING)))
    assert nx.is_isomorphic(graph, nx.line_graph(to_networkx(HAMMING.wiring.topology("base"))))
    kautz = to_networkx(build_topology("kautz:degree=2,length=2"))
    assert nx.is_isomorphic(to_networkx(topology_of(LineGraph.of(LineGraph.of(K3)))), kautz)


def test_the_product_is_that_of_graph_theory() -> None:
    product = nx.cartesian_product(to_networkx(K3.wiring.topology("a")), to_networkx(RING4.wiring.topology("b")))
    assert nx.is_isomorphic(to_networkx(topology_of(CartesianProduct.of((K3, RING4)))), product)
    torus = to_networkx(build_topology("torus:dims=4x4"))
    ring = base(4, 2, "BiRing(2,4)")
    assert nx.utils.graphs_equal(
        nx.DiGraph(to_networkx(topology_of(CartesianPower.of(ring, 2))).edges), nx.DiGraph(torus.edges)
    )


def test_the_degree_expansion_is_the_lexicographic_product_with_independent_sets() -> None:
    expected = nx.lexicographic_product(to_networkx(RING4.wiring.topology("a")), nx.empty_graph(3, nx.DiGraph))
    assert nx.is_isomorphic(to_networkx(topology_of(DegreeExpansion.of(RING4, 3))), expected)


def test_a_bidirectional_network_keeps_steps_and_bandwidth_and_doubles_the_degree() -> None:
    both = Bidirectional.of(DIAMOND)
    assert (both.nodes, both.degree, both.cost) == (8, 4, DIAMOND.cost)
    links = {(link.source, link.target) for link in topology_of(both).links}
    assert links == {(target, source) for source, target in links}


def test_line_graphs_keep_moore_optimality_and_stay_a_constant_from_the_best_bandwidth() -> None:
    construction: Construction = HAMMING
    for times in range(1, 4):
        construction = LineGraph.of(construction)
        assert construction.is_moore_optimal
        ratio = construction.cost.bandwidth_factor / Fraction(construction.nodes - 1, construction.nodes)
        assert ratio <= 1 + Fraction(1, 3 * 9)  # Theorem 9
        assert construction.cost.steps == 2 + times == moore_steps(construction.nodes, 4)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(2, 3), st.randoms(use_true_random=False))
def test_expansions_of_random_regular_networks_are_correct(nodes: int, degree: int, draw: object) -> None:
    wiring = random_wiring(nodes, degree, draw)
    cost = wiring.breadth_first_cost()
    if cost is None or (wiring.targets == np.arange(nodes)[:, None]).any(axis=1).all():
        return  # not strongly connected, or every node has a loop, so that B is less than the degree
    grown = RandomBase(
        name="random",
        nodes=nodes,
        degree=degree,
        cost=cost,
        is_bidirectional=False,
        is_breadth_first=True,
        is_simple=wiring.is_simple,
        has_loops=wiring.has_loops,
        branches=wiring.branches,
        spec="",
    )
    grown.__dict__["wiring"] = wiring
    for construction in (
        CartesianPower.of(grown, 2),
        Parallel.of(grown, 2),
        *([LineGraph.of(grown)] * wiring.branches),
    ):
        schedule_of(construction)
    if not wiring.has_loops:
        schedule_of(DegreeExpansion.of(grown, 2))
        schedule_of(BreadthFirst.of(DegreeExpansion.of(grown, 2)))


class RandomBase(Base):
    """A base network that is not made by a topology builder."""

    def mirror(self) -> None:
        return None


def random_wiring(nodes: int, degree: int, draw: object) -> Wiring:
    columns = []
    for _ in range(degree):
        column = list(range(nodes))
        draw.shuffle(column)  # type: ignore[attr-defined]
        columns.append(column)
    return Wiring.of_arcs(nodes, [(node, column[node]) for node in range(nodes) for column in columns])


@pytest.mark.parametrize(("nodes", "name"), [(13, "Π(4,13)"), (17, "Π(4,17)"), (22, "Π(4,22)")])
def test_the_reduce_scatter_cost_of_a_line_graph_without_a_mirror_follows_from_its_base(nodes: int, name: str) -> None:
    line = LineGraph.of(LineGraph.of(base(nodes, 4, name)))
    assert line.mirror() is None
    assert line.reduce_scatter_cost == line.wiring.transposed().breadth_first_cost()


def test_allreduce_on_products_of_cayley_graphs_has_the_predicted_cost() -> None:
    cayley = next(each for each in bases(33, 4) if "Cayley" in each.name and each.is_bandwidth_optimal)
    product = CartesianProduct.of((PAIR, K3, cayley))
    assert product.reduce_scatter_cost == product.wiring.transposed().breadth_first_cost()
    schedule_of(product, "allreduce")


def test_a_wrong_prediction_raises_an_internal_error() -> None:
    wrong = replace(base(5, 4, "K(5)"), cost=Cost(1, Fraction(3, 4)))
    with pytest.raises(InternalError, match="costs 1 steps and 4/5 M/B, not 1 and 3/4"):
        schedule_of(wrong)


def test_a_broadcast_has_no_step_schedule() -> None:
    with pytest.raises(InputError, match="a broadcast has no step schedule"):
        schedule_of(K44, "broadcast")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dgx-a100:boxes=2", "'b0/nvswitch' is a switch; give a network without switches"),
        (
            "mesh:dims=2x3",
            "has 3 outgoing and 3 incoming links, node 0 has 2 outgoing; give every node the same number",
        ),
        ("complete-bipartite:left=2,right=3", "expansions need a regular network"),
    ],
)
def test_an_irregular_network_raises_an_error(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Wiring.of_topology(build_topology(spec))
