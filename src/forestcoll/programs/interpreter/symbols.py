"""The exact content of chunks: formal sums of the contributions of ranks.

The contribution of rank r to chunk i of the data is an atom (r, i). A cell holds a sum of atoms. A sum that can still
become a right result has atoms of only one i, and at most one of each rank. So a value is a pair: the number of a
*pattern*, which says which ranks take part, and i. A sum that contains a rank twice, or chunks of different i, can
never become right again, because nothing is ever subtracted; such values keep only what a message needs.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from forestcoll.programs.model import Program, Task, data_chunks

IndexArray = npt.NDArray[np.int64]

NOTHING = 0
"""The pattern of a cell that nothing was written to."""
MIXED = 1
"""The pattern of a sum of different chunks."""


class Patterns:
    """Sets of ranks, with how often each is in a sum (0, 1, or 2 for more), by number; equal sets have one number."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self._counts: list[npt.NDArray[np.uint8]] = []
        self._numbers: dict[bytes, int] = {}
        self._sums: dict[tuple[int, int], int] = {}
        for pattern in (NOTHING, MIXED):  # reserved: neither is the pattern of a set
            counts = np.full(ranks, 3 + pattern, dtype=np.uint8)
            self._number(counts)

    def _number(self, counts: npt.NDArray[np.uint8]) -> int:
        key = counts.tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self._counts)
            self._counts.append(counts)
        return self._numbers[key]

    def of(self, *ranks: int) -> int:
        """Return the pattern of a sum of the contributions of these ranks."""
        counts = np.zeros(self._ranks, dtype=np.uint8)
        counts[list(ranks)] = 1
        return self._number(counts)

    def all(self) -> int:
        """Return the pattern of the sum over all ranks."""
        return self._number(np.ones(self._ranks, dtype=np.uint8))

    def sum(self, one: int, two: int) -> int:
        """Return the pattern of a sum of two values of the same chunk."""
        key = (one, two) if one <= two else (two, one)
        if key not in self._sums:
            if key[0] in {NOTHING, MIXED}:
                self._sums[key] = MIXED
            else:
                self._sums[key] = self._number(np.minimum(self._counts[one] + self._counts[two], 2).astype(np.uint8))
        return self._sums[key]

    def name(self, pattern: int, index: int) -> str:
        """Return a text that says what a cell with this value holds."""
        if pattern == NOTHING:
            return "nothing"
        if pattern == MIXED:
            return "a sum of different chunks"
        counts = self._counts[pattern]
        ranks = np.flatnonzero(counts)
        twice = np.flatnonzero(counts > 1)
        if len(ranks) == 1 and not len(twice):
            return f"chunk {index} of rank {ranks[0]}"
        text = f"chunk {index} summed over {self._set_name(ranks)}"
        return f"{text}, with {self._set_name(twice)} more than once" if len(twice) else text

    def _set_name(self, ranks: npt.NDArray[np.int64]) -> str:
        if len(ranks) == self._ranks:
            return "all ranks"
        if len(ranks) > self._ranks // 2 and len(ranks) > 4:
            return f"all ranks but {_listed(np.setdiff1d(np.arange(self._ranks), ranks))}"
        return f"{'ranks' if len(ranks) > 1 else 'rank'} {_listed(ranks)}"


def _listed(ranks: npt.NDArray[np.int64]) -> str:
    shown = [str(rank) for rank in ranks[:6]]
    return ", ".join(shown) + (f" and {len(ranks) - 6} more" if len(ranks) > 6 else "")


class Values:
    """The values of a range of cells: for each, a pattern and the number of a chunk of the data."""

    __slots__ = ("indices", "patterns")

    def __init__(self, patterns: IndexArray, indices: IndexArray) -> None:
        self.patterns = patterns
        self.indices = indices

    @staticmethod
    def nothing(size: int) -> "Values":
        """Return cells that hold nothing."""
        return Values(np.zeros(size, dtype=np.int64), np.full(size, -1, dtype=np.int64))

    def at(self, cells: slice) -> "Values":
        """Return a copy of the values of `cells`."""
        return Values(self.patterns[cells].copy(), self.indices[cells].copy())

    def hold_nothing(self) -> bool:
        """Return whether nothing was written to one of the cells."""
        if len(self.patterns) == 1:
            return bool(self.patterns[0] == NOTHING)
        return bool((self.patterns == NOTHING).any())

    def put(self, cells: slice, values: "Values") -> None:
        """Store `values` in `cells`."""
        self.patterns[cells] = values.patterns
        self.indices[cells] = values.indices


def added(patterns: Patterns, one: Values, two: Values) -> Values:
    """Return the sums of two ranges of values, cell by cell."""
    first, second = int(one.patterns[0]), int(two.patterns[0])
    if len(one.patterns) == 1:
        found = patterns.sum(first, second) if one.indices[0] == two.indices[0] else MIXED
        return Values(np.array([found], dtype=np.int64), one.indices)
    if (one.patterns == first).all() and (two.patterns == second).all():
        sums = np.full(len(one.patterns), patterns.sum(first, second), dtype=np.int64)
    else:
        pairs = zip(one.patterns.tolist(), two.patterns.tolist(), strict=True)
        sums = np.array([patterns.sum(*pair) for pair in pairs], dtype=np.int64)
    sums[one.indices != two.indices] = MIXED
    return Values(sums, one.indices)


class Atoms(Protocol):
    """Numbers of sets of ranks."""

    def of(self, *ranks: int) -> int:
        """Return the number of the set of these ranks."""

    def all(self) -> int:
        """Return the number of the set of all ranks."""


def initial(program: Program, rank: int, patterns: Atoms) -> Values:
    """Return the content of the input of `rank` at the start, for the chunks that the task uses."""
    count = data_chunks(program, rank)[0]
    if program.task in {Task.CUSTOM, Task.SEND_RECEIVE}:
        count = max(count, program.ranks[rank].input_chunks)
    begin = sum(program.shards[:rank]) if program.task is Task.ALLGATHER else 0
    return Values(np.full(count, patterns.of(rank), dtype=np.int64), np.arange(begin, begin + count))


def expected(program: Program, rank: int, patterns: Atoms) -> Values:
    """Return the content that the output of `rank` must have at the end, for the chunks that the task uses."""
    count = data_chunks(program, rank)[1]
    task, ranks = program.task, len(program.ranks)
    indices = np.arange(count)
    if task.reduces:
        begin = sum(program.shards[:rank]) if task is Task.REDUCE_SCATTER else 0
        return Values(np.full(count, patterns.all(), dtype=np.int64), indices + begin)
    sources = np.zeros(count, dtype=np.int64)
    if task is Task.ALLGATHER:
        sources = np.repeat(np.arange(ranks), program.shards)
    elif task is Task.BROADCAST:
        sources += program.root or 0
    elif task is Task.SEND_RECEIVE:
        sources += (rank - 1) % ranks
    elif task is Task.ALL_TO_ALL:
        shard = program.shards[0]
        sources = indices // shard if shard else sources
        indices = rank * shard + indices % shard if shard else indices
    single = np.array([patterns.of(source) for source in range(ranks)], dtype=np.int64)
    return Values(single[sources], indices)
