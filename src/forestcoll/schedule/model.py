"""A schedule of trees: frozen, and flat inside, because a thousand nodes make a million tree edges.

Routes and trees are rows of variable length: one array holds all entries, another where each row begins. The public
values for one row are simple: a tuple of node numbers, a `Tree`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.collective import Collective
from forestcoll.topology import Topology

IntArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]


class PhaseOp(StrEnum):
    """What the trees of a phase do."""

    BROADCAST = "broadcast"
    """Data flows from the root to all compute nodes."""


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """Rows of integers of different lengths, in two flat read-only arrays.

    Attributes:
        starts: where each row begins in `entries`, and one past the last: `len(self) + 1` numbers, from 0, rising.
        entries: the rows, one behind the other.
    """

    starts: IntArray
    entries: IntArray

    def __post_init__(self) -> None:
        self.starts.flags.writeable = False
        self.entries.flags.writeable = False

    @staticmethod
    def of(rows: Sequence[Sequence[int]]) -> "Rows":
        """Return `rows` flat. Raises `OverflowError` if an entry does not fit 32 bits."""
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        entries = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(starts[-1]))
        return Rows(starts, entries)

    def take(self, rows: IntArray) -> "Rows":
        """Return the rows with these numbers, in this order."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        places = np.arange(starts[-1]) + np.repeat(self.starts[:-1][rows] - starts[:-1], lengths)
        return Rows(starts, self.entries[places])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> tuple[int, ...]:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return tuple(self.entries[self.starts[row] : self.starts[row + 1]].tolist())

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return map(tuple, self.lists())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.entries, other.entries)

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays have no hash

    def lists(self) -> Iterable[list[int]]:
        """Yield each row as a list of Python integers."""
        entries = self.entries.tolist()
        starts = self.starts.tolist()
        return (entries[begin:end] for begin, end in pairwise(starts))


@dataclass(frozen=True, slots=True)
class Tree:
    """One spanning tree: `share` of the total data M, along `routes` in the order in which data flows.

    Attributes:
        root: the number of the node that the data starts from.
        share: the exact fraction of M that the tree carries.
        routes: numbers of routes of the schedule.
    """

    root: int
    share: Fraction
    routes: tuple[int, ...]


@dataclass(frozen=True)
class Phase:
    """A forest of trees that work at the same time.

    Attributes:
        op: what the trees do.
        roots: the root of each tree, a node number.
        shares: the share of each tree.
        routes: the route numbers of each tree, a row a tree.
    """

    op: PhaseOp
    roots: tuple[int, ...]
    shares: tuple[Fraction, ...]
    routes: Rows

    def __len__(self) -> int:
        return len(self.roots)

    def __getitem__(self, tree: int) -> Tree:
        return Tree(self.roots[tree], self.shares[tree], self.routes[tree])

    def __iter__(self) -> Iterator[Tree]:
        return map(Tree, self.roots, self.shares, self.routes)


@dataclass(frozen=True)
class Schedule:
    """Trees for a collective on a topology, and what they are said to achieve. `verify` says whether it is so.

    Attributes:
        topology: the network.
        collective: what the schedule does.
        routes: paths of links between compute nodes, a row a route, its node numbers in order.
        phases: forests, one after the other; an allgather has one, of broadcasts.
        algbw: claimed algorithmic bandwidth, M / time, in the topology's unit.
        optimal_algbw: claimed optimum, or None where the file claims none.
        cut: numbers of the nodes whose exit bandwidth proves `optimal_algbw`, or None.
        trees_per_root: k, counting a tree as often as its share holds 1/(N k), or None where the file does not say.
    """

    topology: Topology
    collective: Collective
    routes: Rows
    phases: tuple[Phase, ...]
    algbw: Fraction
    optimal_algbw: Fraction | None = None
    cut: tuple[int, ...] | None = None
    trees_per_root: int | None = None
