"""The data of calls, what must come out, and the processes of the ranks: for the checks of MSCCL and MSCCL++ on GPUs.

The elements are whole numbers from 0 to 7, of which sums are exact in every type. They differ by rank, place and
call.
"""

import argparse
import importlib.util
import multiprocessing
import queue
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess
    from multiprocessing.queues import Queue

ROUNDS = 3  # calls with new data
POISON = -1  # what the output holds before a call
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
HEADER = "| program | collective | ranks | bytes | type | result | ms |\n| --- | --- | --- | --- | --- | --- | --- |"


@dataclass(frozen=True)
class Vector:
    """The input or the output of a rank.

    Attributes:
        count: how many elements.
        place: where it lies in the memory that input and output share, if the call is in place.
    """

    count: int
    place: slice


@dataclass(frozen=True)
class Case:
    """A collective on vectors of `size` bytes: of the gathered vector, or of the one before it is scattered."""

    path: str
    collective: str
    ranks: int
    in_place: bool
    size: int
    dtype: str

    @property
    def count(self) -> int:
        """The number of elements of the whole vector."""
        return self.size // {"float16": 2}.get(self.dtype, 4)

    def row(self, outcomes: list["Outcome"]) -> str:
        """Return a row of the table."""
        faults = sorted({outcome.text for outcome in outcomes if not outcome.is_right})
        result = "; ".join(faults) or outcomes[0].text
        milliseconds = 1e3 * max(outcome.seconds for outcome in outcomes)
        name = self.path.rpartition("/")[2]
        cells = [name, self.collective, self.ranks, self.size, self.dtype, result, f"{milliseconds:.2f}"]
        return f"| {' | '.join(map(str, cells))} |"


@dataclass(frozen=True)
class Outcome:
    """What a rank found."""

    is_right: bool
    text: str
    seconds: float = 0


@dataclass(frozen=True)
class Ends:
    """The ends of the queues of a rank: the address where ranks find each other, and the outcomes."""

    address: "Queue[Any]"
    outcomes: "Queue[tuple[Case, Outcome]]"


def check_usage(parser: argparse.ArgumentParser, files: Sequence[str], *modules: str) -> None:
    """End with a message if a Python package is not installed, or a file does not exist."""
    for name in modules:
        if importlib.util.find_spec(name) is None:
            parser.error(f"the Python package {name} is not installed")
    for file in files:
        if not Path(file).is_file():
            parser.error(f"{file}: no such file")


def size_of(text: str) -> int:
    """Return the number of bytes that a text such as 64K states."""
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def vectors(case: Case, rank: int) -> tuple[Vector, Vector]:
    """Return the input and the output of a rank."""
    whole = Vector(case.count, slice(0, case.count))
    shard = case.count // case.ranks
    own = Vector(shard, slice(rank * shard, (rank + 1) * shard))
    if case.collective == "allgather":
        return own, whole
    if case.collective == "reducescatter":
        return whole, own
    return whole, whole


