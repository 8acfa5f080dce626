"""Slurm's topology.conf and topology.yaml, scontrol's topology: trees of switches, blocks, rings and tori of hosts.

The files have the shape only. So one bandwidth is asked for, and every link has it: that of a host or a switch to the
switch above, and that between neighbours in a ring or a torus. A host is a compute node. Blocks are switches, which one
more switch joins. A YAML file may hold several topologies: one is read, by its name or as the default of the cluster.
`scontrol show topology` also lists, for a switch above others, all hosts below it; they have no links to that switch.

Source: topology.yaml(5), and src/plugins/topology/ of Slurm: `ring_record.c`, and `torus3d_record.c`, in which node
number x + y X + z X Y of the list is at (x, y, z), and `regions` place lists at their anchors.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import cast

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.fabrics.hostlist import expanded
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes, listed
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import MAX_NODES, Source, whole_number
from forestcoll.topology.importers.yaml_values import objects, read_yaml

CORE = "core"
_PAIR = re.compile(r"\b(\w++)\s*+=\s*(\S+)")
_NAME = re.compile(r"^[ \t]*(SwitchName|BlockName|RingName)[ \t]*=", re.MULTILINE | re.IGNORECASE)
_SHAPES = ("tree", "block", "ring", "torus3d")
_AXES = ("x", "y", "z")


@dataclass
class _Switch:
    """A switch: the hosts and the switches below it, and its line; whether it is a block."""

    name: str
    hosts: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    line: int | None = None
    is_block: bool = False


@dataclass
class _Shape:
    """What a topology is made of: switches, or links between hosts."""

    switches: list[_Switch] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)


@importers.add("slurm", summary="Slurm's topology.conf or topology.yaml", tried=130)
@dataclass(frozen=True)
class Slurm(Importer):
    """Reads Slurm's topology.conf or topology.yaml."""

    link_bandwidth: Fraction | None = option("link_bandwidth")
    topology: str | None = option("topology")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has a line of a switch, a block or a ring, or one of the shapes in YAML."""
        if _NAME.search(text):
            return True
        yaml = re.search(r"^[ \t]*+(?:-[ \t]*+)?topology[ \t]*:", text, re.MULTILINE) is not None
        return (
            yaml
            and re.search(r"^[ \t]*+(?:-[ \t]*+)?(tree|block|ring|torus3d|flat)[ \t]*:", text, re.MULTILINE) is not None
        )

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network of the topology."""
        shape = _lines(source) if _NAME.search(source.text) else _document(source, self.topology, notes)
        if self.link_bandwidth is None:
            raise missing_speed(
                source.where, "what a link carries: it has the shape of the network only", "--link-bandwidth"
            )
        if shape.switches:
            notes.assume(
                "every host and every switch has one link to the switch above, all of the bandwidth that is given"
            )
        else:
            notes.assume("neighbours in the ring or the torus have one link, all of the bandwidth that is given")
        if re.search(r"LinkSpeed[ \t]*=", source.text, re.IGNORECASE):
            notes.ignore("LinkSpeed, whose unit Slurm does not define")
        return _builder(source, shape, self, notes)


def _builder(source: Source, shape: _Shape, options: Slurm, notes: Notes) -> TopologyBuilder:
    builder = TopologyBuilder(source.stem, where=source.where)
    switches = shape.switches
    hosts = dict.fromkeys([*shape.hosts, *(host for switch in switches for host in switch.hosts)])
    names = {switch.name for switch in switches}
    for host in hosts:
        builder.add_compute(host, box=host)
    for one, other in shape.links:
        builder.add_duplex(one, other, options.link_bandwidth)
    for switch in switches:
        try:
            builder.add_switch(switch.name)
        except InputError as error:
            raise source.error(str(error).removeprefix(f"{source.where}: "), switch.line) from None
    for switch in switches:
        unknown = next((name for name in switch.switches if name not in names), None)
        if unknown is not None:
            raise source.error(f"switch {shown(switch.name)} names {shown(unknown)}, which is no switch", switch.line)
        for below in (*switch.hosts, *switch.switches):
            if below == switch.name:
                raise source.error(f"switch {shown(switch.name)} is below itself", switch.line)
            builder.add_duplex(below, switch.name, options.link_bandwidth)
    _join_blocks(builder, switches, options, notes)
    return builder


def _join_blocks(builder: TopologyBuilder, switches: Sequence[_Switch], options: Slurm, notes: Notes) -> None:
    blocks = [switch.name for switch in switches if switch.is_block]
    if len(blocks) > 1:
        builder.add_switch(CORE)
        for block in blocks:
            builder.add_duplex(block, CORE, options.link_bandwidth)
        notes.assume(f"one more switch, {CORE!r}, joins the blocks")


def _lines(source: Source) -> _Shape:
    shape = _Shape()
    continued = ""
    for number, each in source.numbered():
        line = continued + each.partition("#")[0].strip()
        if line.endswith("\\"):
            continued = line[:-1] + " "
            continue
        continued = ""
        pairs = {key.lower(): value for key, value in _PAIR.findall(line)}
        nodes = _expanded(source, pairs.get("nodes", ""), number)
        if "ringname" in pairs:
            _add_ring(source, shape, nodes, number)
        elif name := pairs.get("switchname") or pairs.get("blockname"):
            below = _expanded(source, pairs.get("switches", ""), number)
            is_summary = "level" in pairs and bool(below)
            shape.switches.append(_Switch(name, [] if is_summary else nodes, below, number, "blockname" in pairs))
    return shape


