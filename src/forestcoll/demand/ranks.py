"""The ranks of a collective: the compute nodes that take part. The others are idle and may serve as relays."""

import re
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TypeAlias

from forestcoll.base.errors import InputError, shown
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.topology.graph.part import without_links_of_idle
from forestcoll.topology.graph.walks import unreachable_from, unreachable_pair
from forestcoll.topology.model import near_id
from forestcoll.topology.registry import load_topology

RanksLike: TypeAlias = str | Iterable[int | str]
"""Positions among the compute nodes, counted from 0, or ids: a text such as `0-7,16-23` or `gpu0,gpu3`, or a list."""

_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
"""A position or a range of positions. No network has positions with more digits."""


def ranks_of(topology: Topology, ranks: RanksLike | None) -> tuple[int, ...] | None:
    """Return the numbers of the nodes that `ranks` names, in rising order; None, for all compute nodes, if it is None.

    Args:
        topology: the network.
        ranks: a text whose parts are separated by commas, or a list of integers and texts. An integer, and a part such
            as `3` or `0-7` (both ends are included), is a position among the compute nodes, counted from 0, even if a
            node has this id. Any other part, and an integer that is no position, is the id of a compute node.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> ranks_of(build_topology("dgx-a100:boxes=2"), "0-2,b1/gpu0")
        (0, 1, 2, 8)

    Raises:
        InputError: a rank is unknown, is a switch, or is listed twice; there are fewer than two ranks; or a part is
            empty.
    """
    if ranks is None:
        return None
    numbers = nodes_of(topology, ranks)
    if len(numbers) < 2:
        raise InputError(f"{len(numbers)} rank{'s are' * (len(numbers) != 1) or ' is'} named; a collective needs two")
    return numbers


def nodes_of(topology: Topology, ranks: RanksLike) -> tuple[int, ...]:
    """Return the numbers of the compute nodes that `ranks` names, any number of them, in rising order.

    Raises:
        InputError: a rank is unknown, is a switch, or is listed twice; or a part is empty.
    """
    numbers: set[int] = set()
    for part in _parts(ranks):
        for number in _numbers(topology, part):
            if number in numbers:
                raise InputError(f"rank {topology.compute.index(number)} is named twice; name it once")
            numbers.add(number)
    return tuple(sorted(numbers))


def _parts(ranks: RanksLike) -> Iterable[object]:
    if isinstance(ranks, str):
        return rank_parts(ranks)
    if not isinstance(ranks, Iterable):
        raise InputError(f"ranks are {shown(ranks)}; expected a text such as '0-7,16-23', or a list of ranks")
    return ranks


def rank_parts(text: str) -> tuple[str, ...]:
    """Return the parts of a text that names ranks. `ranks_of` checks whether the ranks exist.

    Raises:
        InputError: a part is empty.
    """
    parts = tuple(part.strip() for part in text.split(","))
    if not all(parts):
        raise InputError(f"{shown(text)} has an empty part; write ranks as in '0-7,16' or 'gpu0,gpu3'")
    return parts


def _numbers(topology: Topology, part: object) -> Sequence[int]:
    """Return the node numbers of one part of `RanksLike`."""
    if not isinstance(part, str):
        if isinstance(part, bool) or not isinstance(part, Integral):
            raise InputError(f"rank {shown(part)} is neither an integer nor a text; give a position or an id")
        return (_at(topology, int(part), str(part)),)
    found = _RANGE.fullmatch(part.strip())
    if found is None:
        return (_with_id(topology, part),)
    if found[2] is None:
        return (_at(topology, int(found[1]), part.strip()),)
    first, last = int(found[1]), int(found[2])
    if first <= last:
        return _between(topology, first, last)
    if topology.find(part) is None:
        raise InputError(f"the range {shown(part)} runs backwards; write {last}-{first}")
    return (_with_id(topology, part),)


def _at(topology: Topology, place: int, text: str) -> int:
    """Return the number of the compute node at the position `place` or, if there is no such position, with this id."""
    if not 0 <= place < len(topology.compute) and topology.find(text) is not None:
        return _with_id(topology, text)
    return _between(topology, place, place)[0]


def _between(topology: Topology, first: int, last: int) -> Sequence[int]:
    """Return the numbers of the compute nodes at the positions from `first` to `last`."""
    for place in (first, last):
        if not 0 <= place < len(topology.compute):
            number = topology.find(str(place))
            rank = topology.compute.index(number) if number in topology.compute else None
            hint = "" if rank is None else f"; the node with id {shown(place)} is rank {rank}"
            raise InputError(f"there is no rank {shown(place)}; {_all_ranks(topology)}{hint}")
    return topology.compute[first : last + 1]


def _with_id(topology: Topology, text: str) -> int:
    number = topology.find(text)
    if number is None:
        hint = near_id(text, topology.ids(topology.compute))
        raise InputError(f"there is no rank {shown(text)}; {hint}{_all_ranks(topology)}, or ids of these nodes")
    if not topology.nodes[number].is_compute:
        raise InputError(f"{topology.name}: rank {shown(text)} is a switch; name compute nodes")
    return number


