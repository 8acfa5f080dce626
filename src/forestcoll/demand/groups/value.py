"""A group: a collective over some compute nodes, and its size relative to those of the other groups."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import to_fraction
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.demand.ranks import RanksLike, ranks_of
from forestcoll.topology import Topology

SizesLike: TypeAlias = str | Iterable[object]
"""Sizes: a text such as `1,1/2`, or a list of numbers, one for each group."""

MOST_GROUPS = 4096
"""The most groups."""


@dataclass(frozen=True, slots=True)
class Group:
    """A collective that runs at the same time as others.

    Attributes:
        demand: the collective, the ranks and the root, in node numbers.
        size: M of this group, in multiples of a common unit of data; greater than 0.
        pieces: the id and the size of each piece of data that the group moves, one after the other, if it was made of
            pieces (`groups_of_pieces`).

    Example:
        >>> from forestcoll import Groups, optimum
        >>> group = optimum("ring:nodes=4", Groups("0,1;2,3", sizes="1,2")).groups[1]
        >>> group.demand.ranks, str(group.size)
        ((2, 3), '2')
    """

    demand: NodeDemand
    size: Fraction = Fraction(1)
    pieces: tuple[tuple[str, Fraction], ...] = ()

    def members(self, topology: Topology) -> tuple[int, ...]:
        """Return the numbers of the compute nodes of the group."""
        return self.demand.members(topology)


def common_busbw_factor(topology: Topology, groups: Sequence[Group]) -> Fraction | None:
    """Return busbw / algbw of all groups; None for pieces, and if it differs between groups."""
    factors = {None if group.pieces else group.demand.busbw_factor(topology) for group in groups}
    return factors.pop() if len(factors) == 1 else None


GroupsLike: TypeAlias = str | Sequence[RanksLike | Demand | Group]
"""Groups: a text such as `0,8;1,9`, or a list with the ranks, a `Demand` or a `Group` for each group."""


def groups_of(
    topology: Topology,
    groups: GroupsLike,
    collective: Collective | str = Collective.ALLGATHER,
    sizes: SizesLike | None = None,
) -> tuple[Group, ...]:
    """Return the groups that `groups` describes, after all checks.

    Args:
        topology: the network.
        groups: a text in which `;` separates the groups and each group is a text of ranks, as for `ranks_of`; or a list
            with the ranks, a `Demand` or a `Group` for each group.
        collective: the collective of the groups that are given by ranks. If it has a root, this is the first compute
            node of the group.
        sizes: the size of each group; 1, or that of the `Group`, if None.

    Raises:
        InputError: there is no group, or there are too many; the ranks or the collective of a group are not valid; or
            the sizes are not as many as the groups, or not numbers above 0.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> [group.demand.ranks for group in groups_of(build_topology("ring:nodes=4"), "0,1;2-3")]
        [(0, 1), (2, 3)]
    """
    listed = [part.strip() for part in groups.split(";")] if isinstance(groups, str) else list(groups)
    if not listed:
        raise InputError("there are no groups; give at least one")
    if len(listed) > MOST_GROUPS:
        raise InputError(f"there are {len(listed)} groups; at most {MOST_GROUPS} are possible")
    found = [_group(topology, each, collective, place) for place, each in enumerate(listed)]
    if sizes is None:
        return tuple(found)
    amounts = list(sizes.split(",") if isinstance(sizes, str) else sizes)
    if len(amounts) != len(found):
        raise InputError(f"there are {len(amounts)} sizes and {len(found)} groups; give one size for each group")
    return tuple(
        replace(group, size=size_of(amount, f"the size of group {place}"))
        for place, (group, amount) in enumerate(zip(found, amounts, strict=True))
    )


def size_of(value: object, where: str) -> Fraction:
    """Return a size as an exact number.

    Raises:
        InputError: it is not a number above 0. `where` begins the message.
    """
    try:
        size = to_fraction(value)
    except ValueError as error:
        raise InputError(f"{where}, {shown(value)}, {error}; write a number such as 1/2") from None
    if size <= 0:
        raise InputError(f"{where} is {shown(value)}; it must be greater than 0")
    return size


def _group(topology: Topology, given: object, collective: Collective | str, place: int) -> Group:
    try:
        if isinstance(given, Group):
            return _checked(given)
        request = given if isinstance(given, Demand) else _request(topology, collective, given)
        return _checked(Group(request.bind(topology)[1]))
    except InputError as error:
        raise InputError(f"group {place}: {error}") from None


def _checked(group: Group) -> Group:
    """Return the group if its flows have equal parts: symmetries are found without the matrix of a demand."""
    if group.demand.matrix is not None:
        raise InputError("it has flows of different sizes; groups have no demand matrix and no shards of flows")
    return group


def _request(topology: Topology, collective: Collective | str, given: object) -> Demand:
    """Return the request of a group that is given by its ranks. Its root, if it needs one, is the first rank."""
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise InputError(f"{shown(given)} names no ranks; write ranks as in '0-7,16', or a list of ranks")
    ranks: RanksLike = given if isinstance(given, str) else list(given)
    members, kind = ranks_of(topology, ranks), collective_named(collective)
    root = topology.nodes[members[0]].id if kind.has_root and members is not None else None
    return Demand(kind, ranks, root)
