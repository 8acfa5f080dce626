"""What a bound is about, and how a proof of it fails."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from forestcoll.collective import Collective
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.verification.network import BoolArray, Network

MAX_DENOMINATOR_DIGITS = 4000
"""The most digits of a common denominator; beyond it sums take too long."""


class UnprovenError(ValueError):
    """A proof proves nothing here; the message says which condition fails."""


@dataclass(frozen=True)
class Question:
    """What a bound is about.

    Attributes:
        network: the network in arrays.
        collective: the operation.
        members: the numbers of the compute nodes that take part.
        parts: of each of these the part of M that starts at it, or ends on it where data is reduced.
        root: the number of the root, None where the collective has none.
    """

    network: Network
    collective: Collective
    members: tuple[int, ...]
    parts: tuple[Fraction, ...]
    root: int | None

    @staticmethod
    def of(schedule: Schedule, network: Network) -> "Question":
        """Return what a bound of `schedule` is about; `network` is its topology."""
        members, root = schedule.members, schedule.root
        if root is not None:
            parts = tuple(Fraction(node == root) for node in members)
        else:
            parts = schedule.shards or (Fraction(1, len(members)),) * len(members)
        return Question(network, schedule.collective, members, parts, root)

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.network.topology

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
        """Return of each node whether it is one of `nodes`."""
        marks = np.zeros(self.network.size, dtype=np.bool_)
        marks[list(nodes)] = True
        return marks

    def require_nodes(self, nodes: Iterable[int], what: str) -> None:
        """Check that `nodes` are numbers of nodes, each there once."""
        listed = list(nodes)
        if not all(0 <= node < self.network.size for node in listed):
            raise UnprovenError(f"{what} holds a number that is none of a node")
        if len(set(listed)) < len(listed):
            raise UnprovenError(f"{what} holds a node twice")


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
