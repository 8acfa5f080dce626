"""One box of a machine or of a file, as a part of a network that a cluster repeats.

A machine is built with two boxes, and the first one is kept: its nodes, the links between them, and its *ports*. A port
is a node of the box with links to nodes outside the box; these links and the nodes outside are dropped. In a file of
one host, the switches that are NICs (their attribute `device` is `nic`) are the ports. So are the NICs that an imported
host keeps, if the user gives no others. A NIC that GPUs share may have two nodes, one for each direction.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path

from forestcoll.base.errors import InputError, did_you_mean, shown
from forestcoll.base.files import path_of
from forestcoll.base.units import BANDWIDTH_UNIT, bandwidth_in
from forestcoll.topology.importers.hosts.nics import with_kept_nics
from forestcoll.topology.link_classes import is_nic
from forestcoll.topology.model import Link, Node, Topology
from forestcoll.topology.registry import BuilderSpec, build_topology, builders, load_with_assumptions

_SELF = "cluster"


@dataclass(frozen=True)
class BoxPort:
    """A node of a box that has links to the outside.

    Attributes:
        node: the place of the node in `Box.nodes`.
        bandwidth: GB/s each way of its links to the outside; None if it is not known.
        entry: the place of the node that links from outside enter.
    """

    node: int
    bandwidth: Fraction | None
    entry: int


@dataclass(frozen=True)
class Box:
    """A box without its surroundings.

    Attributes:
        name: how the user named the box.
        nodes: its nodes, with ids that are unique inside the box.
        links: the links between them; ends are places in `nodes`, bandwidths are in GB/s.
        ports: its nodes with links to the outside, in the order of the nodes.
        assumed: what was assumed to import it, if it is a file of another tool.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    ports: tuple[BoxPort, ...]
    assumed: tuple[str, ...] = ()

    @cached_property
    def gpus(self) -> tuple[int, ...]:
        """The places of the compute nodes."""
        return tuple(place for place, node in enumerate(self.nodes) if node.is_compute)

    @cached_property
    def has_own_nics(self) -> bool:
        """Whether some port is a switch: the box has PCIe switches or NICs of its own."""
        return any(not self.nodes[port.node].is_compute for port in self.ports)


@lru_cache(maxsize=8)
def box_of_machine(spec: str) -> Box:
    """Return one box of the machine that `NAME[:key=value+key=value…]` describes.

    Example:
        >>> box = box_of_machine("dgx-h100")
        >>> len(box.gpus), len(box.ports), str(box.ports[0].bandwidth)
        (8, 8, '50')

    Raises:
        InputError: there is no such machine, it does not come in boxes, or a parameter is wrong.
    """
    name, _, rest = spec.partition(":")
    machine = _machine(name)
    if "boxes" in (part.partition("=")[0] for part in rest.split("+")):
        raise InputError(f"box is {shown(spec)}; leave boxes out there, the cluster has a parameter of that name")
    two = build_topology(f"{machine.name}:{','.join(['boxes=2', *filter(None, rest.split('+'))])}")
    return _inside(spec, two, [node for node in range(len(two.nodes)) if two.nodes[node].attributes.get("box") == 0])


def _machine(name: str) -> BuilderSpec:
    machines = {each.name: each for each in builders() if each.group != "family"}
    in_boxes = [each.name for each in machines.values() if _comes_in_boxes(each)]
    if name not in machines:
        hint = did_you_mean(name, in_boxes)
        what = "which is a directory" if Path(name).is_dir() else "and there is no such file"
        raise InputError(
            f"box is {shown(name)}, {what}; {hint}name a machine ({', '.join(in_boxes)}) or a file of one host"
        )
    if name not in in_boxes:
        raise InputError(f"box is {shown(name)}, which does not come in boxes; name another machine or a file")
    return machines[name]


def _comes_in_boxes(machine: BuilderSpec) -> bool:
    return machine.name != _SELF and any(parameter.name == "boxes" for parameter in machine.parameters)


