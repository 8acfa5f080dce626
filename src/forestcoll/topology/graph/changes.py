"""Changes of a network that a user names: links that are gone, and links with another bandwidth.

A link is named by the ids of its two ends, as `b0/gpu0--ib`, and stands for both directions. Node numbers stay as they
are.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.base.errors import InputError, shown
from forestcoll.base.units import bandwidth_in
from forestcoll.topology.model import Link, Topology, near_id

SEPARATOR = "--"
"""What stands between the ids of the two ends of a link."""

Ends = tuple[int, int]
"""The two ends of a link, the smaller number first."""


def link_name(topology: Topology, ends: Ends) -> str:
    """Return the name of a link, by which `link_named` finds it again.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> link_name(build_topology("dgx-a100:boxes=2"), (0, 18))
        'b0/gpu0--ib'
    """
    one, other = topology.ids(ends)
    return f"{one}{SEPARATOR}{other}"


def link_named(topology: Topology, text: str) -> Ends:
    """Return the ends of the link that `text` names.

    Args:
        topology: the network.
        text: the ids of both ends, in either order, with `--` between them.

    Raises:
        InputError: there is no such link, or the text can be read in two ways.
    """
    found = {ends for ends in _readings(topology, text) if _is_linked(topology, ends)}
    if len(found) > 1:
        raise InputError(f"{topology.name}: {shown(text)} names two links, because ids contain '--'; rename nodes")
    if found:
        return found.pop()
    for one, other in _readings(topology, text):
        names = " and ".join(shown(each) for each in topology.ids((one, other)))
        raise InputError(f"{topology.name}: no link joins {names}; {_neighbours(topology, one)}")
    start, separator, end = text.partition(SEPARATOR)
    if separator and start and start == end:
        raise InputError(f"{topology.name}: {shown(text)} has one node twice; name the two ends of a link")
    if separator and start and text.count(SEPARATOR) == 1:
        unknown = start if topology.find(start) is None else end
        raise InputError(
            f"{topology.name}: {shown(text)} names no link: there is no node {shown(unknown)}; "
            f"{_hint(topology, text)}name the ends of a link, such as {shown(link_name(topology, _first(topology)))}"
        )
    raise InputError(
        f"{topology.name}: {shown(text)} names no link; {_hint(topology, text)}write A--B, the ids of its ends"
    )


def _first(topology: Topology) -> Ends:
    """Return the ends of the first link."""
    link = topology.links[0]
    return link.source, link.target


def _readings(topology: Topology, text: str) -> list[Ends]:
    """Return the pairs of nodes that `text` can mean."""
    found = []
    place = text.find(SEPARATOR)
    while place >= 0:
        one, other = topology.find(text[:place]), topology.find(text[place + len(SEPARATOR) :])
        if one is not None and other is not None and one != other:
            found.append((min(one, other), max(one, other)))
        place = text.find(SEPARATOR, place + 1)
    return found


def _is_linked(topology: Topology, ends: Ends) -> bool:
    return ends in topology.link_numbers or ends[::-1] in topology.link_numbers


def _hint(topology: Topology, text: str) -> str:
    ids = [node.id for node in topology.nodes]
    for part in text.split(SEPARATOR):
        if topology.find(part) is None and (hint := near_id(part, ids)):
            return hint
    return ""


def _neighbours(topology: Topology, node: int) -> str:
    near = topology.targets[node]
    names = ", ".join(shown(each) for each in topology.ids(near[:3]))
    return f"{shown(topology.nodes[node].id)} has links to {names}{' and others' * (len(near) > 3)}"


def without_links(topology: Topology, gone: Collection[Ends]) -> Topology:
    """Return the network without the links between these ends, in both directions; node numbers stay the same."""
    kept = tuple(
        link for link in topology.links if (min(link.source, link.target), max(link.source, link.target)) not in gone
    )
    return replace(topology, links=kept)


def with_bandwidths(topology: Topology, bandwidths: Mapping[Ends, Fraction]) -> Topology:
    """Return the network with other bandwidths; keys are (source, target), and a link that is missing is added."""
    kept = dict(zip(topology.link_numbers, topology.links, strict=True))
    for (source, target), bandwidth in bandwidths.items():
        old = kept.get((source, target))
        kept[source, target] = Link(source, target, bandwidth) if old is None else replace(old, bandwidth=bandwidth)
    return replace(topology, links=tuple(link for _, link in sorted(kept.items())))


def degraded_link(topology: Topology, text: str) -> tuple[Ends, Fraction]:
    """Return the ends and the new bandwidth of a link that `text`, `A--B=BANDWIDTH`, names.

    Raises:
        InputError: as `link_named`, or the bandwidth is no number greater than 0.
    """
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(f"{shown(text)} has no bandwidth; write A--B=BANDWIDTH, as in b0/gpu0--ib=12.5")
    ends = link_named(topology, name)
    try:
        bandwidth = bandwidth_in(topology.bandwidth_unit, value)
    except ValueError as error:
        raise InputError(f"{shown(text)}: bandwidth {shown(value)} {error}") from None
    if bandwidth <= 0:
        raise InputError(
            f"{shown(text)}: bandwidth {shown(value)} must be greater than 0; use --without for a dead link"
        )
    return ends, bandwidth


def changed_network(topology: Topology, without: Sequence[str] = (), degrade: Sequence[str] = ()) -> Topology:
    """Return the network after failures and degradations, each in both directions of the link.

    Args:
        topology: the network.
        without: links that have failed, each as `A--B`; a text may name several, with commas between them.
        degrade: links with another bandwidth, each as `A--B=BANDWIDTH`, in the unit of the topology or with a unit.

    Returns:
        The network. Its name says what was changed. Its compute nodes may not reach each other.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> changed_network(build_topology("dgx-a100:boxes=2"), ["b0/gpu0--ib"], ["b0/gpu1--ib=12.5"]).name
        'dgx-a100:boxes=2 without b0/gpu0--ib, with b0/gpu1--ib=25/2'

    Raises:
        InputError: there is no such link, a link is named twice, or a bandwidth is not a number greater than 0.
    """
    if not without and not degrade:
        return topology
    gone = [link_named(topology, part) for text in without for part in _parts(topology, text)]
    lower = [degraded_link(topology, part) for text in degrade for part in _parts(topology, text)]
    _check_once(topology, [*gone, *(ends for ends, _ in lower)])
    bandwidths = {way: value for ends, value in lower for way in (ends, ends[::-1]) if _has(topology, way)}
    changed = with_bandwidths(without_links(topology, set(gone)), bandwidths)
    parts = [f"without {', '.join(link_name(topology, ends) for ends in gone)}"] if gone else []
    parts += [f"with {', '.join(f'{link_name(topology, ends)}={value}' for ends, value in lower)}"] if lower else []
    return replace(changed, name=" ".join([topology.name, ", ".join(parts)]).rstrip())


def _parts(topology: Topology, text: str) -> list[str]:
    """Return the links that a text names: it is one link if its ends have commas in their ids."""
    is_one = _readings(topology, text) or _readings(topology, text.rpartition("=")[0])
    return [text] if is_one else [part.strip() for part in text.split(",")]


def _has(topology: Topology, way: Ends) -> bool:
    return way in topology.link_numbers


def _check_once(topology: Topology, named: Iterable[Ends]) -> None:
    seen: set[Ends] = set()
    for ends in named:
        if ends in seen:
            raise InputError(f"{topology.name}: link {shown(link_name(topology, ends))} is named twice; name it once")
        seen.add(ends)