def _all_ranks(topology: Topology) -> str:
    count = len(topology.compute)
    return f"{topology.name} has {count} compute nodes, ranks 0 to {count - 1}"


def root_number(topology: Topology, root: NodeId, members: tuple[int, ...] | None = None, *, role: str = "root") -> int:
    """Return the number of the compute node that `root` names: the source of a broadcast, the target of a reduce.

    Args:
        topology: the network.
        root: an id or, if no node has that id, a position among the compute nodes, counted from 0. Both may be text.
        members: the numbers of the nodes that take part; all compute nodes if None.
        role: the name of the node in error messages, such as `source`.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> topology = build_topology("dgx-a100:boxes=2")
        >>> root_number(topology, "b1/gpu0"), root_number(topology, 8), root_number(topology, "8")
        (8, 8, 8)

    Raises:
        InputError: there is no such node, it is a switch, or it does not take part.
    """
    if isinstance(root, bool) or not isinstance(root, Integral | str):
        raise InputError(f"{topology.name}: {role} is {shown(root)}; {_any_root(topology)}")
    named = root if isinstance(root, str) else int(root)
    number = _named_root(topology, named)
    if number is None:
        hint = near_id(named, topology.ids(topology.compute))
        raise InputError(
            f"{topology.name}: there is no node {shown(named)} for the {role}; {hint}{_any_root(topology)}"
        )
    identity = shown(topology.nodes[number].id)
    if not topology.nodes[number].is_compute:
        raise InputError(f"{topology.name}: {role} {identity} is a switch; {_any_root(topology)}")
    if members is not None and number not in members:
        raise InputError(f"{topology.name}: {role} {identity} is not among the ranks; add it to the ranks")
    return number


def _named_root(topology: Topology, root: NodeId) -> int | None:
    number = topology.find(root)
    if number is None:
        number = topology.find(str(root))  # the id "3" may also be given as 3
    if number is not None:
        return number
    digits = re.fullmatch(r"[0-9]{1,18}", str(root))
    place = int(digits[0]) if digits else -1
    return topology.compute[place] if 0 <= place < len(topology.compute) else None


def _any_root(topology: Topology) -> str:
    return f"give the id of a compute node, or its position from 0 to {len(topology.compute) - 1}"


def without_relays(topology: TopologyLike, ranks: RanksLike) -> Topology:
    """Return `topology` without the links of idle compute nodes, so that no data is sent through them.

    Args:
        topology: the network.
        ranks: the compute nodes that take part, as for `ranks_of`: positions or ids, or a text such as `0-7,16-23`.

    Returns:
        The network with the same nodes, and without all links into and out of compute nodes that take no part.

    Raises:
        InputError: the ranks are not valid, or a rank cannot reach another rank without the removed links.

    Example:
        >>> from forestcoll import load_topology, optimum
        >>> from forestcoll.demand import without_relays
        >>> network = load_topology("dgx-a100:boxes=2")
        >>> str(optimum(network, "allgather:ranks='0-3,8-11'").algbw)
        '2600/7'
        >>> str(optimum(without_relays(network, "0-3,8-11"), "allgather:ranks='0-3,8-11'").algbw)
        '200'
    """
    topology = load_topology(topology, connected=False)
    members = ranks_of(topology, ranks)
    if members is None:
        return topology
    bare = without_links_of_idle(topology, members)
    require_reach(topology, members)
    pair = unreachable_pair(bare, members)
    if pair is not None:
        one, other = (shown(node) for node in topology.ids(pair))
        raise InputError(
            f"{topology.name}: rank {one} cannot reach rank {other} without relays; allow relays or add links"
        )
    return bare


def relay_refusal(topology: Topology, members: tuple[int, ...], moves: str, relay: int) -> str:
    """Return why a schedule that passes through an idle compute node has no program, and what makes one that has.

    Args:
        topology: the network.
        members: the nodes that take part.
        moves: what passes, such as `"trees pass"`.
        relay: the idle node.
    """
    name = shown(topology.nodes[relay].id)
    reason = f"{topology.name}: {moves} through compute node {name}, which takes no part, so that it runs no program"
    if (pair := unreachable_pair(without_links_of_idle(topology, members), members)) is None:
        return f"{reason}; generate with --no-relays"
    one, other = (shown(node) for node in topology.ids(pair))
    return f"{reason}, and rank {one} cannot reach rank {other} without relays; generate with more --ranks"


def members_of(topology: Topology, ranks: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the numbers of the nodes that take part: `ranks`, or all compute nodes."""
    return topology.compute if ranks is None else ranks


def require_reach(
    topology: Topology, ranks: tuple[int, ...] | None, root: int | None = None, *, backwards: bool = False
) -> None:
    """Check that all nodes that take part can reach each other, also through idle nodes and switches.

    With a `root`, check only that the root can reach all of them or, if `backwards`, that all of them can reach it.

    Raises:
        InputError: a node cannot reach another.
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
