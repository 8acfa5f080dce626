"""The engine's results are the reference's, bit by bit, and the same bits on all ranks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import NETWORKS, Players, data_for, ops_for

from forestcoll.demand.collective import Collective
from forestcoll.runtime import Communicator
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.runtime.engine.reference import run_reference
from forestcoll.runtime.engine.sizing import layout_of
from networks import examples

FACTORS = [1 + rank / 4 for rank in range(16)]
SIZES = st.one_of(st.sampled_from([0, 1, 2, 7, 8, 1000]), st.integers(0, 3000), st.sampled_from([40_001, 300_000]))


class Case:
    """A group on one network, with its plans."""

    def __init__(self, name: str) -> None:
        schedules = NETWORKS[name]()
        self.plans = [plan_of(schedule) for schedule in schedules]
        self.players = Players(schedules, name=name)

    def run(self, plan: Plan, element: ElementType, op: ReduceOp, size: int, seed: int, *, in_place: bool) -> None:
        count = size * 6 * len(plan.members) if plan.collective.has_shards else size
        layout = layout_of(plan, count, None, element.itemsize)
        lengths = layout.counts if plan.collective is Collective.ALLGATHER else [count] * len(plan.members)
        inputs: list[AnyArray | None] = [None] * plan.size
        for member, length in zip(plan.members, lengths, strict=True):
            inputs[member] = data_for(element, length, seed + member)
        expected = run_reference(plan, layout, inputs, element, op=op, factors=FACTORS)
        results = self.players.run(
            lambda group: play(group, plan, count, inputs[group.rank], element, op, in_place=in_place)
        )
        for got, wanted in zip(results, expected, strict=True):
            assert (got is None) == (wanted is None)
            if got is not None and wanted is not None:
                assert got.tobytes() == wanted.tobytes()
        if plan.collective is Collective.ALLREDUCE:
            assert len({results[member].tobytes() for member in plan.members}) == 1


def play(  # noqa: PLR0917 (what an operation is)
    group: Communicator,
    plan: Plan,
    count: int,
    mine: AnyArray | None,
    element: ElementType,
    op: ReduceOp,
    *,
    in_place: bool,
) -> AnyArray | None:
    if mine is None:
        return group.relay(plan.collective, count, element.text, op=op, root=plan.root).wait()
    options: dict[str, Any] = {"dtype": "bf16"} if element is ElementType.BF16 else {}
    kept = mine.copy()
    result: AnyArray | None = started(group, plan, count, mine, op, options, in_place=in_place).wait()
    if not in_place and not (plan.collective is Collective.BROADCAST and group.rank != plan.root):
        assert mine.tobytes() == kept.tobytes()
    return result


def started(  # noqa: PLR0917 (what an operation is)
    group: Communicator,
    plan: Plan,
    count: int,
    mine: AnyArray,
    op: ReduceOp,
    options: dict[str, Any],
    *,
    in_place: bool,
) -> Any:
    place = plan.members.index(group.rank)
    reducing = options | {"op": op, "factor": FACTORS[group.rank] if op is ReduceOp.PREMUL_SUM else 1.0}
    mine = mine.copy() if in_place else mine
    if plan.collective is Collective.ALLGATHER:
        out = np.empty(count, dtype=mine.dtype)
        begin = layout_of(plan, count, None, mine.itemsize).begins[place]
        part = out[begin : begin + mine.size]
        part[:] = mine
        return group.allgather(part if in_place else mine, out, **options)
    if plan.collective is Collective.REDUCE_SCATTER:
        layout = layout_of(plan, count, None, mine.itemsize)
        begin, length = layout.begins[place], layout.counts[place]
        return group.reduce_scatter(mine, mine[begin : begin + length] if in_place else None, **reducing)
    if plan.collective is Collective.ALLREDUCE:
        return group.allreduce(mine, mine if in_place else None, **reducing)
    if plan.collective is Collective.BROADCAST:
        return group.broadcast(mine, None if in_place else np.empty_like(mine), root=plan.root or 0, **options)
    return group.reduce(mine, mine if in_place and group.rank == plan.root else None, root=plan.root or 0, **reducing)


@pytest.fixture(scope="module", params=list(NETWORKS))
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    made = Case(request.param)
    yield made
    made.players.close()


@examples(40)
@given(
    place=st.integers(0, 9),
    element=st.sampled_from(ElementType),
    number=st.integers(0, 5),
    size=SIZES,
    seed=st.integers(0, 2**31),
    in_place=st.booleans(),
)
def test_equal_to_the_reference(  # noqa: PLR0917 (what is drawn)
    case: Case, place: int, element: ElementType, number: int, size: int, seed: int, *, in_place: bool
) -> None:
    plan = case.plans[place % len(case.plans)]
    ops = ops_for(element)
    size = min(size, 3000) if plan.collective.has_shards else size
    case.run(plan, element, ops[number % len(ops)], size, seed, in_place=in_place)


def test_large_data_in_many_chunks(case: Case) -> None:
    for plan in case.plans:
        size = 1_000_000 // (6 * len(plan.members) if plan.collective.has_shards else 1)
        case.run(plan, ElementType.I16, ReduceOp.SUM, size, 3, in_place=False)


def test_strangely_shaped_arrays(case: Case) -> None:
    def body(group: Communicator) -> Any:
        plan = next(plan for plan in case.plans if plan.collective is Collective.ALLREDUCE)
        if group.rank not in plan.members:
            return group.relay("allreduce", 12, "f64").wait()
        strided = np.arange(24.0).reshape(6, 4)[::2, :]
        return group.allreduce(strided).wait()

    plan = next(plan for plan in case.plans if plan.collective is Collective.ALLREDUCE)
    for result in case.players.run(body):
        if result is not None:
            assert np.array_equal(result, len(plan.members) * np.arange(24.0).reshape(6, 4)[::2, :])
