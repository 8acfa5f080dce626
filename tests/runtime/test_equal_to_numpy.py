"""Groups of 2 to 16 ranks compute what NumPy computes: any size, type, reduction, layout, and several groups at once.

Integers are compared exactly, floats within rounding.
"""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from players import LIMIT, Players, data_for, numpy_type, ops_for, schedules_of

from forestcoll.algorithms.generate import generate
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp
from forestcoll.runtime.engine.work import Work
from forestcoll.topology.registry import build_topology
from networks import examples

NETWORKS = ("ring:nodes={}", "complete:nodes={}")
TYPES = [each for each in ElementType if each is not ElementType.BF16]  # NumPy cannot add bfloat16
KINDS = ("allreduce", "allgather", "reduce-scatter", "broadcast", "reduce")


class Cache:
    """Groups by number of ranks; they are made once."""

    def __init__(self) -> None:
        self._players: dict[str, Players] = {}

    def of(self, network: str) -> Players:
        if network not in self._players:
            self._players[network] = Players(schedules_of(build_topology(network)), name=network)
        return self._players[network]

    def close(self) -> None:
        for players in self._players.values():
            players.close()


@pytest.fixture(scope="module")
def cache() -> Iterator[Cache]:
    made = Cache()
    yield made
    made.close()


def sizes(ranks: int) -> st.SearchStrategy[int]:
    return st.sampled_from([0, 1, ranks - 1, ranks, ranks + 1, 4097, 65_537, 300_001])


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
    made = data.copy()
    made.flags.writeable = layout != "read-only"
    return made


