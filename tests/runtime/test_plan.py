"""Plans say the same as the schedules that they come from, and layouts cover all elements once."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import LIMIT, NETWORKS, SHARED, Players, able_switch, schedules_of

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.oneport.series.comparison import compare_series
from forestcoll.runtime import Communicator
from forestcoll.runtime.engine import plan as plans
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp
from forestcoll.runtime.engine.plan import Plan, plan_of, rates_of
from forestcoll.runtime.engine.sizing import MOST_CHUNK, layout_of, shard_counts
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import Report
from networks import examples
from refusal import refusal
from routed_steps import random_allgather
from runtime_reference import run_reference


def test_steps_with_routes_name_the_links_at_both_ends_and_their_members() -> None:
    network = build_topology("dgx-a100:boxes=2,gpus=3")
    for collective in SHARED:
        steps = from_allgathers(network, collective, lambda each: random_allgather(each, Random(4), relays=False))  # noqa: S311
        plan = plan_of(steps)
        ends = {(hop.leaves, hop.enters) for flow in plan.flows for hop in (*flow.reduce, *flow.broadcast)}
        assert {node for pair in ends for node in pair} == set(network.switches)
    plan = plan_of(random_allgather(network, Random(4), relays=False, ranks=(0, 2, 4, 5)))  # noqa: S311
    assert plan.members == (0, 2, 4, 5)


def test_steps_with_routes_through_compute_nodes_cannot_be_run() -> None:
    with pytest.raises(InputError, match="a transfer passes through a compute node"):
        plan_of(random_allgather(build_topology("ring:nodes=5"), Random(1)))  # noqa: S311


def test_equal_schedules_have_equal_digests() -> None:
    one, other = (plan_of(generate(build_topology("ring:nodes=4"), name)) for name in ("allgather", "allreduce"))
    assert plan_of(generate(build_topology("ring:nodes=4"))).digest == one.digest
    assert one.digest != other.digest


def test_a_wrong_schedule_is_refused() -> None:
    schedule = generate(build_topology("ring:nodes=4"))
    phase = schedule.phases[0]
    wrong = replace(schedule, phases=(replace(phase, shares=(phase.shares[0] / 2, *phase.shares[1:])),))
    with pytest.raises(InputError, match=r"the schedule of an allgather on .* is not right"):
        plan_of(wrong)


def test_rates_fill_the_busiest_link() -> None:
    plan = plan_of(generate(build_topology("ring:nodes=4,bandwidth=3")))
    of_lane: dict[object, int] = defaultdict(int)
    for edge, rate in zip(plan.edges, rates_of(plan, Fraction(10**9)), strict=True):
        of_lane[edge.hop] += rate
    assert set(of_lane.values()) == {3 * 10**9}


def test_relays_and_sums_are_staged() -> None:
    for schedule in schedules_of(build_topology("ring:nodes=4"), ranks=(0, 2)):
        plan = plan_of(schedule)
        for edge in plan.edges:
            assert edge.is_staged == (edge.op is PhaseOp.REDUCE or edge.hop.target not in (0, 2))


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
    assert "a schedule of kind 'series' cannot be run; use a schedule of kind 'trees'" in refusal(plan_of, schedule)


PLANS = {name: [plan_of(schedule) for schedule in make()] for name, make in NETWORKS.items()}


@examples(150)
@given(
    st.sampled_from(sorted(PLANS)),
    st.integers(0, 9),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(0, 10**7),
    st.sampled_from([None, 10**6]),
)
def test_every_element_lies_in_one_flow(name: str, place: int, itemsize: int, count: int, rate: int | None) -> None:
    plan = PLANS[name][place % len(PLANS[name])]
    if plan.collective.has_shards:
        count -= count % (6 * len(plan.members))
    rates = None if rate is None else [rate] * len(plan.edges)
    layout = layout_of(plan, count, None, itemsize, rates)
    end = 0
    for offset, length, chunk in layout.ranges:
        assert offset == end
        assert length >= 0
        assert 1 <= chunk <= MOST_CHUNK
        end += length
    assert end == count
    if plan.collective.has_shards:
        assert sum(layout.counts) == count


def test_flows_have_their_shares_of_large_data() -> None:
    for plan in PLANS["boxes"]:
        count = 2**22
        for flow, (_, length, _) in zip(plan.flows, layout_of(plan, count, None, 4).ranges, strict=True):
            assert abs(length - flow.share * count) <= 32


def test_small_data_take_few_trees() -> None:
    plan = next(plan for plan in PLANS["boxes"] if plan.collective == "allreduce")
    used = [length for _, length, _ in layout_of(plan, 256, None, 4).ranges if length]
    assert used == [256]


def allgather(name: str) -> Plan:
    return next(plan for plan in PLANS[name] if plan.collective == "allgather")


def test_shards_of_any_counts() -> None:
    layout = layout_of(allgather("ring"), 10, [0, 1, 2, 3, 4], 4)
    assert layout.begins == (0, 0, 1, 3, 6)
    assert shard_counts(allgather("uneven"), 12) == (6, 2, 4)


def test_counts_that_do_not_add_up_and_unequal_parts_are_refused() -> None:
    for counts in ([1, 1], [3, 3, 3, 3, -2], [1, 1, 1, 1, 1]):
        assert "expected 5 numbers from 0 that add up to 10" in refusal(layout_of, allgather("ring"), 10, counts, 4)
    assert "7 elements cannot be shared equally by 5 members" in refusal(layout_of, allgather("ring"), 7, None, 4)
