"""The network, the schedule and the predicted cost of each expansion: built, verified, compared with the theorems."""

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_wirings import random_wiring

from forestcoll.base.errors import InternalError
from forestcoll.demand.collective import Collective
from forestcoll.design.constructions import Base, Construction
from forestcoll.design.expansions.bidirectional import Bidirectional
from forestcoll.design.expansions.breadth_first import BreadthFirst
from forestcoll.design.expansions.cartesian_power import CartesianPower
from forestcoll.design.expansions.cartesian_product import CartesianProduct
from forestcoll.design.expansions.degree_expansion import DegreeExpansion
from forestcoll.design.expansions.line_graph import LineGraph
from forestcoll.design.expansions.parallel import Parallel
from forestcoll.design.measure import Cost, moore_steps
from forestcoll.design.realisation import predicted_cost, schedule_of, topology_of
from forestcoll.design.search.catalogue import bases, kautz
from forestcoll.design.wiring import Wiring, is_mirror
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.topology.networkx_graph import to_networkx
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples
from refusal import refusal


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
    LineGraph.of(DIAMOND),
    LineGraph.of(KAUTZ),
    LineGraph.of(WIDE_RING),
    LineGraph.of(base(8, 2, "DBJ(2,3)")),
    DegreeExpansion.of(RING4, 3),
    DegreeExpansion.of(K3, 2),
    DegreeExpansion.of(DIAMOND, 2),
    DegreeExpansion.of(base(5, 3, "UniRing(3,5)"), 2),
    CartesianPower.of(DIAMOND, 2),
    CartesianPower.of(RING4, 3),
    CartesianPower.of(base(5, 2, "Π(2,5)"), 2),
    CartesianPower.of(CartesianProduct.of((RING4, PAIR)), 2),
    CartesianProduct.of((RING4, RING8)),
    CartesianProduct.of((K3, RING4, PAIR)),
    Bidirectional.of(DIAMOND),
    Bidirectional.of(LineGraph.of(K22)),
    Bidirectional.of(MOD),
    BreadthFirst.of(DegreeExpansion.of(base(5, 2, "BiRing(2,5)"), 2)),
    BreadthFirst.of(Bidirectional.of(DIAMOND)),
    LineGraph.of(CartesianPower.of(K3, 2)),
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
    BreadthFirst.of(DegreeExpansion.of(DIAMOND, 2)),
    base(13, 6, "C(13,{2,2,3})"),
    base(13, 5, "DirC(13,{2,2,3,10,11})"),
]


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_the_schedule_is_correct_and_has_the_predicted_cost(collective: str) -> None:
    for construction in CONSTRUCTIONS:
        schedule = schedule_of(construction, collective)
        assert verify(schedule).ok, construction.name
        predicted, cost = predicted_cost(construction, collective), step_shape(schedule)
        assert cost.steps == predicted.steps, construction.name
        assert cost.bandwidth_factor == predicted.bandwidth_factor, construction.name
        assert schedule.topology.links == topology_of(construction).links, construction.name
        assert schedule.collective is Collective(collective)


def test_the_network_has_the_stated_properties() -> None:
    for each in CONSTRUCTIONS:
        wiring = each.wiring
        assert (wiring.nodes, wiring.degree) == (each.nodes, each.degree), each.name
        assert (wiring.is_simple, wiring.is_bidirectional) == (each.is_simple, each.is_bidirectional), each.name
        assert nx.diameter(to_networkx(topology_of(each))) == each.diameter <= each.cost.steps, each.name
        assert not each.is_breadth_first or wiring.breadth_first_cost() == each.cost, each.name
        mirror = each.mirror()
        assert (mirror is None) == (KAUTZ.name in each.name or "Π(2,5)" in each.name), each.name
        assert mirror is None or is_mirror(wiring, mirror), each.name


def test_expansions_are_those_of_graph_theory() -> None:
    graph = to_networkx(topology_of(LineGraph.of(HAMMING)))
    assert nx.is_isomorphic(graph, nx.line_graph(to_networkx(HAMMING.wiring.topology("base"))))
    kautz = to_networkx(build_topology("kautz:degree=2,length=2"))
    assert nx.is_isomorphic(to_networkx(topology_of(LineGraph.of(LineGraph.of(K3)))), kautz)
    product = nx.cartesian_product(to_networkx(K3.wiring.topology("a")), to_networkx(RING4.wiring.topology("b")))
    assert nx.is_isomorphic(to_networkx(topology_of(CartesianProduct.of((K3, RING4)))), product)
    torus = to_networkx(build_topology("torus:dims=4x4"))
    ring = base(4, 2, "BiRing(2,4)")
    assert nx.utils.graphs_equal(
        nx.DiGraph(to_networkx(topology_of(CartesianPower.of(ring, 2))).edges), nx.DiGraph(torus.edges)
    )
    expected = nx.lexicographic_product(to_networkx(RING4.wiring.topology("a")), nx.empty_graph(3, nx.DiGraph))
    assert nx.is_isomorphic(to_networkx(topology_of(DegreeExpansion.of(RING4, 3))), expected)
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


@examples(40)
@given(st.integers(3, 9), st.integers(2, 3), st.randoms(use_true_random=False))
def test_expansions_of_random_regular_networks_are_correct(nodes: int, degree: int, draw: object) -> None:
    wiring = random_wiring(nodes, degree, draw)
    cost = wiring.breadth_first_cost()
    if cost is None or (wiring.targets == np.arange(nodes)[:, None]).any(axis=1).all():
        return  # not strongly connected, or every node has a loop, so that B is less than the degree
    features = {"is_simple": wiring.is_simple, "has_loops": wiring.has_loops, "branches": wiring.branches}
    grown = RandomBase(
        "random", nodes, degree, cost, is_bidirectional=False, is_breadth_first=True, spec="", **features
    )
    grown.__dict__["wiring"] = wiring
    lines = [LineGraph.of(grown)] * wiring.branches
    for construction in (CartesianPower.of(grown, 2), Parallel.of(grown, 2), *lines):
        schedule_of(construction)
    if not wiring.has_loops:
        schedule_of(DegreeExpansion.of(grown, 2))
        schedule_of(BreadthFirst.of(DegreeExpansion.of(grown, 2)))


class RandomBase(Base):
    """A base network that is not made by a topology builder."""

    def mirror(self) -> None:
        return None


def test_the_reduce_scatter_cost_of_a_line_graph_without_a_mirror_follows_from_its_base() -> None:
    for nodes in (13, 17, 22):
        line = LineGraph.of(LineGraph.of(base(nodes, 4, f"Π(4,{nodes})")))
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


def test_what_has_no_steps_and_irregular_networks_are_refused() -> None:
    assert "a broadcast has no step schedule" in refusal(schedule_of, K44, "broadcast")
    message = "has 3 outgoing and 3 incoming links, node 0 has 2 outgoing; give every node the same number"
    assert message in refusal(Wiring.of_topology, build_topology("mesh:dims=2x3"))