def combined(vectors: list[AnyArray], op: ReduceOp, factors: list[float], element: ElementType) -> AnyArray:
    wide = np.stack(vectors).astype(np.float64) if element.is_float else np.stack(vectors)
    if op is ReduceOp.PREMUL_SUM:
        wide = wide * np.array(factors)[:, None]
    if op in (ReduceOp.MIN, ReduceOp.MAX):
        return np.asarray(wide.min(axis=0) if op is ReduceOp.MIN else wide.max(axis=0))
    if op is ReduceOp.PROD:
        return np.asarray(wide.prod(axis=0, dtype=wide.dtype))
    total = wide.sum(axis=0, dtype=wide.dtype)
    if op is not ReduceOp.AVG:
        return np.asarray(total)
    if element.is_float:
        return np.asarray(total / len(vectors))
    return np.array([abs(int(each)) // len(vectors) * (-1 if each < 0 else 1) for each in total], dtype=total.dtype)


def compare(got: AnyArray, expected: AnyArray, element: ElementType, ranks: int) -> None:
    if not element.is_float:
        assert np.array_equal(got, expected)
        return
    step = float(np.finfo(numpy_type(element)).eps)
    with np.errstate(over="ignore", invalid="ignore"):
        limited = np.isfinite(expected.astype(got.dtype)) & np.isfinite(got)
        near = np.abs(got.astype(np.float64) - expected) <= 4 * ranks * step * ranks * max_of(expected)
    assert near[limited].all()


def max_of(values: AnyArray) -> float:
    return max(1.0, float(np.abs(values).max(initial=0.0)))


class Case:
    """One collective of one group, and what each rank must get."""

    def __init__(  # noqa: PLR0917 (what is drawn)
        self, players: Players, kind: str, element: ElementType, op: ReduceOp, size: int, seed: int
    ) -> None:
        self.players, self.kind, self.element, self.op = players, kind, element, op
        self.ranks, self.random = players.size, random.Random(seed)  # noqa: S311 (a test)
        self.counts = self._counts(size) if kind in ("allgather", "reduce-scatter") else None
        lengths = self.counts if kind == "allgather" and self.counts else [size] * self.ranks
        self.vectors = [small(element, length, seed + rank) for rank, length in enumerate(lengths)]
        self.factors = [1 + rank / 4 if op is ReduceOp.PREMUL_SUM else 1.0 for rank in range(self.ranks)]
        self.layouts = [self.random.choice(["plain", "strided", "reversed", "offset", "read-only"]) for _ in lengths]

    def _counts(self, size: int) -> list[int]:
        """Return shards of any sizes, some of them empty."""
        cuts = sorted(self.random.choice([0, size, self.random.randint(0, size)]) for _ in range(self.ranks - 1))
        return [end - begin for begin, end in zip([0, *cuts], [*cuts, size], strict=True)]

    def start(self, group: Communicator) -> Work:
        mine = laid_out(self.vectors[group.rank], self.layouts[group.rank])
        reducing: dict[str, Any] = {"op": self.op, "factor": self.factors[group.rank]}
        calls: dict[str, Callable[[], Work]] = {
            "allreduce": lambda: group.allreduce(mine, **reducing),
            "allgather": lambda: group.allgather(mine, counts=self.counts),
            "reduce-scatter": lambda: group.reduce_scatter(mine, counts=self.counts, **reducing),
            "broadcast": lambda: group.broadcast(mine, np.empty(mine.size, dtype=mine.dtype)),
            "reduce": lambda: group.reduce(mine, root=self.ranks - 1, **reducing),
        }
        return calls[self.kind]()

    def check(self, rank: int, result: AnyArray | None) -> None:
        expected = self._expected(rank)
        assert (result is None) == (expected is None)
        if result is not None and expected is not None:
            compare(result, expected, self.element, self.ranks)

    def _expected(self, rank: int) -> AnyArray | None:
        if self.kind == "allgather":
            return np.concatenate(self.vectors)
        if self.kind == "broadcast":
            return self.vectors[0]
        if self.kind == "reduce" and rank != self.ranks - 1:
            return None
        total = combined(self.vectors, self.op, self.factors, self.element)
        if self.counts is None:
            return total
        begin = sum(self.counts[:rank])
        return total[begin : begin + self.counts[rank]]


def small(element: ElementType, count: int, seed: int) -> AnyArray:
    """Return values whose products stay small, for floats."""
    if not element.is_float:
        return data_for(element, count, seed)
    values = np.random.default_rng(seed).uniform(-1.5, 1.5, count)
    return values.astype(numpy_type(element))


@st.composite
def cases(draw: st.DrawFn, most: int) -> tuple[str, str, ElementType, ReduceOp, int, int]:
    ranks = draw(st.integers(2, most))
    element = draw(st.sampled_from(TYPES))
    network, kind = draw(st.sampled_from(NETWORKS)).format(ranks), draw(st.sampled_from(KINDS))
    return (
        network,
        kind,
        element,
        draw(st.sampled_from(ops_for(element))),
        draw(sizes(ranks)),
        draw(st.integers(0, 999)),
    )


def run(cache: Cache, drawn: tuple[str, str, ElementType, ReduceOp, int, int]) -> None:
    network, *rest = drawn
    case = Case(cache.of(network), *rest)  # type: ignore[arg-type]  # mypy does not follow the star
    results = case.players.run(lambda group: case.start(group).wait(LIMIT))
    for rank, result in enumerate(results):
        case.check(rank, result)


@examples(40)
@given(cases(6))
def test_few_ranks(cache: Cache, drawn: tuple[str, str, ElementType, ReduceOp, int, int]) -> None:
    run(cache, drawn)


@pytest.mark.slow
@examples(300)
@given(cases(16))
def test_up_to_sixteen_ranks(cache: Cache, drawn: tuple[str, str, ElementType, ReduceOp, int, int]) -> None:
    run(cache, drawn)


def check_overlapping(seed: int, world: int) -> None:
    """Run random operations of random groups that share ranks, all in flight at the same time."""
    draw, store = random.Random(seed), MemoryStore()  # noqa: S311 (a test)
    groups = [sorted(draw.sample(range(world), draw.randint(2, world))) for _ in range(3)]
    schedules = {len(each): generate(build_topology(f"complete:nodes={len(each)}"), "allreduce") for each in groups}
    sizes = [[draw.choice([0, 1, 777, 20_000]) for _ in range(6)] for _ in groups]

    def process(rank: int) -> None:
        mine = [number for number, members in enumerate(groups) if rank in members]
        joined = {number: join(number, rank) for number in mine}
        order = random.Random(seed)  # noqa: S311 (the same on all ranks)
        works: list[tuple[int, int, Work]] = []
        for number in order.sample([each for each in range(3) for _ in range(6)], 18):
            if number in joined:
                place = len([each for each, *_ in works if each == number])
                data = np.full(sizes[number][place], rank + place, dtype=np.int64)
                works.append((number, place, joined[number].allreduce(data)))
        random.Random(seed + rank).shuffle(works)  # noqa: S311 (a test)
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


def test_groups_that_share_ranks() -> None:
    for seed in range(3):
        check_overlapping(seed, 4)


@pytest.mark.slow
def test_many_groups_that_share_ranks() -> None:
    for seed in range(100, 115):
        check_overlapping(seed, 8)
