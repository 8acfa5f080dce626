"""The question that a bound answers, and the error of a proof that fails."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from forestcoll.demand.collective import Collective
from forestcoll.demand.matrix import Matrix
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.verification.network import BoolArray, Network

MAX_DENOMINATOR_DIGITS = 4000
"""The most digits of a common denominator; with more digits, sums take too long."""


class UnprovenError(ValueError):
    """A proof does not prove a bound; the message says which condition fails."""


@dataclass(frozen=True)
class BoundQuestion:
    """The question that a bound answers: how fast can this collective be on this network?

    Attributes:
        network: the network in arrays.
        collective: the operation.
        members: the numbers of the compute nodes that take part.
        parts: for each member, the part of M that starts on it or, in a reduce, ends on it.
        root: the number of the root; None if the collective has no root.
        matrix: for flows, what each member sends to each other member, in multiples of M; None if all send 1/N.
        sources: in a broadcast, the members that all have the data; in an allreduce, those whose vectors are added up.
            None for the root, or for all members.
        targets: the members that need the result; None for all members.
    """

    network: Network
    collective: Collective
    members: tuple[int, ...]
    parts: tuple[Fraction, ...]
    root: int | None
    matrix: Matrix | None = None
    sources: tuple[int, ...] | None = None
    targets: tuple[int, ...] | None = None

    @staticmethod
    def of(schedule: Schedule, network: Network) -> "BoundQuestion":
        """Return the question that a bound of `schedule` answers; `network` is its topology."""
        members, root = schedule.members, schedule.root
        if root is not None:
            parts = tuple(Fraction(node == root) for node in members)
        else:
            parts = schedule.shards or (Fraction(1, len(members)),) * len(members)
        demand = schedule.demand
        ends = (demand.sources, demand.targets)
        return BoundQuestion(network, schedule.collective, members, parts, root, demand.matrix, *ends)

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.network.topology

    def pairs(self) -> Iterator[tuple[int, int, Fraction]]:
        """Yield source, target and part of M for each pair of members of an all-to-all, a gather or a scatter."""
        for row, source in enumerate(self.members):
            parts = self._equal_parts(source) if self.matrix is None else self.matrix[row]
            for target, part in zip(self.members, parts, strict=True):
                if part and source != target:
                    yield source, target, part

    def _equal_parts(self, source: int) -> Sequence[Fraction | None]:
        """Return what a member sends to each member if all data is divided equally; None for nothing."""
        equal = Fraction(1, len(self.members))
        if self.collective is Collective.GATHER:
            return [equal if target == self.root else None for target in self.members]
        sends = self.root is None or source == self.root
        return [equal if sends else None for _ in self.members]

    @cached_property
    def takes_part(self) -> BoolArray:
        """Whether each node is a member."""
        return self.marks(self.members)

    @cached_property
    def usable(self) -> BoolArray:
        """Whether data can reach each link from a member and go on from it to a member, or neither.

        No schedule needs a link of which only one is true: it leads into a dead end or out of one.
        """
        network = self.network
        fed = _reached(network.sources, network.targets, self.takes_part)
        feeding = _reached(network.targets, network.sources, self.takes_part)
        usable: BoolArray = fed[network.sources] == feeding[network.targets]
        return usable

    def marks(self, nodes: Iterable[int]) -> BoolArray:
        """Return, for each node of the network, whether it is one of `nodes`."""
        marks = np.zeros(self.network.size, dtype=np.bool_)
        marks[list(nodes)] = True
        return marks

    def require_nodes(self, nodes: Iterable[int], what: str) -> None:
        """Check that `nodes` are numbers of nodes, each at most once."""
        listed = list(nodes)
        if not all(0 <= node < self.network.size for node in listed):
            raise UnprovenError(f"{what} contains a number that is not the number of a node")
        if len(set(listed)) < len(listed):
            raise UnprovenError(f"{what} contains a node twice")


def _reached(tails: IntArray, heads: IntArray, begin: BoolArray) -> BoolArray:
    """Return which nodes are reached from those marked in `begin`, along links from tails to heads."""
    reached = begin.copy()
    while True:
        further = reached.copy()
        further[heads[reached[tails]]] = True
        if np.array_equal(further, reached):
            return reached
        reached = further


def require_coarse(values: Iterable[Fraction]) -> None:
    """Check that sums of `values` can be computed in a reasonable time."""
    common, most = 1, 10**MAX_DENOMINATOR_DIGITS
    for denominator in {value.denominator for value in values}:
        common = lcm(common, denominator)
        if common >= most:
            raise UnprovenError(f"the common denominator of its numbers has more than {MAX_DENOMINATOR_DIGITS} digits")
