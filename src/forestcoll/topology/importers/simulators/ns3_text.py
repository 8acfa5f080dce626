"""The text that describes a network to ASTRA-sim's ns-3, and that of SimAI.

The first line is `nodes switches links`, of SimAI `nodes gpus_per_server nvswitches switches links gpu_type`. Then come
the ids of the switches, which may be none, and a line `source target 400Gbps delay error` for each full-duplex link.
Files that list each link in both directions, as some generators do, are read as one-way links.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InputError, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.notes import Notes, counted
from forestcoll.topology.importers.options import ImportOptions
from forestcoll.topology.importers.source import MAX_LINKS, Source, whole_number

_RATE = r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*([kKMGT]?)(bps|b/s|Bps|B/s)"
_LINK = re.compile(rf"\s*(\d+)\s+(\d+)\s+{_RATE}(?:\s+(\S+))?(?:\s+\S+)*\s*", re.ASCII)
_DELAY = re.compile(r"([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,3})?)(s|ms|us|ns|ps)?")
_MICROSECONDS = {"s": Fraction(10**6), "ms": Fraction(1000), "us": Fraction(1), "ns": Fraction(1, 1000)}
_SIMAI_WORDS = 6


@dataclass(frozen=True)
class _Header:
    """The first line: counts of nodes, switches and links, and GPUs a server; 0 if the file does not say."""

    nodes: int
    nvswitches: int
    switches: int
    links: int
    gpus_per_server: int
    line: int


def looks_like(text: str) -> bool:
    """Return whether the text begins with counts and has a line of a link."""
    lines = _lines(text[: 2**20])
    if len(lines) < 2 or not re.fullmatch(r"\d+\s+\d+\s+\d+(\s+\d+\s+\d+(\s+\S+)?)?", lines[0][1], re.ASCII):
        return False
    return any(_LINK.fullmatch(line) for _, line in lines[1:4])


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines with their numbers, without comments and blank lines."""
    stripped = (re.split(r"//|#", line)[0].strip() for line in text.splitlines())
    return [(number, line) for number, line in enumerate(stripped, start=1) if line]


def read(sources: Sequence[Source], _options: ImportOptions, notes: Notes) -> TopologyBuilder:
    """Return the network.

    Raises:
        InputError: a count does not fit, or a line is broken.
    """
    source = sources[0]
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
    _add_nodes(source, builder, header, ids)
    _add_links(source, builder, header, lines[place:], notes)
    return builder


def _header(source: Source, line: int, text: str) -> _Header:
    words = text.split()
    if len(words) not in (3, _SIMAI_WORDS - 1, _SIMAI_WORDS):
        raise source.error("the first line is not 'nodes switches links', nor SimAI's six values", line)
    numbers = [whole_number(source, word, "a count in the first line", line, most=MAX_LINKS) for word in words[:5]]
    if len(words) == 3:
        return _Header(numbers[0], 0, numbers[1], numbers[2], 0, line)
    return _Header(numbers[0], numbers[2], numbers[3], numbers[4], numbers[1], line)


def _add_nodes(source: Source, builder: TopologyBuilder, header: _Header, ids: Sequence[int]) -> None:
    expected = header.switches + header.nvswitches
    if len(ids) != expected:
        count = counted(expected, "switch", "switches")
        raise source.error(f"the first line says {count}, and the file lists {len(ids)}; fix one", header.line)
    if len(set(ids)) != len(ids) or any(each >= header.nodes for each in ids):
        raise source.error(f"switches must be different ids below {header.nodes}", header.line)
    nvswitches = set(ids[: header.nvswitches])
    switches = set(ids)
    position = 0
    for node in range(header.nodes):
        if node in switches:
            builder.add_switch(node, device="nvswitch" if node in nvswitches else "switch")
        else:
            box = {"box": position // header.gpus_per_server} if header.gpus_per_server else {}
            builder.add_compute(node, **box)
            position += 1


def _add_links(
    source: Source, builder: TopologyBuilder, header: _Header, lines: Sequence[tuple[int, str]], notes: Notes
) -> None:
    if len(lines) < header.links:
        raise source.error(
            f"the first line says {counted(header.links, 'link')}, and the file has {len(lines)}; is it cut off?",
            header.line,
        )
    if len(lines) > header.links:
        extra = counted(len(lines) - header.links, "line")
        notes.ignore(f"{extra} after the {counted(header.links, 'link')} that the first line says")
    links = []
    for number, line in lines[: header.links]:
        found = _LINK.fullmatch(line)
        if found is None:
            raise source.error(f"{shown(line)} is no link; expected 'source target 400Gbps delay error'", number)
        links.append((number, int(found[1]), int(found[2]), f"{found[3]}{found[4]}{found[5]}", _latency(found[6])))
    rates = {(one, other): rate for _, one, other, rate, _ in links}
    both = all(rates.get((other, one)) == rate for (one, other), rate in rates.items()) and len(rates) == len(links)
    if both and links:
        notes.assume("a line is a one-way link, as every link is listed in both directions")
    add = builder.add_link if both else builder.add_duplex
    for number, one, other, rate, latency in links:
        try:
            add(one, other, rate, latency_us=latency)
        except InputError as error:
            raise source.error(str(error).removeprefix(f"{source.where}: "), number) from None


def _latency(text: str | None) -> Fraction | None:
    """Return the microseconds of a delay; None if there is none that is understood."""
    found = _DELAY.fullmatch(text or "")
    if found is None or found[2] not in _MICROSECONDS or len(found[1]) > 30:
        return None
    return Fraction(found[1]) * _MICROSECONDS[found[2]]
