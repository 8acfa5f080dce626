"""Trees of an allreduce whose root takes no part: a switch that adds up and copies, or an idle node."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from players import LIMIT, Players, able_switch

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.oneport.series.comparison import compare_series
from forestcoll.runtime import Communicator
from forestcoll.runtime.engine import plan as plans
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp
from forestcoll.runtime.engine.plan import plan_of
from forestcoll.runtime.engine.reference import run_reference
from forestcoll.runtime.engine.sizing import layout_of
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import Report


def rooted_at(
    topology: Topology, root: int, sources: Sequence[Sequence[tuple[int, ...]]], ranks: list[int]
) -> TreeSchedule:
    """Return an allreduce of equal trees with one root; each tree is a list of routes that lead to the root."""
    routes = list(dict.fromkeys(route for tree in sources for route in tree))
    numbers = {route: number for number, route in enumerate([*routes, *(route[::-1] for route in routes)])}
    shares = (Fraction(1, len(sources)),) * len(sources)
    inward = Rows.of([[numbers[route] for route in tree] for tree in sources])
    outward = Rows.of([[numbers[route[::-1]] for route in reversed(tree)] for tree in sources])
    roots = (root,) * len(sources)
    phases = Phase(PhaseOp.REDUCE, roots, shares, inward), Phase(PhaseOp.BROADCAST, roots, shares, outward)
    return TreeSchedule(
        topology, Collective.ALLREDUCE, Rows.of(list(numbers)), phases, algbw=Fraction(1), ranks=tuple(ranks)
    )


def at_a_switch() -> TreeSchedule:
    """Two stars, and a tree in which rank 3 comes last."""
    star = [(rank, 4) for rank in range(4)]
    return rooted_at(able_switch(), 4, [star, star, [(3, 2), (2, 4), (1, 4), (0, 4)]], [0, 1, 2, 3])


def at_an_idle_node() -> TreeSchedule:
    return rooted_at(build_topology("ring:nodes=4"), 3, [[(1, 0), (0, 3), (2, 3)], [(1, 2), (2, 3), (0, 3)]], [0, 1, 2])


@pytest.mark.parametrize("make", [at_a_switch, at_an_idle_node])
def test_a_rank_does_the_work_of_the_root(make: Callable[[], TreeSchedule], monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = make()
    monkeypatch.setattr(plans, "verify", lambda _: Report(None, Fraction(1), optimal=False, bound=None))
    plan = plan_of(schedule)
    assert sum(flow.share for flow in plan.flows) == 1
    data: list[AnyArray | None] = [
        np.arange(30_000.0) * (rank + 1) if rank in plan.members else None for rank in range(4)
    ]

    def body(group: Communicator, op: ReduceOp) -> AnyArray | None:
        mine = data[group.rank]
        if mine is None:
            return group.relay("allreduce", 30_000, "f64", op=op).wait(LIMIT)
        return group.allreduce(mine, op=op).wait(LIMIT)

    with Players([schedule], name="odd") as players:
        for op in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MAX):
            results = players.run(lambda group, op=op: body(group, op))  # type: ignore[misc]  # mypy cannot infer it
            expected = run_reference(plan, layout_of(plan, 30_000, None, 8), data, ElementType.F64, op=op)
            for got, wanted in zip(results, expected, strict=True):
                assert (got is None) == (wanted is None)
                assert got is wanted or np.array_equal(np.asarray(got), np.asarray(wanted))
    assert results[0] is not None
    assert np.array_equal(results[0], np.arange(30_000.0) * len(plan.members))  # the maximum


def test_the_ranks_next_to_a_switch_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "verify", lambda _: Report(None, Fraction(1), optimal=False, bound=None))
    plan = plan_of(at_a_switch())
    assert [flow.root for flow in plan.flows] == [0, 1, 2]
    assert {flow.part for flow in plan.flows} == {4 + 4}
    assert all(hop.leaves == 4 for hop in plan.flows[1].broadcast)


def test_a_series_is_refused() -> None:
    schedule = compare_series(build_topology("ring:nodes=4"), 0).schedule()
    with pytest.raises(InputError, match="a schedule of kind 'series' cannot be run; use a schedule of kind 'trees'"):
        plan_of(schedule)
