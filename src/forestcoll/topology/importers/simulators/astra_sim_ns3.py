"""The text that describes a network to ASTRA-sim's ns-3, and that of SimAI.

The first line is `nodes switches links`, of SimAI `nodes gpus_per_server nvswitches switches links gpu_type`. Then come
the ids of the switches, which may be none, and a line `source target 400Gbps delay error` for each full-duplex link.
Files that list each link in both directions, as some generators do, are read as one-way links.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import MAX_LINKS, Source, whole_number

_RATE = r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*([kKMGT]?)(bps|b/s|Bps|B/s)"
_LINK = re.compile(rf"\s*(\d+)\s+(\d+)\s+{_RATE}(?:\s+(\S+))?(?:\s+\S+)*\s*", re.ASCII)
_DELAY = re.compile(r"([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,3})?)(s|ms|us|ns|ps)?")
_MICROSECONDS = {"s": Fraction(10**6), "ms": Fraction(1000), "us": Fraction(1), "ns": Fraction(1, 1000)}
_SIMAI_WORDS = 6
_MAX_LINE = 2**10


@dataclass(frozen=True)
class _Header:
    """The first line: counts of nodes, switches and links, and GPUs a server; 0 if the file does not say."""

    nodes: int
    nvswitches: int
    switches: int
    links: int
    gpus_per_server: int
    line: int


@dataclass(frozen=True)
class _Line:
    """A line of a link: its number, its ends, its rate with the unit, and its delay."""

    line: int
    one: int
    other: int
    rate: str
    latency_us: Fraction | None


@importers.add("astra-sim-ns3", summary="the text of ASTRA-sim's and SimAI's ns-3", tried=150)
@dataclass(frozen=True)
class AstraSimNs3(Importer):
    """Reads the text of ASTRA-sim's and SimAI's ns-3."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text begins with counts and has a line of a link."""
        lines = _lines(text[: 2**20])
        if len(lines) < 2 or not re.fullmatch(r"\d+\s+\d+\s+\d+(\s+\d+\s+\d+(\s+\S+)?)?", lines[0][1], re.ASCII):
            return False
        return any(_LINK.fullmatch(line) for _, line in lines[1:4])

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network."""
        lines = _lines(source.text)
        if not lines:
            raise source.error("is empty")
        header = _header(source, *lines[0])
        place = 1
        ids: list[int] = []
        while place < len(lines) and all(word.isdecimal() for word in lines[place][1].split()):
            ids += [whole_number(source, word, "a switch", lines[place][0]) for word in lines[place][1].split()]
            place += 1
        builder = TopologyBuilder(source.stem, where=source.where)
        links = _links(source, header, lines[place:], notes)
        _add_nodes(source, builder, header, ids, links)
        _add_links(source, builder, links, notes)
        return builder


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines with their numbers, without comments and blank lines."""
    stripped = (re.split(r"//|#", line)[0].strip() for line in text.splitlines())
    return [(number, line) for number, line in enumerate(stripped, start=1) if line]


def _header(source: Source, line: int, text: str) -> _Header:
    words = text.split()
    if len(words) not in (3, _SIMAI_WORDS - 1, _SIMAI_WORDS):
        raise source.error("the first line is not 'nodes switches links', nor SimAI's six values", line)
    numbers = [whole_number(source, word, "a count in the first line", line, most=MAX_LINKS) for word in words[:5]]
    if len(words) == 3:
        return _Header(numbers[0], 0, numbers[1], numbers[2], 0, line)
    return _Header(numbers[0], numbers[2], numbers[3], numbers[4], numbers[1], line)


def _add_nodes(
    source: Source, builder: TopologyBuilder, header: _Header, ids: Sequence[int], links: Sequence[_Line]
) -> None:
    expected = header.switches + header.nvswitches
    if len(ids) != expected:
        count = plural(expected, "switch", "switches")
        raise source.error(f"the first line says {count}, and the file lists {len(ids)}; fix one", header.line)
    if len(set(ids)) != len(ids) or any(each >= header.nodes for each in ids):
        raise source.error(f"switches must be different ids below {header.nodes}", header.line)
    switches = set(ids)
    compute = [node for node in range(header.nodes) if node not in switches]
    size = header.gpus_per_server
    boxes = {node: place // size for place, node in enumerate(compute)} if size else {}
    nvswitches = set(ids[: header.nvswitches])
    boxes |= _boxes_of(nvswitches, boxes, links)
    for node in range(header.nodes):
        box: dict[str, object] = {"box": boxes[node]} if node in boxes else {}
        if node in switches:
            device = "nvswitch" if node in nvswitches else "switch"
            builder.add_switch(node, **{"device": device, **box})  # type: ignore[arg-type]
        else:
            builder.add_compute(node, **box)


def _boxes_of(nvswitches: set[int], boxes: Mapping[int, int], links: Sequence[_Line]) -> dict[int, int]:
    """Return the server of each NVSwitch: that of a GPU that it is linked to."""
    ends = [pair for link in links for pair in ((link.one, link.other), (link.other, link.one))]
    return {one: boxes[other] for one, other in ends if one in nvswitches and other in boxes}


def _links(source: Source, header: _Header, lines: Sequence[tuple[int, str]], notes: Notes) -> list[_Line]:
    if len(lines) < header.links:
        raise source.error(
            f"the first line says {plural(header.links, 'link')}, and the file has {len(lines)}; is it cut off?",
            header.line,
        )
    if len(lines) > header.links:
        extra = plural(len(lines) - header.links, "line")
        notes.ignore(f"{extra} after the {plural(header.links, 'link')} that the first line says")
    links = []
    for number, line in lines[: header.links]:
        found = _LINK.fullmatch(line) if len(line) < _MAX_LINE else None
        if found is None:
            raise source.error(f"{shown(line)} is no link; expected 'source target 400Gbps delay error'", number)
        one, other = (whole_number(source, end, "an end of a link", number, most=10**9) for end in (found[1], found[2]))
        links.append(_Line(number, one, other, f"{found[3]}{found[4]}{found[5]}", _latency(found[6])))
    return links


def _add_links(source: Source, builder: TopologyBuilder, links: Sequence[_Line], notes: Notes) -> None:
    rates = {(link.one, link.other): link.rate for link in links}
    both = all(rates.get((other, one)) == rate for (one, other), rate in rates.items()) and len(rates) == len(links)
    if both and links:
        notes.assume("a line is a one-way link, as every link is listed in both directions")
    add = builder.add_link if both else builder.add_duplex
    for link in links:
        try:
            add(link.one, link.other, link.rate, latency_us=link.latency_us)
        except InputError as error:
            raise source.error(str(error).removeprefix(f"{source.where}: "), link.line) from None


def _latency(text: str | None) -> Fraction | None:
    """Return the microseconds of a delay; None if there is none that is understood."""
    found = _DELAY.fullmatch(text or "")
    if found is None or found[2] not in _MICROSECONDS or len(found[1]) > 30:
        return None
    return Fraction(found[1]) * _MICROSECONDS[found[2]]
