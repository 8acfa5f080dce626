"""Slurm's topology.conf and topology.yaml: which hosts are on which switch, and which switches below which.

The files have the shape only. So one bandwidth is asked for, and every host and every switch has one link of it to the
switch above. A host is a compute node. Blocks are switches, which one more switch joins.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.fabrics.hostlist import expanded
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.yaml_values import objects, read_yaml

CORE = "core"
_PAIR = re.compile(r"\b(\w++)\s*+=\s*(\S+)")
_NAME = re.compile(r"^[ \t]*(SwitchName|BlockName)[ \t]*=", re.MULTILINE | re.IGNORECASE)


@dataclass
class _Switch:
    """A switch: the hosts and the switches below it, and its line; whether it is a block."""

    name: str
    hosts: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    line: int | None = None
    is_block: bool = False


@importers.add("slurm", summary="Slurm's topology.conf or topology.yaml", tried=130)
@dataclass(frozen=True)
class Slurm(Importer):
    """Reads Slurm's topology.conf or topology.yaml."""

    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has a line of a switch or a block, or a tree or blocks in YAML."""
        if _NAME.search(text):
            return True
        yaml = re.search(r"^[ \t]*+(?:-[ \t]*+)?topology[ \t]*:", text, re.MULTILINE) is not None
        return yaml and re.search(r"^[ \t]*+(?:-[ \t]*+)?(switch|block)[ \t]*:[ \t]*\S", text, re.MULTILINE) is not None

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the tree of switches."""
        switches = _lines(source) if _NAME.search(source.text) else _documents(source, notes)
        if self.link_bandwidth is None:
            raise missing_speed(
                source.where, "what a link carries: it has the shape of the network only", "--link-bandwidth"
            )
        notes.assume("every host and every switch has one link to the switch above, all of the bandwidth that is given")
        if re.search(r"LinkSpeed[ \t]*=", source.text, re.IGNORECASE):
            notes.ignore("LinkSpeed, whose unit Slurm does not define")
        return _builder(source, switches, self, notes)


def _builder(source: Source, switches: Sequence[_Switch], options: Slurm, notes: Notes) -> TopologyBuilder:
    builder = TopologyBuilder(source.stem, where=source.where)
    hosts = dict.fromkeys(host for switch in switches for host in switch.hosts)
    names = {switch.name for switch in switches}
    for host in hosts:
        builder.add_compute(host, box=host)
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


def _lines(source: Source) -> list[_Switch]:
    switches = []
    continued = ""
    for number, each in source.numbered():
        line = continued + each.partition("#")[0].strip()
        if line.endswith("\\"):
            continued = line[:-1] + " "
            continue
        continued = ""
        pairs = {key.lower(): value for key, value in _PAIR.findall(line)}
        name = pairs.get("switchname") or pairs.get("blockname")
        if name is None:
            continue
        switch = _Switch(name, line=number, is_block="blockname" in pairs)
        switch.hosts = _expanded(source, pairs.get("nodes", ""), number)
        switch.switches = _expanded(source, pairs.get("switches", ""), number)
        switches.append(switch)
    return switches


def _expanded(source: Source, text: str, line: int | None) -> list[str]:
    try:
        return expanded(text) if text else []
    except ValueError as error:
        raise source.error(f"{shown(text)} {error}", line) from None


def _documents(source: Source, notes: Notes) -> list[_Switch]:
    value = read_yaml(source)
    topologies = objects(source, value if isinstance(value, list) else [value], "the file")
    with_shape = [
        each for each in topologies if isinstance(each.get("tree"), dict) or isinstance(each.get("block"), dict)
    ]
    if not with_shape:
        raise source.error("has no topology with a tree or blocks")
    if len(with_shape) > 1:
        notes.ignore(f"the topologies after the first, {shown(with_shape[0].get('topology'))}")
    tree, block = with_shape[0].get("tree"), with_shape[0].get("block")
    if isinstance(tree, dict):
        return [_tree_switch(source, each) for each in objects(source, tree.get("switches"), "switches")]
    blocks = block.get("blocks") if isinstance(block, dict) else None
    return [_block(source, each) for each in objects(source, blocks, "blocks")]


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
