"""Which nodes of a network are in which box, and which boxes are alike.

Compute nodes with the same attribute `box` are in one box. A switch is in a box if it has that attribute, or if all its
neighbours are in the box.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from forestcoll.topology.model import Topology


@dataclass(frozen=True)
class BoxKind:
    """Boxes that are alike: the same nodes, links inside, and links to other boxes, in the same order.

    Attributes:
        names: the names of the boxes, such as `b0`; that of the network if its nodes have no boxes.
        nodes: the numbers of the nodes of each box, in ascending order.
    """

    names: tuple[str, ...]
    nodes: tuple[tuple[int, ...], ...]


def kinds_of_boxes(topology: Topology) -> list[BoxKind]:
    """Return the boxes with compute nodes by kind, in the order of the first box of each kind.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> network = build_topology("dgx-a100:boxes=3").without("b1/gpu0--ib")
        >>> [kind.names for kind in kinds_of_boxes(network)]
        [('b0', 'b2'), ('b1',)]
    """
    of = box_numbers(topology) or dict.fromkeys(range(len(topology.nodes)), 0)
    members: dict[int, list[int]] = {}
    for number in sorted(of):
        members.setdefault(of[number], []).append(number)
    kinds: dict[object, list[list[int]]] = {}
    for nodes in members.values():
        if any(topology.nodes[number].is_compute for number in nodes):
            kinds.setdefault(_shape(topology, nodes), []).append(nodes)
    return [
        BoxKind(tuple(box_name(topology, nodes) for nodes in boxes), tuple(map(tuple, boxes)))
        for boxes in kinds.values()
    ]


def _shape(topology: Topology, nodes: list[int]) -> object:
    """Return what boxes that are alike have in common."""
    place = {number: each for each, number in enumerate(nodes)}
    links = []
    for source in nodes:
        ends = ((place.get(target, -1), topology.bandwidths[source, target]) for target in topology.targets[source])
        back = ((place.get(other, -1), topology.bandwidths[other, source]) for other in topology.sources[source])
        links.append((tuple(sorted(ends)), tuple(sorted(back))))
    kept = ("device", "gpu", "ports", "devices")
    around = [topology.nodes[number] for number in nodes]
    kinds = tuple((node.kind, *(str(node.attributes.get(name)) for name in kept)) for node in around)
    return kinds, tuple(links)


def box_name(topology: Topology, nodes: Sequence[int]) -> str:
    """Return the name of a box by its nodes: as its attribute `box` says, `b0` for a number."""
    name = topology.nodes[nodes[0]].attributes.get("box", topology.name)
    return name if isinstance(name, str) else f"b{name}"


def named_boxes(topology: Topology) -> dict[str, list[int]]:
    """Return the nodes with each value of the attribute `box`, by its text, in the order of the nodes."""
    found: dict[str, list[int]] = {}
    for number, node in enumerate(topology.nodes):
        if "box" in node.attributes:
            found.setdefault(str(node.attributes["box"]), []).append(number)
    return found


def box_numbers(topology: Topology) -> dict[int, int]:
    """Return, for each node inside a box, the number of its box. Boxes are numbered in the order of the nodes."""
    found = {node: box for box, nodes in enumerate(named_boxes(topology).values()) for node in nodes}
    if found:
        _add_inner_switches(topology, found)
    return found


def is_one_box(topology: Topology) -> bool:
    """Return whether all nodes are known to be in one box."""
    boxes = box_numbers(topology)
    return len(boxes) == len(topology.nodes) and len(set(boxes.values())) == 1


def _add_inner_switches(topology: Topology, found: dict[int, int]) -> None:
    """Add switches without the attribute whose neighbours are all in one box."""
    neighbours: dict[int, set[int]] = {switch: set() for switch in topology.switches if switch not in found}
    for link in topology.links:
        for one, other in ((link.source, link.target), (link.target, link.source)):
            if one in neighbours:
                neighbours[one].add(other)
    changed = True
    while changed:
        changed = False
        for switch, around in neighbours.items():
            inside = {found.get(each) for each in around}
            if switch not in found and len(inside) == 1 and None not in inside:
                found[switch] = found[min(around)]
                changed = True
