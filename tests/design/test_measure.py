"""Counted costs of breadth-first broadcasts, compared with the schedules."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_wirings import random_wiring

from forestcoll.design.bases import base_wiring
from forestcoll.design.kautz_cost import de_bruijn_cost, kautz_cost
from forestcoll.design.measure import Cost, breadth_first_cost, cayley_cost, least_factor, moore_steps
from forestcoll.design.search.catalogue import kautz_bound
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.solver.generation.bfb import bfb
from networks import examples


@examples(60)
@given(st.integers(3, 14), st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_counted_cost_equals_the_cost_of_the_best_schedule(nodes: int, degree: int, draw: object) -> None:
    wiring = random_wiring(nodes, degree, draw)
    counted = wiring.breadth_first_cost()
    if counted is None:
        return
    cost = step_shape(bfb(wiring.topology("random")))
    wasted = Fraction(degree) / cost.egress  # if every node has a loop, B is less than the degree
    assert (counted.steps, counted.bandwidth_factor) == (cost.steps, cost.bandwidth_factor * wasted)


def test_a_network_that_is_not_strongly_connected_or_of_a_large_degree_has_no_counted_cost() -> None:
    assert breadth_first_cost(np.array([[1], [0], [3], [2]])) is None
    assert cayley_cost(np.array([[1, 0, 3, 2]]), np.array([[1, 0, 3, 2]])) is None
    with pytest.raises(ValueError, match="degree 11 is more than 10"):
        breadth_first_cost(np.zeros((12, 11), dtype=np.int64))


def test_the_cost_counted_at_one_node_equals_the_cost_counted_at_all_nodes() -> None:
    numbers = np.arange(16)
    for offsets in [(3, 4), (1, 2, 5), (1, 8), (2, 7, 11, 15)]:
        onward = np.array([(numbers + offset) % 16 for offset in offsets])
        back = np.array([(numbers - offset) % 16 for offset in offsets])
        assert cayley_cost(onward, back) == breadth_first_cost(back.T), offsets


def test_the_moore_bound_and_the_order_of_costs() -> None:
    for nodes, degree, steps in [(5, 4, 1), (6, 4, 2), (21, 4, 2), (22, 4, 3), (1024, 4, 5), (4, 1, 3)]:
        assert moore_steps(nodes, degree) == steps
    assert Cost(2, Fraction(9)) < Cost(3, least_factor(8)) < Cost(3, Fraction(1))


@examples(60)
@given(st.integers(3, 9), st.integers(1, 3), st.integers(2, 3), st.randoms(use_true_random=False))
def test_the_cost_of_a_degree_expansion_is_counted_at_the_nodes_of_the_base(
    nodes: int, degree: int, copies: int, draw: object
) -> None:
    wiring = random_wiring(nodes, degree, draw)
    cost = wiring.breadth_first_cost(copies)
    if cost is None or wiring.has_loops:
        return
    assert cost == wiring.with_copies(copies).breadth_first_cost()
    least = wiring.cost_at_first_node(copies)
    assert least.steps <= cost.steps
    assert least.bandwidth_factor <= cost.bandwidth_factor


def test_one_node_shows_the_cost_if_all_nodes_are_equivalent() -> None:
    specs = ["circulant:nodes=31,offsets=3+4", "directed-circulant:degree=4"]
    for spec in [*specs, "cayley:outer=5,inner=2,ratio=4,generators=1+3"]:
        wiring = base_wiring(spec)
        for copies in (1, 2, 3):
            assert wiring.cost_at_first_node(copies) == wiring.breadth_first_cost(copies), (spec, copies)


@pytest.mark.parametrize("degree", [2, 3, 4, 6])
def test_the_cost_of_a_generalized_kautz_graph_equals_the_counted_cost(degree: int) -> None:
    for nodes in (*range(degree + 2, 40), 64, 81, 127, 128, 129, 216, 217):
        wiring = base_wiring(f"generalized-kautz:degree={degree},nodes={nodes}")
        cost = kautz_cost(nodes, degree)
        assert cost == wiring.breadth_first_cost(), nodes
        least = kautz_bound(nodes, degree)
        assert least.steps <= cost.steps
        assert least.bandwidth_factor <= cost.bandwidth_factor


def test_the_cost_of_a_de_bruijn_graph_equals_the_counted_cost() -> None:
    for degree, length in [(2, 2), (2, 3), (2, 7), (3, 3), (4, 3), (7, 2)]:
        wiring = base_wiring(f"de-bruijn:degree={degree},length={length}")
        assert de_bruijn_cost(length, degree) == wiring.breadth_first_cost(), (degree, length)
