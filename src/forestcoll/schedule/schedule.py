"""What every kind of schedule has. One folder holds one kind: its value, its document, its shape.

A schedule says how data moves, and claims what that achieves and what bounds it. Nothing is known of it to be true
before `verify` found it right.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeVar

from forestcoll.collective import Collective
from forestcoll.display import Displayed
from forestcoll.errors import InputError, shown
from forestcoll.proof import Bound
from forestcoll.ranks import members_of
from forestcoll.request import Demand
from forestcoll.topology import Topology

Entry = TypeVar("Entry")


@dataclass(frozen=True, repr=False)
class Schedule(Displayed, ABC):
    """A schedule of a collective on a network. Subclasses are final frozen dataclasses, one a kind.

    Attributes:
        kind: the name of the kind.
        topology: the network.
        collective: what the schedule does.
        algbw: the claimed algorithmic bandwidth, M / time for large data, in the topology's unit; None if none is
            claimed.
        bound: the claimed bound of the collective with its proof; None if none is claimed.
        shards: of each compute node that takes part, in the order of their numbers, its part of the data; None if all
            are equal.
        ranks: the numbers of the compute nodes that take part, rising; None if all do.
    """

    kind: ClassVar[str]

    topology: Topology
    collective: Collective
    algbw: Fraction | None = field(default=None, kw_only=True)
    bound: Bound | None = field(default=None, kw_only=True)
    shards: tuple[Fraction, ...] | None = field(default=None, kw_only=True)
    ranks: tuple[int, ...] | None = field(default=None, kw_only=True)

    @property
    def root(self) -> int | None:
        """The number of the node that data comes from or goes to; None where the collective has no root."""
        return None

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part."""
        return members_of(self.topology, self.ranks)

    @property
    def demand(self) -> Demand:
        """What the schedule is for, as `generate` is asked for it."""
        return Demand(self.collective, self.root, self.shards, self.ranks)

    @property
    @abstractmethod
    def size(self) -> str:
        """How much there is of what the kind consists of, in words: `48 trees`."""

    def __repr__(self) -> str:
        """Return one line, however large the schedule is."""
        what = f"{self.collective.value} on {shown(self.topology.name)}, {len(self.members)} compute nodes"
        return f"<{type(self).__name__}: {what}, {self.size}>"


def entry_for(table: Mapping[type[Schedule], Entry], schedule: Schedule, purpose: str) -> Entry:
    """Return what `table` holds for the kind of `schedule`.

    Args:
        table: by class, for the kinds that serve the purpose.
        schedule: of any kind.
        purpose: what the entry is for, as the end of "cannot be ...".

    Raises:
        InputError: the kind is not in the table.
    """
    if type(schedule) not in table:
        kinds = " or ".join(f"{each.kind!r}" for each in table)
        found = f"{schedule.topology.name}: a schedule of kind {schedule.kind!r} cannot be {purpose}"
        raise InputError(f"{found}; take one of kind {kinds}")
    return table[type(schedule)]