def _expanded(source: Source, text: str, line: int | None) -> list[str]:
    try:
        return expanded(text) if text else []
    except ValueError as error:
        raise source.error(f"{shown(text)} {error}", line) from None


def _document(source: Source, name: str | None, notes: Notes) -> _Shape:
    """Return the shape of the topology that has a name, or of the default of the cluster, or of the first."""
    value = read_yaml(source)
    topologies = objects(source, value if isinstance(value, list) else [value], "the file")
    with_shape = [each for each in topologies if any(isinstance(each.get(kind), dict) for kind in _SHAPES)]
    names = [str(each.get("topology")) for each in with_shape]
    if not with_shape:
        raise source.error("has no topology with a tree, blocks, a ring or a torus; a flat one lists no hosts")
    if name is not None and name not in names:
        flat = any(str(each.get("topology")) == name for each in topologies)
        what = "is flat and lists no hosts" if flat else "is not in the file"
        raise unknown_name(f"{source.where}: topology {shown(name)} {what}", name, names)
    default = (place for place, each in enumerate(with_shape) if str(each.get("cluster_default")).lower() == "true")
    chosen = next(default, 0) if name is None else names.index(name)
    others = [each for place, each in enumerate(names) if place != chosen]
    if others and name is None:
        notes.ignore(f"topologies besides {shown(names[chosen])}, which --topology names: {listed(others)}")
    return _shape(source, with_shape[chosen])


def _shape(source: Source, topology: Mapping[str, object]) -> _Shape:
    kind = next(each for each in _SHAPES if isinstance(topology.get(each), dict))
    body = cast("Mapping[str, object]", topology[kind])
    if kind == "tree":
        return _Shape([_tree_switch(source, each) for each in objects(source, body.get("switches"), "switches")])
    if kind == "block":
        return _Shape([_block(source, each) for each in objects(source, body.get("blocks"), "blocks")])
    shape = _Shape()
    if kind == "ring":
        for each in objects(source, body.get("rings"), "rings"):
            _add_ring(source, shape, _expanded(source, _text(source, each, "nodes"), None), None)
    for torus in objects(source, body.get("toruses"), "toruses") if kind == "torus3d" else []:
        _add_torus(source, shape, torus)
    return shape


def _add_ring(source: Source, shape: _Shape, nodes: Sequence[str], line: int | None) -> None:
    """Add a ring; two hosts have one link."""
    if shape.hosts:
        raise source.error("holds several rings, which nothing joins; import a file with one of them", line)
    shape.hosts += nodes
    shape.links += [(one, nodes[up]) for place, one in enumerate(nodes) if (up := _next(place, len(nodes))) is not None]


def _next(place: int, size: int) -> int | None:
    """Return the place after one in a ring; None if there is no link to it, or if the link is that of the other end."""
    up = (place + 1) % size
    return up if up > place or size > 2 else None


def _add_torus(source: Source, shape: _Shape, torus: Mapping[str, object]) -> None:
    if shape.hosts:
        raise source.error("holds several tori, which nothing joins; import a file with one of them")
    name, sizes = shown(torus.get("name", "torus")), _dims(source, torus.get("dims"), "dims")
    places: dict[tuple[int, ...], str] = {}
    regions = objects(source, torus.get("regions"), "regions")
    for region in regions or [{**torus, "anchor": dict.fromkeys(_AXES, "0")}]:
        anchor = _dims(source, region.get("anchor"), "anchor", least=0)
        within = _dims(source, region.get("dims"), "dims")
        nodes = _expanded(source, _text(source, region, "nodes"), None)
        if len(nodes) != prod(within):
            raise source.error(f"torus {name} has {len(nodes)} nodes for {prod(within)} places; fix nodes or dims")
        for node, place in zip(nodes, _places(within), strict=True):
            at = tuple(start + each for start, each in zip(anchor, place, strict=True))
            if at in places or any(each >= size for each, size in zip(at, sizes, strict=True)):
                raise source.error(f"torus {name} has no place {at} for {shown(node)}; fix its regions")
            places[at] = node
    shape.hosts += places.values()
    for at, node in places.items():
        for axis, size in enumerate(sizes):
            after = _next(at[axis], size)
            up = None if after is None else (*at[:axis], after, *at[axis + 1 :])
            if up in places:
                shape.links.append((node, places[up]))


def _places(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the places of a torus in the order of its nodes: x changes fastest."""
    for place in product(*(range(size) for size in reversed(sizes))):
        yield place[::-1]


def _dims(source: Source, value: object, what: str, *, least: int = 1) -> tuple[int, ...]:
    """Return the numbers of the three axes."""
    if not isinstance(value, dict):
        raise source.error(f"{what} of a torus is {shown(value)}; expected x, y and z")
    found = tuple(whole_number(source, value.get(axis, ""), f"{axis} of {what}") for axis in _AXES)
    if min(found) < least or prod(found) > MAX_NODES:
        raise source.error(
            f"{what} of a torus is {found}; expected numbers from {least}, and at most {MAX_NODES} nodes"
        )
    return found


def _tree_switch(source: Source, value: Mapping[str, object]) -> _Switch:
    hosts = _expanded(source, _text(source, value, "nodes"), None)
    children = _expanded(source, _text(source, value, "children"), None)
    return _Switch(_text(source, value, "switch"), hosts, children)


def _block(source: Source, value: Mapping[str, object]) -> _Switch:
    return _Switch(_text(source, value, "block"), _expanded(source, _text(source, value, "nodes"), None), is_block=True)


def _text(source: Source, value: Mapping[str, object], key: str) -> str:
    text = value.get(key, "")
    if not isinstance(text, str):
        raise source.error(f"{key} is {shown(text)}; expected a text")
    return text
