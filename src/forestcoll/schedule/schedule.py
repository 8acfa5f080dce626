"""The interface of every kind of schedule. Each kind has a folder with its value, its document and its shape.

A schedule says how data moves. It claims what it achieves and what bounds it; `verify` checks these claims.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeVar

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, shown
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.ranks import members_of
from forestcoll.schedule.proof import Bound
from forestcoll.topology import Topology

Entry = TypeVar("Entry")


@dataclass(frozen=True, repr=False)
class Schedule(Displayed, ABC):
    """A schedule of a collective on a network. Each kind of schedule is one subclass, a final frozen dataclass.

    Attributes:
        kind: the name of the kind.
        instead: what to use for a purpose for which schedules of the kind cannot be used; other kinds if empty.
        topology: the network.
        collective: what the schedule does.
        algbw: the claimed algorithmic bandwidth, M / time for large data, in the topology's unit; None if none is
            claimed.
        bound: the claimed bound of the collective with its proof; None if none is claimed.
        shards: the part of the data of each compute node that takes part, in the order of their numbers; None if all
            parts are equal.
        ranks: the numbers of the compute nodes that take part, in ascending order; None if all take part.

    Example:
        >>> from forestcoll import generate
        >>> schedule = generate("ring:nodes=4", "broadcast:root=0")
        >>> schedule.kind, schedule.collective.value, schedule.root, str(schedule.algbw)
        ('trees', 'broadcast', 0, '2')
    """

    kind: ClassVar[str]
    instead: ClassVar[str] = ""

    topology: Topology
    collective: Collective
    algbw: Fraction | None = field(default=None, kw_only=True)
    bound: Bound | None = field(default=None, kw_only=True)
    shards: tuple[Fraction, ...] | None = field(default=None, kw_only=True)
    ranks: tuple[int, ...] | None = field(default=None, kw_only=True)

    @property
    def root(self) -> int | None:
        """The number of the node that data comes from or goes to; None if the collective has no root."""
        return None

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part."""
        return members_of(self.topology, self.ranks)

    @property
    def demand(self) -> NodeDemand:
        """The collective, root, shards and ranks of the schedule, as `generate` takes them."""
        return NodeDemand(self.collective, self.root, self.shards, self.ranks)

    @property
    def operation(self) -> str:
        """What the schedule does, in words: the name of its collective."""
        return self.collective.value

    @property
    def has_ends(self) -> bool:
        """Whether sources and targets of the data are given, so that it is a special case of its collective."""
        return self.demand.sources is not None

    @property
    @abstractmethod
    def size(self) -> str:
        """The size of the schedule in words, such as `48 trees`."""

    def __repr__(self) -> str:
        """Return one line, also for a large schedule."""
        what = f"{self.collective.value} on {shown(self.topology.name)}, {len(self.members)} compute nodes"
        return f"<{type(self).__name__}: {what}, {self.size}>"


def runnable_entry_for(table: Mapping[type[Schedule], Entry], schedule: Schedule, purpose: str) -> Entry:
    """Return what `table` holds for the kind of `schedule`, if all nodes that take part have the same role.

    The arguments are those of `entry_for`.

    Raises:
        InputError: the kind is not in the table, or the schedule has sources and targets.
    """
    if schedule.has_ends:
        raise InputError(
            f"{schedule.topology.name}: a schedule with sources and targets cannot be {purpose}; use a collective in "
            "which all compute nodes that take part have the same role"
        )
    return entry_for(table, schedule, purpose)


def entry_for(table: Mapping[type[Schedule], Entry], schedule: Schedule, purpose: str) -> Entry:
    """Return what `table` holds for the kind of `schedule`.

    Args:
        table: the entries, by class of schedule.
        schedule: a schedule of any kind.
        purpose: what the entry is for: the end of a sentence "... cannot be ...".

    Raises:
        InputError: the kind is not in the table.
    """
    if type(schedule) not in table:
        kinds = " or ".join(f"{each.kind!r}" for each in table)
        found = f"{schedule.topology.name}: a schedule of kind {schedule.kind!r} cannot be {purpose}"
        raise InputError(f"{found}; use {schedule.instead or f'a schedule of kind {kinds}'}")
    return table[type(schedule)]
