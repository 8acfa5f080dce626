"""Which compute nodes take part in a collective: its ranks. The others are idle, and may serve as relays."""

import re
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import TypeAlias

from forestcoll.errors import InputError, shown
from forestcoll.topology import Topology
from forestcoll.topology.part import without_links_of_idle
from forestcoll.topology.reach import unreachable_from, unreachable_pair

RanksLike: TypeAlias = str | Iterable[int]
"""Places among the compute nodes, counted from 0: integers, or a text such as `0-7,16-23`."""

_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_MOST_DIGITS = 18


def ranks_of(topology: Topology, ranks: RanksLike | None) -> tuple[int, ...] | None:
    """Return the numbers of the nodes that `ranks` names, rising; None, which stands for all compute nodes, as it is.

    Raises:
        InputError: a rank is unknown or named twice, fewer than two are named, or a text is not as `rank_ranges` takes
            it.
    """
    if ranks is None:
        return None
    places = _places(topology, ranks)
    if len(places) < 2:
        raise InputError(f"{len(places)} rank{'s are' * (len(places) != 1) or ' is'} named; a collective needs two")
    return tuple(topology.compute[place] for place in sorted(places))


def _places(topology: Topology, ranks: RanksLike) -> set[int]:
    places: set[int] = set()
    for place in _listed(topology, ranks):
        if place in places:
            raise InputError(f"rank {place} is named twice; name it once")
        places.add(place)
    return places


def _listed(topology: Topology, ranks: RanksLike) -> Iterator[int]:
    count = len(topology.compute)
    for part in _ranges(ranks):
        for place in (part[0], part[-1]):
            if not 0 <= place < count:
                there = f"{topology.name} has {count} compute nodes, ranks 0 to {count - 1}"
                raise InputError(f"there is no rank {shown(place)}; {there}")
        yield from part


def _ranges(ranks: RanksLike) -> Iterable[range]:
    if isinstance(ranks, str):
        return rank_ranges(ranks)
    if not isinstance(ranks, Iterable):
        raise InputError(f"ranks are {shown(ranks)}; expected integers, or a text such as '0-7,16-23'")
    return map(_single, ranks)


def _single(rank: object) -> range:
    if isinstance(rank, bool) or not isinstance(rank, Integral):
        raise InputError(f"rank {shown(rank)} is no integer; ranks count the compute nodes from 0")
    return range(int(rank), int(rank) + 1)


def rank_ranges(text: str) -> tuple[range, ...]:
    """Return the ranges of a text such as `0-7,16,20-23`; both ends of a range count.

    Raises:
        InputError: a part of it is no integer and no range of integers, or runs backwards.
    """
    return tuple(_range(part) for part in text.split(","))


def _range(part: str) -> range:
    found = _RANGE.fullmatch(part.strip())
    if found is None or max(map(len, filter(None, found.groups()))) > _MOST_DIGITS:
        raise InputError(f"{shown(part)} is no rank and no range of ranks; write ranks as in '0-7,16,20-23'")
    first = int(found[1])
    last = first if found[2] is None else int(found[2])
    if last < first:
        raise InputError(f"the range {shown(part)} runs backwards; write {last}-{first}")
    return range(first, last + 1)


def without_relays(topology: Topology, ranks: RanksLike) -> Topology:
    """Return `topology` without the links of compute nodes that take no part: nothing is sent over these.

    Raises:
        InputError: as `ranks_of`, or one that takes part cannot reach another then.
    """
    members = ranks_of(topology, ranks)
    if members is None:
        return topology
    bare = without_links_of_idle(topology, members)
    require_reach(topology, members)
    pair = unreachable_pair(bare, members)
    if pair is not None:
        one, other = (shown(node) for node in topology.ids(pair))
        raise InputError(
            f"{topology.name}: rank {one} cannot reach rank {other} without relays; let idle nodes be some"
        )
    return bare


def members_of(topology: Topology, ranks: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the numbers of the nodes that take part: `ranks`, or all compute nodes."""
    return topology.compute if ranks is None else ranks


def require_reach(
    topology: Topology, ranks: tuple[int, ...] | None, root: int | None = None, *, backwards: bool = False
) -> None:
    """Check that all that take part reach each other, over idle nodes and switches too.

    With a `root`, that it reaches them all or, `backwards`, that they all reach it.

    Raises:
        InputError: one cannot reach another.
    """
    members = members_of(topology, ranks)
    if root is None:
        pair = unreachable_pair(topology, members)
    else:
        pair = unreachable_from(topology, root, members, backwards=backwards)
    if pair is None:
        return
    one, other = (shown(node) for node in topology.ids(pair))
    who = "compute node" if ranks is None else "rank"
    raise InputError(f"{topology.name}: {who} {one} cannot reach {who} {other}; add links on the way")
