"""SNDlib's networks, in its own text and in its XML.

The preinstalled capacity of a link is often 0, and what can be built is in its modules. So the capacity is what is
preinstalled and, if there are modules, the greatest of these.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import shown
from forestcoll.base.exact import to_fraction
from forestcoll.topology.importers.graphs.plain import GraphImporter, PlainEdge, PlainGraph, PlainNode
from forestcoll.topology.importers.importer import importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element, read_elements

_SECTION = re.compile(r"(META|NODES|LINKS|DEMANDS|ADMISSIBLE_PATHS)\s*\(")
_NODE = re.compile(r"(\S+)\s*(?:\(.*\))?")
_LINK = re.compile(r"(\S+)\s*\(\s*(\S+)\s+(\S+)\s*\)\s*([^()]*)(?:\(\s*([^()]*)\))?")
_UNITS = {"MBITPERSEC": "Mb/s", "GBITPERSEC": "Gb/s", "KBITPERSEC": "Kb/s"}
_UNIT = "SNDlib units"


@importers.add("sndlib", summary="SNDlib's networks, text or XML", tried=90)
@dataclass(frozen=True)
class Sndlib(GraphImporter):
    """Reads SNDlib's networks, text or XML."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is a network of SNDlib."""
        head = text[: 2**12]
        return "SNDlib native format" in head or "sndlib.zib.de/network" in head or "<networkStructure" in head

    def graph(self, source: Source, notes: Notes) -> PlainGraph:
        """Return the graph in a file."""
        graph = _xml(source) if source.text.lstrip().startswith("<") else _text(source)
        if not graph.edges:
            raise source.error("has no links; expected a network of SNDlib, with its links, not a file of demands only")
        if graph.attributes["bandwidth_unit"] == _UNIT:
            notes.assume("the file states no unit of capacities; they are kept as they are")
        notes.assume("the capacity of a link is what is preinstalled and, if there are modules, the greatest of these")
        notes.assume("a link is full duplex")
        return graph


def _graph(source: Source) -> PlainGraph:
    unit = next((unit for word, unit in _UNITS.items() if word in source.text), _UNIT)
    return PlainGraph(directed=False, attributes={"bandwidth_unit": unit})


def _edge(one: str, other: str, preinstalled: Fraction, modules: Sequence[Fraction], line: int) -> PlainEdge:
    capacity = preinstalled + max(modules, default=Fraction(0))
    return PlainEdge(one, other, {"bandwidth": capacity} if capacity > 0 else {}, line)


def _number(source: Source, text: str, line: int) -> Fraction:
    if text == "UNLIMITED":
        return Fraction(0)
    try:
        return to_fraction(text)
    except ValueError as error:
        raise source.error(f"{shown(text)} {error}", line) from None


def _sections(source: Source) -> Iterator[tuple[str, int, str]]:
    """Yield the name of the section, the number and the text of each line in one."""
    section = ""
    for number, line in source.numbered():
        if line[0] in "#?":
            continue
        if found := _SECTION.fullmatch(line):
            section = found[1]
        elif line == ")":
            section = ""
        elif section:
            yield section, number, line


def _text(source: Source) -> PlainGraph:
    graph = _graph(source)
    for section, number, line in _sections(source):
        if section == "NODES":
            found = _NODE.fullmatch(line)
            if found is None:
                raise source.error(f"{shown(line)} is no node; expected 'name ( x y )'", number)
            graph.nodes.append(PlainNode(found[1], {}, number))
        elif section == "LINKS":
            link = _LINK.fullmatch(line)
            if link is None:
                raise source.error(
                    f"{shown(line)} is no link; expected 'name ( a b ) ... ( capacity cost ... )'", number
                )
            values = [_number(source, word, number) for word in link[4].split()]
            modules = [_number(source, word, number) for word in (link[5] or "").split()[::2]]
            graph.edges.append(_edge(link[2], link[3], values[0] if values else Fraction(0), modules, number))
    return graph


def _xml(source: Source) -> PlainGraph:
    root = read_elements(source)
    graph = _graph(source)
    for node in root.all("node"):
        graph.nodes.append(PlainNode(node.get("id"), {}, node.line))
    for link in root.all("link"):
        ends = [child.text.strip() for tag in ("source", "target") if (child := link.child(tag)) is not None]
        if len(ends) != 2:
            raise source.error("a <link> needs <source> and <target>", link.line)
        modules = [_capacity(source, module) for module in link.all("addModule")]
        preinstalled = sum((_capacity(source, module) for module in link.all("preInstalledModule")), Fraction(0))
        graph.edges.append(_edge(ends[0], ends[1], preinstalled, modules, link.line))
    return graph


def _capacity(source: Source, module: Element) -> Fraction:
    capacity = module.child("capacity")
    return Fraction(0) if capacity is None else _number(source, capacity.text.strip(), capacity.line)
