"""Which nodes of a network are in which box.

Compute nodes with the same attribute `box` are in one box. A switch is in a box if it has that attribute, or if all its
neighbours are in the box.
"""

from forestcoll.topology.model import Topology


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