def box_of(text: str, *, own_nics: bool = True) -> Box:
    """Return the box that `text` names: a machine with parameters, or a file of one host.

    It is a file if its name ends in `.json` or `.gz` or has a folder in it, or if there is a file of that name. With
    `own_nics`, the box has the NICs that an imported host keeps.

    Raises:
        InputError: the file cannot be read or holds several boxes, or `box_of_machine` refuses the text.
    """
    if text.partition(":")[0] == _SELF:
        raise InputError(f"box is {shown(text)}; a cluster cannot be the box of a cluster, name a machine or a file")
    if _is_file(text):
        host, assumed = load_with_assumptions(path_of(text))
        return replace(box_of_topology(text, with_kept_nics(host) if own_nics else host), assumed=assumed)
    return box_of_machine(text)


def _is_file(text: str) -> bool:
    if text == "-":
        raise InputError("box is '-'; standard input can be read only once, so name a file or a machine")
    if text.endswith((".json", ".gz")) or "/" in text.partition(":")[0] or "\\" in text:
        return True
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def box_of_topology(name: str, host: Topology) -> Box:
    """Return the box that a topology of one host describes.

    If nodes have the attribute `box`, they are the box, and the other nodes are outside. If no node has it, all nodes
    are the box.

    Raises:
        InputError: the topology has several boxes, or a unit of bandwidth that cannot be converted to GB/s.
    """
    of_node = [node.attributes.get("box") for node in host.nodes]
    boxes = {str(box): box for box in of_node if box is not None}
    if len(boxes) > 1:
        raise InputError(f"box is {shown(name)}, which holds {len(boxes)} boxes; give a file of one host")
    inside = [number for number, box in enumerate(of_node) if box is not None or not boxes]
    return _inside(name, _in_unit(host, name), inside)


def _in_unit(host: Topology, name: str) -> Topology:
    if host.bandwidth_unit == BANDWIDTH_UNIT:
        return host
    try:
        one = bandwidth_in(BANDWIDTH_UNIT, f"1{host.bandwidth_unit}")
    except ValueError as error:
        raise InputError(f"box {shown(name)}: bandwidth_unit {shown(host.bandwidth_unit)} {error}") from None
    return host.sharing([link.bandwidth * one for link in host.links])


def _inside(name: str, whole: Topology, inside: Collection[int]) -> Box:
    place = {number: place for place, number in enumerate(inside)}
    nodes = tuple(_renamed(whole.nodes[number]) for number in inside)
    links = tuple(
        replace(link, source=place[link.source], target=place[link.target])
        for link in whole.links
        if link.source in place and link.target in place
    )
    ports = _ports(whole, place)
    if not ports:
        ports = [BoxPort(number, _stated(node), number) for number, node in enumerate(nodes) if is_nic(node)]
    return Box(name, nodes, links, tuple(ports))


def _ports(whole: Topology, place: dict[int, int]) -> list[BoxPort]:
    """Return the nodes with links to nodes outside; the two nodes of a NIC are one port."""
    leaving: dict[object, int] = {}
    entering: dict[object, int] = {}
    bandwidths: dict[object, Fraction] = {}
    for link in whole.links:
        inside = link.source if link.target not in place else link.target
        if (link.source in place) == (link.target in place):
            continue
        nic = whole.nodes[inside].attributes.get("nic", inside)
        (leaving if inside == link.source else entering)[nic] = place[inside]
        if inside == link.source:
            bandwidths[nic] = bandwidths.get(nic, Fraction(0)) + link.bandwidth
    ports = [BoxPort(node, bandwidths[nic], entering.get(nic, node)) for nic, node in leaving.items()]
    return sorted(ports, key=lambda port: port.node)


def _renamed(node: Node) -> Node:
    """Return the node with an id and a name of its NIC that do not name its box, and without the attribute `box`."""
    box = node.attributes.get("box")
    attributes = {key: value for key, value in node.attributes.items() if key != "box"}
    if "nic" in attributes:
        attributes["nic"] = str(attributes["nic"]).removeprefix(f"b{box}/")
    return replace(node, id=str(node.id).removeprefix(f"b{box}/"), attributes=attributes)


def _stated(node: Node) -> Fraction | None:
    """Return the bandwidth that the attribute `nic_bandwidth` of a NIC states, or None."""
    value = node.attributes.get("nic_bandwidth")
    if value is None:
        return None
    try:
        return bandwidth_in(BANDWIDTH_UNIT, value)
    except ValueError as error:
        raise InputError(f"NIC {shown(node.id)}: nic_bandwidth {shown(value)} {error}") from None
