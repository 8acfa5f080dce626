"""A bundle: one schedule for each of several groups that run at the same time on one network."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule

MemberSchedule: TypeAlias = TreeSchedule | FlowSchedule
"""The kinds of schedules in a bundle."""


@dataclass(frozen=True)
class BundleMember:
    """The schedule of one group of a bundle.

    Attributes:
        size: M of this group, in multiples of the M of size 1.
        schedule: its schedule, on the network of the bundle. Its algbw is what it reaches alone.
        pieces: the id and the size of each piece of data that the schedule moves, one after the other. The sizes add up
            to the size of the member. Empty if the group was not made of pieces.

    Example:
        >>> from forestcoll import Groups, generate
        >>> bundle = generate("ring:nodes=4", Groups("0,2;1,3", sizes="1,2"))
        >>> [(str(each.size), each.schedule.ranks) for each in bundle.bundled]
        [('1', (0, 2)), ('2', (1, 3))]
    """

    size: Fraction
    schedule: MemberSchedule
    pieces: tuple[tuple[str, Fraction], ...] = ()


@final
@dataclass(frozen=True, repr=False)
class BundleSchedule(Schedule):
    """Schedules of groups that run at the same time, and the bandwidth that they claim together. `verify` checks both.

    Attributes:
        collective: the collective of the first group; groups may have different ones.
        ranks: the numbers of the compute nodes of all groups; None if these are all compute nodes.
        bundled: the schedule of each group.
        algbw: the algbw of a group of size 1 when all groups run together.

    Example:
        >>> from forestcoll import Groups, generate
        >>> bundle = generate("ring:nodes=4", Groups("0,2;1,3", "allreduce"))
        >>> len(bundle.bundled), str(bundle.algbw), str(bundle.bundled[0].schedule.algbw)
        (2, '1', '2')
    """

    kind: ClassVar[str] = "bundle"
    instead: ClassVar[str] = (
        "the schedules of its groups, which 'forestcoll generate -o members=DIR' writes to files, and which in Python "
        "are bundle.bundled[i].schedule"
    )

    collective: Collective = field(init=False)
    ranks: tuple[int, ...] | None = field(init=False)
    bundled: tuple[BundleMember, ...]

    def __post_init__(self) -> None:
        collectives = [each.schedule.collective for each in self.bundled]
        nodes = tuple(sorted({node for each in self.bundled for node in each.schedule.members}))
        object.__setattr__(self, "collective", collectives[0] if collectives else Collective.ALLGATHER)
        object.__setattr__(self, "ranks", None if nodes == self.topology.compute else nodes)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups: the collective, the ranks, the root and the size of each member."""
        return tuple(Group(each.schedule.demand, each.size, each.pieces) for each in self.bundled)

    @property
    def operation(self) -> str:
        collectives = {each.schedule.collective for each in self.bundled}
        return super().operation if len(collectives) == 1 else "several collectives"

    @property
    def size(self) -> str:
        return f"{len(self.bundled)} group{'s' * (len(self.bundled) != 1)}"
