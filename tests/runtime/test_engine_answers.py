"""The engine's results are the reference's, bit by bit, and the same bits on all ranks."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import LIMIT, NETWORKS, Players, data_for, drawn_shards, ops_for, schedules_of

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.runtime.engine.sizing import Layout, layout_of
from forestcoll.topology.registry import build_topology
from networks import examples
from runtime_reference import run_reference

LAYOUTS = ("plain", "strided", "reversed", "offset", "read-only")
FACTORS = [1 + rank / 4 for rank in range(16)]
SIZES = st.one_of(st.sampled_from([0, 1, 2, 7, 8, 1000]), st.integers(0, 3000), st.sampled_from([40_001, 300_000]))


class Case:
    """A group on one network, with its plans; so many ranks are on each host, all of them if it is None."""

    def __init__(self, name: str, per_host: int | None = None) -> None:
        schedules = NETWORKS[name]() if name in NETWORKS else schedules_of(build_topology(name))
        self.plans = [plan_of(schedule) for schedule in schedules]
        self.players = Players(schedules, name=name, **({} if per_host is None else {"per_host": per_host}))

    def run(self, plan: Plan, element: ElementType, op: ReduceOp, size: int, seed: int, *, in_place: bool) -> None:
        random = Random(seed)  # noqa: S311 (a test)
        count = size * 6 * len(plan.members) if plan.collective.has_shards else size
        counts = drawn_shards(plan, count, random)
        layout = layout_of(plan, count, counts, element.itemsize)
        lengths = layout.counts if plan.collective is Collective.ALLGATHER else [count] * len(plan.members)
        inputs: list[AnyArray | None] = [None] * plan.size
        for member, length in zip(plan.members, lengths, strict=True):
            data = data_for(element, length, seed + member)
            inputs[member] = data if in_place else laid_out(data, random.choice(LAYOUTS))
        expected = run_reference(plan, layout, inputs, element, op=op, factors=FACTORS)
        operation = Operation(plan, layout, counts, op, in_place)
        results = self.players.run(lambda group: operation.play(group, inputs[group.rank], element))
        for got, wanted in zip(results, expected, strict=True):
            assert (got is None) == (wanted is None)
            if got is not None and wanted is not None:
                assert got.tobytes() == wanted.tobytes()
        if plan.collective is Collective.ALLREDUCE:
            assert len({results[member].tobytes() for member in plan.members}) == 1


def laid_out(data: AnyArray, layout: str) -> AnyArray:
    """Return an array of the same values whose elements lie in another way in memory."""
    if layout == "strided":
        spread = np.zeros(3 * data.size, dtype=data.dtype)
        spread[::3] = data
        return spread[::3]
    if layout == "reversed":
        return data[::-1].copy()[::-1]
    if layout == "offset":
        return np.concatenate([data[:1], data])[1:] if data.size else data
    data.flags.writeable = layout != "read-only"
    return data


@dataclass(frozen=True)
class Operation:
    """What all ranks do."""

    plan: Plan
    layout: Layout
    counts: list[int] | None
    op: ReduceOp
    in_place: bool

    def play(self, group: Communicator, mine: AnyArray | None, element: ElementType) -> AnyArray | None:
        plan = self.plan
        if mine is None:
            options: dict[str, Any] = {"op": self.op, "root": plan.root, "counts": self.counts}
            return group.relay(plan.collective, self.layout.count, element.text, **options).wait()
        kept = mine.copy()
        options = {"dtype": "bf16"} if element is ElementType.BF16 else {}
        result: AnyArray | None = self.started(group, mine, options).wait()
        if not self.in_place and not (plan.collective is Collective.BROADCAST and group.rank != plan.root):
            assert mine.tobytes() == kept.tobytes()
        return result

    def started(self, group: Communicator, mine: AnyArray, options: dict[str, Any]) -> Any:
        plan, in_place, root = self.plan, self.in_place, self.plan.root or 0
        place = plan.members.index(group.rank)
        factor = FACTORS[group.rank] if self.op is ReduceOp.PREMUL_SUM else 1.0
        reducing = options | {"op": self.op, "factor": factor}
        mine = mine.copy() if in_place else mine
        if plan.collective in {Collective.ALLGATHER, Collective.REDUCE_SCATTER}:
            begin, length = self.layout.begins[place], self.layout.counts[place]
        if plan.collective is Collective.ALLGATHER:
            out = np.empty(self.layout.count, dtype=mine.dtype)
            part = out[begin : begin + length]
            part[:] = mine
            return group.allgather(part if in_place else mine, out, counts=self.counts, **options)
        if plan.collective is Collective.REDUCE_SCATTER:
            part = mine[begin : begin + length]
            return group.reduce_scatter(mine, part if in_place else None, counts=self.counts, **reducing)
        if plan.collective is Collective.ALLREDUCE:
            return group.allreduce(mine, mine if in_place else None, **reducing)
        if plan.collective is Collective.BROADCAST:
            return group.broadcast(
                mine, None if in_place else np.empty(mine.size, dtype=mine.dtype), root=root, **options
            )
        return group.reduce(mine, mine if in_place and group.rank == plan.root else None, root=root, **reducing)


@pytest.fixture(scope="module", params=[None, 2, 1], ids=["one host", "two ranks a host", "one rank a host"])
def per_host(request: pytest.FixtureRequest) -> int | None:
    found: int | None = request.param
    return found


@pytest.fixture(scope="module", params=[*NETWORKS, pytest.param("dgx-a100:boxes=2", marks=pytest.mark.slow)])
def case(request: pytest.FixtureRequest, per_host: int | None) -> Iterator[Case]:
    made = Case(request.param, per_host)
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


@pytest.mark.parametrize(
    ("seed", "world"), [(0, 4), (1, 4), *(pytest.param(seed, 8, marks=pytest.mark.slow) for seed in range(100, 115))]
)
def test_groups_that_share_ranks(seed: int, world: int) -> None:
    """Run random operations of random groups that share ranks, all in flight at the same time."""
    draw, store = Random(seed), MemoryStore()  # noqa: S311 (a test)
    groups = [sorted(draw.sample(range(world), draw.randint(2, world))) for _ in range(3)]
    schedules = {len(each): generate(f"complete:nodes={len(each)}", "allreduce") for each in groups}
    sizes = [[draw.choice([0, 1, 777, 20_000]) for _ in range(6)] for _ in groups]

    def process(rank: int) -> None:
        mine = [number for number, members in enumerate(groups) if rank in members]
        joined = {number: join(number, rank) for number in mine}
        order = Random(seed)  # noqa: S311 (the same on all ranks)
        works: list[tuple[int, int, Any]] = []
        for number in order.sample([each for each in range(3) for _ in range(6)], 18):
            if number in joined:
                place = len([each for each, *_ in works if each == number])
                data = np.full(sizes[number][place], rank + place, dtype=np.int64)
                works.append((number, place, joined[number].allreduce(data)))
        Random(seed + rank).shuffle(works)  # noqa: S311 (a test)
        for number, place, work in works:
            total = work.wait(LIMIT)
            assert total is not None
            assert total.size == sizes[number][place]
            assert np.array_equal(total, np.full(total.size, sum(groups[number]) + place * len(groups[number])))
        begin = time.monotonic()
        for each in joined.values():
            each.close(grace=LIMIT)
        assert time.monotonic() - begin < LIMIT  # none of them has waited in vain

    def join(number: int, rank: int) -> Communicator:
        members = groups[number]
        return Communicator(
            [schedules[len(members)]], rank=members.index(rank), store=store, name=f"{seed}/{number}", timeout=LIMIT
        )

    with ThreadPoolExecutor(world) as pool:
        for future in [pool.submit(partial(process, rank)) for rank in range(world)]:
            future.result(2 * LIMIT)
