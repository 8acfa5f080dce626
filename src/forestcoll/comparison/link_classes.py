"""Classes of links by their place in the network."""

from collections.abc import Mapping

from forestcoll.algorithms.boxes import Boxes
from forestcoll.topology import Link, Node, Topology
from forestcoll.topology.link_classes import DEVICES


def link_classes(topology: Topology, boxes: Boxes) -> Mapping[str, list[int]]:
    """Return the numbers of the links of each class, by the name of the class in the plural.

    If nodes have boxes, a link that leaves a box is a NIC link, a link between boxes a fabric link, and a link inside a
    box a direct link or a link of the switch in its name, which is that of the device if the switch states one. If not,
    the class of a link is its bandwidth.
    """
    classes: dict[str, list[int]] = {}
    for number, link in enumerate(topology.links):
        classes.setdefault(_class(topology, boxes, link), []).append(number)
    return classes


def _class(topology: Topology, boxes: Boxes, link: Link) -> str:
    one, other = boxes.of.get(link.source), boxes.of.get(link.target)
    if not boxes.of:
        return f"links of {float(link.bandwidth):g} {topology.bandwidth_unit}"
    if one != other:
        return "NIC links"
    if one is None:
        return "fabric links"
    switches = [node for node in (link.source, link.target) if not topology.nodes[node].is_compute]
    names = dict.fromkeys(_kind(topology.nodes[switch]) for switch in sorted(switches))
    if not names:
        return "direct links"
    return f"{'GPU to NIC' if list(names) == ['NIC'] else ' to '.join(names)} links"


def _kind(switch: Node) -> str:
    """Return the device of a switch, or the last part of its id without its number: `nvswitch` for `b0/nvswitch0`."""
    device = DEVICES.get(str(switch.attributes.get("device")))
    return device or str(switch.id).rsplit("/", 1)[-1].rstrip("0123456789") or "switch"
