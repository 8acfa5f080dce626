"""Stolen hops: small cases by hand, and trees that stay trees."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import Topology, generate
from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.demand import Demand
from forestcoll.programs.lowering import Options, lower
from forestcoll.programs.lowering.stolen_hops import with_stolen_hops
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.verification import verify
from networks import examples, linked, networks

Edge = tuple[int, int]


def triangle(fast: int = 1) -> Topology:
    """Three nodes with links of bandwidth 1; that between the last two has `fast`."""
    return linked("0 1 2", f"0=1 0=2 1=2:{fast}")


def along(topology: Topology, collective: str, trees: Sequence[Sequence[Edge]]) -> TreeSchedule:
    """A broadcast from node 0, or a reduce to it, along trees with equal shares; edges are in the order of the data."""
    made = generate(topology, Demand(collective, root=0))
    routes = sorted({edge for tree in trees for edge in tree})
    phase = Phase(
        op=PhaseOp(collective),
        roots=(0,) * len(trees),
        shares=(Fraction(1, len(trees)),) * len(trees),
        routes=Rows.of([[routes.index(edge) for edge in tree] for tree in trees]),
    )
    schedule = replace(made, routes=Rows.of(routes), phases=(phase,), trees_per_root=None, bound=None)
    loads = {edge: sum(edge in tree for tree in trees) for edge in routes}
    times = [
        Fraction(loads[link.source, link.target], len(trees)) / link.bandwidth
        for link in topology.links
        if (link.source, link.target) in loads
    ]
    schedule = replace(schedule, algbw=1 / max(times))
    assert verify(schedule).ok
    return cast("TreeSchedule", schedule)


def trees_of(schedule: TreeSchedule) -> dict[frozenset[Edge], Fraction]:
    """The edges of each tree, with its share."""
    (phase,) = schedule.phases
    ends = [(route[0], route[-1]) for route in schedule.routes]
    return {frozenset(ends[route] for route in tree.routes): tree.share for tree in phase}


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_an_idle_link_steals_a_hop(collective: str) -> None:
    """Two chunks go to two nodes in two sends each; the root is nearer for both."""
    trees = [[(0, 1), (1, 2)], [(0, 2), (2, 1)]]
    star = frozenset({(0, 1), (0, 2)})
    if collective == "reduce":
        trees = [[(lower, upper) for upper, lower in reversed(tree)] for tree in trees]
        star = frozenset({(1, 0), (2, 0)})
    found = with_stolen_hops(along(triangle(), collective, trees), 2, lanes=1, overhead=0.5)
    assert trees_of(found) == {star: 1}
    assert verify(found).ok


def test_a_stolen_hop_may_turn_the_edge_between_neighbours() -> None:
    """Of four chunks, three go over 0-1; 0-2 has time for one of them, and 2 sends it on over the fast link."""
    there, back = [(0, 1), (1, 2)], [(0, 2), (2, 1)]
    schedule = along(triangle(fast=10), "broadcast", [there, there, there, back])
    found = with_stolen_hops(schedule, 4, lanes=1, overhead=0.003)
    half = Fraction(1, 2)
    assert trees_of(found) == {frozenset(there): half, frozenset(back): half}
    assert found.algbw == 2


@examples(30)
@given(
    topology=networks(most=6),
    collective=st.sampled_from(["allgather", "reduce-scatter", "allreduce"]),
    chunks=st.integers(1, 4),
    overhead=st.sampled_from([0.001, 0.1, 1.0]),
)
def test_trees_stay_trees_and_programs_are_right(
    topology: Topology, collective: str, chunks: int, overhead: float
) -> None:
    schedule = generate(topology, collective)
    number = chunks * len(schedule.members)
    found = with_stolen_hops(schedule, number, lanes=2, overhead=overhead)
    assert verify(found).ok
    assert all((number * share).denominator == 1 for phase in found.phases for share in phase.shares)
    assert lower(found, Options(chunks=number, step_chunks=1, lanes=2, lane_overhead=overhead)).loss == 0


def test_trees_that_end_on_switches_stay_the_same() -> None:
    schedule = generate("dgx-h100:boxes=1,gpus=4,nvls=true", "broadcast:root=0")
    found = with_stolen_hops(schedule, 4, lanes=1, overhead=0.1)
    assert {route[-1] for route in schedule.routes} & set(schedule.topology.switches)
    assert len(found.phases[0]) == len(schedule.phases[0])
