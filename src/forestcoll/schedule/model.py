"""A schedule of trees: frozen, and flat inside, because a thousand nodes make a million tree edges.

Routes and trees are rows of variable length: one array holds all entries, another where each row begins. The public
values for one row are simple: a tuple of node numbers, a `Tree`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.collective import Collective
from forestcoll.ranks import members_of
from forestcoll.topology import Symmetry, Topology

if TYPE_CHECKING:
    from forestcoll.schedule.expansion import TreeImage

IntArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]

BLOCK_ENTRIES = 2**18
"""How many entries are taken at a time where all at once would need several copies of a large array."""


def row_starts(lengths: IntArray) -> IntArray:
    """Return where rows of these `lengths` begin, and one past the last; narrow where the entries are few enough."""
    total = int(lengths.sum(dtype=np.int64))
    dtype = np.int32 if total <= np.iinfo(np.int32).max else np.int64
    starts: IntArray = np.zeros(len(lengths) + 1, dtype=dtype)
    np.cumsum(lengths, out=starts[1:], dtype=dtype)
    return starts


class PhaseOp(StrEnum):
    """What the trees of a phase do."""

    BROADCAST = "broadcast"
    """Data flows from the root to all compute nodes."""
    REDUCE = "reduce"
    """Data flows from all compute nodes to the root and is added up on the way."""

    @property
    def dual(self) -> "PhaseOp":
        """What trees do whose data flows backwards."""
        return PhaseOp.REDUCE if self is PhaseOp.BROADCAST else PhaseOp.BROADCAST


def _blocks(starts: IntArray, entries: int) -> Iterator[range]:
    """Yield the rows that begin at `starts`, as many at a time as have at most so many `entries`, or one."""
    first, count = 0, len(starts) - 1
    while first < count:
        bound = starts.dtype.type(min(int(starts[first]) + entries, int(starts[-1])))  # of the same type: no copy
        stop = max(first + 1, int(np.searchsorted(starts, bound, side="right")) - 1)
        yield range(first, stop)
        first = stop


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
        starts = row_starts(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))
        entries = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(starts[-1]))
        return Rows(starts, entries)

    def take(self, rows: IntArray) -> "Rows":
        """Return the rows with these numbers, in this order."""
        if np.array_equal(rows, np.arange(len(self))):
            return self
        lengths = (self.starts[1:] - self.starts[:-1])[rows]
        starts = row_starts(lengths)
        entries = np.empty(starts[-1], dtype=self.entries.dtype)
        for block in _blocks(starts, BLOCK_ENTRIES):
            chosen, begins = rows[block.start : block.stop], starts[block.start : block.stop + 1]
            places = np.repeat(self.starts[:-1][chosen] - begins[:-1], lengths[block.start : block.stop])
            entries[begins[0] : begins[-1]] = self.entries[places + np.arange(begins[0], begins[-1])]
        return Rows(starts, entries)

    def backwards(self) -> "Rows":
        """Return the rows in the same order, each from its last entry to its first."""
        lengths = self.starts[1:] - self.starts[:-1]
        mirrors = np.repeat(self.starts[:-1] + self.starts[1:] - 1, lengths)
        return Rows(self.starts, self.entries[mirrors - np.arange(len(self.entries))])

    def blocks(self, entries: int | None = None) -> Iterator[tuple[int, "Rows"]]:
        """Yield all rows, many at a time: the number of the first of them, and them with starts from 0.

        A block has at most so many `entries` (`BLOCK_ENTRIES`), unless its only row has more.
        """
        for block in _blocks(self.starts, entries or BLOCK_ENTRIES):
            starts = self.starts[block.start : block.stop + 1]
            yield block.start, Rows(starts - starts[0], self.entries[starts[0] : starts[-1]])

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

    def lists(self) -> Iterator[list[int]]:
        """Yield each row as a list of Python integers."""
        for _, block in self.blocks():
            entries = block.entries.tolist()
            yield from (entries[begin:end] for begin, end in pairwise(block.starts.tolist()))


@dataclass(frozen=True, slots=True)
class Tree:
    """One spanning tree: `share` of the total data M, along `routes` in the order in which data flows.

    Attributes:
        root: the number of the node that the data starts from or, where it is reduced, ends on.
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
        phases: forests, one after the other; an allreduce has two, a reduce and a broadcast, others one.
        algbw: claimed algorithmic bandwidth, M / time, in the topology's unit.
        optimal_algbw: claimed optimum, or None where the file claims none.
        cut: numbers of the nodes whose exit bandwidth proves `optimal_algbw`, or None.
        trees_per_root: k, counting a tree as often as its share holds 1/(N k), or None where the file does not say. Of
            shards that are not equal, the trees of each 1/D of the data, their common denominator being D; of a
            broadcast or a reduce, those of the root.
        symmetry: if there is one, the trees of the phases are *base trees*: the schedule has the image of each of them,
            root and nodes of routes, under each element of the group, all with the share of the base tree.
        shards: of each compute node that takes part, in the order of their numbers, its part of the data; None if all
            are equal.
        ranks: the numbers of the compute nodes that take part, rising; None if all do. Others may be relays.
    """

    topology: Topology
    collective: Collective
    routes: Rows
    phases: tuple[Phase, ...]
    algbw: Fraction
    optimal_algbw: Fraction | None = None
    cut: tuple[int, ...] | None = None
    trees_per_root: int | None = None
    symmetry: Symmetry | None = None
    shards: tuple[Fraction, ...] | None = None
    ranks: tuple[int, ...] | None = None

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part."""
        return members_of(self.topology, self.ranks)

    def images(self, phase: int) -> "Iterator[TreeImage]":
        """Yield every tree of phase number `phase` written out, one at a time: element by element of the symmetry."""
        from forestcoll.schedule.expansion import tree_images

        return tree_images(self, phase)

    def expanded(self) -> "Schedule":
        """Return the schedule without a symmetry: all images of its base trees, in the order of `images`."""
        from forestcoll.schedule.expansion import expanded

        return expanded(self)
