"""Values that the rules of trees use: flat arrays and the exact loads of links, each computed on first use.

Invariant: no number here is ever rounded. Loads are integers, counts of 1/`denominator` of the data M. They are stored
in 64-bit arrays if a bound proves that no sum overflows, and in arrays of Python integers otherwise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.verification.network import ExactArray
from forestcoll.verification.proof_checks.question import BoundQuestion
from forestcoll.verification.routes.context import RouteContext, common_denominator
from forestcoll.verification.trees.examination import base_loads


@dataclass(frozen=True)
class Pace:
    """The busiest links and their time.

    Attributes:
        time: the time for one unit of M, the greatest load / bandwidth of a link.
        links: the numbers of the links that need this time, in ascending order.
    """

    time: Fraction
    links: IntArray


class TreeContext(RouteContext):
    """A schedule under test. A property may rely on every rule that is applied before the rules that use it."""

    def __init__(self, schedule: TreeSchedule) -> None:
        super().__init__(schedule.topology, schedule.ranks, schedule.routes, schedule.symmetry)
        self.schedule = schedule
        self.sources = self.compute if schedule.sources is None else schedule.sources
        self.targets = self.compute if schedule.targets is None else schedule.targets

    def joined(self, phase: Phase) -> tuple[int, ...]:
        """Return the nodes that each tree of a phase joins with its root."""
        return self.sources if phase.op is PhaseOp.REDUCE else self.targets

    @property
    def holders(self) -> tuple[int, ...]:
        """The nodes besides the root that have the data of a tree at the beginning."""
        is_broadcast = self.schedule.collective is Collective.BROADCAST
        return self.sources if is_broadcast and self.schedule.sources is not None else ()

    @cached_property
    def shards(self) -> tuple[Fraction, ...]:
        """For each compute node that takes part, the part of M that starts on it or, in a reduce, ends on it."""
        return BoundQuestion.of(self.schedule, self.network).parts

    @cached_property
    def denominator(self) -> int | None:
        """The common denominator of all shares, or None if it is too long."""
        return common_denominator(share for phase in self.schedule.phases for share in phase.shares)

    @cached_property
    def units(self) -> list[list[int]]:
        """For each phase, the share of each listed tree as a count of 1/`denominator`."""
        whole = self.denominator or 0
        return [
            [share.numerator * (whole // share.denominator) for share in phase.shares] for phase in self.schedule.phases
        ]

    @cached_property
    def examined(self) -> IntArray | None:
        """The loads of links by base trees if the fast path accepts all routes and trees, else None."""
        return base_loads(self)

    @cached_property
    def loads(self) -> ExactArray:
        """The data on each link over all phases, as a count of 1/`denominator` of M."""
        return self.group.summed(self._base_loads() if self.examined is None else self.examined)

    def load_of(self, link: int) -> Fraction:
        """Return the data on a link, as a part of M."""
        return Fraction(int(self.loads[link]), self.denominator or 1)

    def _base_loads(self) -> ExactArray:
        carried = self._carried()
        loads = np.zeros(len(self.network.sources), dtype=carried.dtype)
        for first, block in self.schedule.routes.blocks():
            _, links = self.hops(block)
            lengths = np.diff(block.starts) - 1
            np.add.at(loads, links, np.repeat(carried[first : first + len(block)], lengths))
        return loads

    def _carried(self) -> ExactArray:
        """Return the data that the base trees send along each route."""
        dtype = self.load_type
        carried = np.zeros(len(self.schedule.routes), dtype=dtype)
        for phase, units in zip(self.schedule.phases, self.units, strict=True):
            of_tree = np.array(units, dtype=dtype)
            for first, block in phase.routes.blocks():
                each = np.repeat(of_tree[first : first + len(block)], np.diff(block.starts))
                np.add.at(carried, block.entries, each)
        return carried

    @cached_property
    def load_type(self) -> type[np.int64] | type[object]:
        """The narrowest type in which no load overflows, even if all crossings are on one link."""
        greatest = max((unit for units in self.units for unit in units), default=0)
        return self.type_of_loads(greatest, sum(len(phase.routes.entries) for phase in self.schedule.phases))

    @cached_property
    def pace(self) -> Pace | None:
        """The busiest links, or None if no data crosses any link."""
        longest, links = self.network.busiest(self.loads)
        return Pace(longest / (self.denominator or 1), links) if longest else None

    @property
    def algbw(self) -> Fraction | None:
        """The algorithmic bandwidth that the schedule achieves, or None if no data crosses any link."""
        return None if self.pace is None else 1 / self.pace.time
