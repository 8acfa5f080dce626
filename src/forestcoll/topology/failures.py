"""What can fail: links, NICs, compute nodes, switches and boxes of a network, each as a `Change`."""

from collections.abc import Callable
from enum import StrEnum

from forestcoll.base.errors import InputError, member_named, shown
from forestcoll.topology.changes import Change, link_name
from forestcoll.topology.graph.boxes import named_boxes
from forestcoll.topology.link_classes import Ends, is_nic, nic_name
from forestcoll.topology.model import Topology


class PartKind(StrEnum):
    """A kind of part that can fail."""

    LINKS = "links"
    """A link, in both directions."""
    NICS = "nics"
    """A NIC: the links between a node with the attribute `box` and a switch without it."""
    NODES = "nodes"
    """A compute node, with all its links. It takes no part then."""
    SWITCHES = "switches"
    """A switch, with all its links."""
    BOXES = "boxes"
    """All nodes with the same attribute `box`. Compute nodes of the box take no part then."""


def part_named(name: PartKind | str) -> PartKind:
    """Return the kind of part called `name`.

    Raises:
        InputError: there is none.
    """
    return member_named(PartKind, name, f"nothing called {shown(name)} can fail")


def parts_of(topology: Topology, part: PartKind | str) -> list[Change]:
    """Return the failure of each part of one kind, in the order of node numbers.

    Raises:
        InputError: there is no such kind, or the network has no part of it.
    """
    kind = part_named(part)
    found = _FINDERS[kind](topology)
    if not found:
        raise InputError(f"{topology.name}: there are no {kind.value} that can fail; {_WHY_NONE[kind]}")
    return found


def duplex_links(topology: Topology) -> list[Ends]:
    """Return the ends of each link once, the smaller number first, in rising order."""
    return sorted({(min(link.source, link.target), max(link.source, link.target)) for link in topology.links})


def _links(topology: Topology) -> list[Change]:
    return [Change(link_name(topology, ends), links=(ends,)) for ends in duplex_links(topology)]


def _nics(topology: Topology) -> list[Change]:
    """Return the NICs. A switch that is a NIC fails with all its ports; other links are one NIC each."""
    ports: dict[object, list[Ends]] = {}
    found: list[Change] = []
    for ends in duplex_links(topology):
        inner = _inner_end(topology, ends)
        if inner is None:
            continue
        node = topology.nodes[inner]
        if is_nic(node):
            ports.setdefault(nic_name(node), []).append(ends)
        else:
            found.append(Change(link_name(topology, ends), links=(ends,)))
    found += [Change(str(name), links=tuple(sorted(links))) for name, links in ports.items()]
    return sorted(found, key=lambda each: each.links)


def _inner_end(topology: Topology, ends: Ends) -> int | None:
    """Return the end with the attribute `box`, if the other end is a switch without it."""
    for inner, outer in (ends, ends[::-1]):
        outside = topology.nodes[outer]
        if "box" in topology.nodes[inner].attributes and not outside.is_compute and "box" not in outside.attributes:
            return inner
    return None


def _nodes(topology: Topology) -> list[Change]:
    return [Change(str(topology.nodes[node].id), nodes=(node,)) for node in topology.compute]


def _switches(topology: Topology) -> list[Change]:
    return [Change(str(topology.nodes[switch].id), nodes=(switch,)) for switch in topology.switches]


def _boxes(topology: Topology) -> list[Change]:
    return [Change(f"box {name}", nodes=tuple(nodes)) for name, nodes in named_boxes(topology).items()]


_FINDERS: dict[PartKind, Callable[[Topology], list[Change]]] = {
    PartKind.LINKS: _links,
    PartKind.NICS: _nics,
    PartKind.NODES: _nodes,
    PartKind.SWITCHES: _switches,
    PartKind.BOXES: _boxes,
}

_WHY_NONE = {
    PartKind.LINKS: "it has no links",
    PartKind.NICS: "a NIC is a link between a node with the attribute box and a switch without it",
    PartKind.NODES: "it has no compute nodes",
    PartKind.SWITCHES: "it has no switches",
    PartKind.BOXES: "no node has the attribute box",
}