def outcome(cupy: Any, case: Case, rank: int, memory: Sequence[Any], call: Callable[[Any, Any], None]) -> Outcome:
    """Return whether a rank has the right data after each of some calls with new data, and the median time.

    Args:
        cupy: the module.
        case: the collective.
        rank: the rank.
        memory: two arrays of bytes, for input and output; a call in place uses the first only.
        call: runs the collective on an input and an output, and waits for its end.
    """
    source, target = _views(case, rank, memory)
    times = []
    for turn in range(ROUNDS):
        target.fill(POISON)
        source[:] = _filled(cupy, case, rank, turn)
        cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        try:
            call(source, target)
        except Exception as error:  # noqa: BLE001 (the outcome)
            return Outcome(is_right=False, text=f"{type(error).__name__}: {error}")
        times.append(time.perf_counter() - start)
        if any(bool((target[part] != value).any()) for part, value in _expected(cupy, case, rank, turn)):
            return Outcome(is_right=False, text=f"wrong data on rank {rank} in call {turn + 1}")
    return Outcome(is_right=True, text="right", seconds=sorted(times)[len(times) // 2])


def _views(case: Case, rank: int, memory: Sequence[Any]) -> tuple[Any, Any]:
    inputs, outputs = vectors(case, rank)
    if case.in_place:
        whole = memory[0][: case.size].view(case.dtype)
        return whole[inputs.place], whole[outputs.place]
    source, target = (each[: case.size].view(case.dtype) for each in memory)
    return source[: inputs.count], target[: outputs.count]


def _filled(cupy: Any, case: Case, rank: int, turn: int) -> Any:
    """Return the input of a rank in a call."""
    count = vectors(case, rank)[0].count
    numbers = cupy.arange(count, dtype=cupy.uint32) * cupy.uint32(2654435761)
    numbers += cupy.uint32(40503 * (rank + 1) + 97 * turn)
    return ((numbers >> cupy.uint32(13)) % cupy.uint32(8)).astype(case.dtype)


def _expected(cupy: Any, case: Case, rank: int, turn: int) -> Iterator[tuple[slice, Any]]:
    """Yield each part of the output of a rank that the collective defines, and its elements; the root is rank 0."""
    shard = case.count // case.ranks
    own = slice(rank * shard, (rank + 1) * shard)
    inputs = (_filled(cupy, case, each, turn) for each in range(case.ranks))
    if case.collective in {"allgather", "alltoall"}:
        for each, data in enumerate(inputs):
            yield slice(each * shard, (each + 1) * shard), data if case.collective == "allgather" else data[own]
    elif case.collective == "broadcast":
        yield slice(0, case.count), next(inputs)
    elif case.collective != "reduce" or rank == 0:
        total = sum(inputs)
        yield (slice(0, shard), total[own]) if case.collective == "reducescatter" else (slice(0, case.count), total)


def run(ranks: int, cases: Sequence[Case], work: Callable[..., None], arguments: tuple[Any, ...], limit: float) -> bool:
    """Run `work(rank, ends, *arguments)` in a process for each rank, and print a row for each case.

    Args:
        ranks: the number of ranks.
        cases: the collectives of which each rank puts an outcome into the queue.
        work: what a rank does.
        arguments: its further arguments.
        limit: the seconds to wait for the next outcome.

    Returns:
        Whether all rows are right.
    """
    context = multiprocessing.get_context("spawn")
    ends = Ends(context.Queue(), context.Queue())
    processes = [context.Process(target=work, args=(rank, ends, *arguments)) for rank in range(ranks)]
    for process in processes:
        process.start()
    is_right = False
    try:
        is_right = _collected(ranks, cases, ends, processes, limit)
    except _StoppedError as error:
        print(f"{cases[0].path}: {error}", flush=True)
    finally:
        for process in processes:
            process.join(10 if is_right else 0)
            process.kill()
    return is_right


class _StoppedError(Exception):
    """No further outcome comes; the text says why."""


def _collected(
    ranks: int, cases: Sequence[Case], ends: Ends, processes: Sequence["SpawnProcess"], limit: float
) -> bool:
    found: dict[Case, list[Outcome]] = defaultdict(list)
    for _ in range(ranks * len(cases)):
        case, each = _next_outcome(ends, processes, limit)
        found[case].append(each)
        if len(found[case]) == ranks:
            print(case.row(found[case]), flush=True)
    return all(each.is_right for outcomes in found.values() for each in outcomes)


def _next_outcome(ends: Ends, processes: Sequence["SpawnProcess"], limit: float) -> tuple[Case, Outcome]:
    until = time.monotonic() + limit
    while time.monotonic() < until:
        try:
            return ends.outcomes.get(timeout=0.5)
        except queue.Empty:
            failed = [rank for rank, process in enumerate(processes) if process.exitcode]
            if failed:
                raise _StoppedError(f"the process of rank {failed[0]} has failed") from None
    raise _StoppedError(f"no answer for {limit} s")
