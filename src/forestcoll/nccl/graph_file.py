"""Reads the graphs that NCCL and RCCL write for a box: `NCCL_GRAPH_DUMP_FILE`, and `NCCL_GRAPH_FILE` in return.

    <graphs version="1">
      <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="20" speedinter="20" ...>
        <channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/><net dev="0"/></channel>
      </graph>
    </graphs>

A channel lists the NIC by which data enters the box, all GPUs of the box in their order, and the NIC by which data
leaves. Without NICs, the box is alone. Source: NCCL 2.30, `src/graph/search.cc` (`ncclTopoGetXmlFromChannel`,
`ncclTopoGetChannelFromXml`) and `src/include/graph.h` (`NCCL_TOPO_PATTERN_...`). A number with `0x` is hexadecimal, as
in newer versions. GPUs are told apart by `dev` and, if several hosts share NVLink, `rank`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from forestcoll.base.errors import shown
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element, read_elements

MAX_CHANNELS = 1024
"""The most channels of a graph; NCCL has at most 64."""

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18}")


class Pattern(IntEnum):
    """How NCCL uses the channels of a graph; the value is the attribute `pattern` of the file."""

    BALANCED_TREE = 1
    """The first GPU sends to the parent box; the second receives from the first child, the first from the second."""
    SPLIT_TREE = 2
    """The first GPU sends to the parent box, the second receives from the children."""
    TREE = 3
    """The first GPU sends to the parent box and receives from the children."""
    RING = 4
    """A ring through all boxes."""


@dataclass(frozen=True)
class Channel:
    """One channel of a graph.

    Attributes:
        entry: the number of the NIC by which data enters the box; None without NICs.
        gpus: the places of the GPUs in the box, from 0, in the order of the channel.
        leaving: the number of the NIC by which data leaves the box; None without NICs.
    """

    entry: int | None
    gpus: tuple[int, ...]
    leaving: int | None


@dataclass(frozen=True)
class Graph:
    """The channels of a box that NCCL uses for one algorithm.

    Attributes:
        pattern: how the channels are used.
        crosses_nics: whether NCCL found that a ring leaves by another NIC than it enters (`crossnic="2"`).
        channels: the channels, at least one.
    """

    pattern: Pattern
    crosses_nics: bool
    channels: tuple[Channel, ...]

    @property
    def size(self) -> int:
        """The number of GPUs of the box."""
        return len(self.channels[0].gpus)


@dataclass(frozen=True)
class GraphFile:
    """The graphs of a file.

    Attributes:
        rings: the graph of rings; None if there is none.
        trees: the graph of trees; None if there is none.
    """

    rings: Graph | None
    trees: Graph | None


def read_graphs(source: Source) -> GraphFile:
    """Return the graphs of rings and of trees in a file; graphs of other algorithms are not read.

    Raises:
        InputError: the file is not such XML, has neither rings nor trees, or a channel is broken; the message names
            the line.
    """
    root = read_elements(source)
    rings = trees = None
    for element in root.all("graph"):
        number = _number(source, element, "pattern")
        if not element.children or number not in set(Pattern) or element.get("id") not in {"", "0", "1"}:
            continue
        graph = _graph(source, element, Pattern(number))
        if graph.pattern is Pattern.RING:
            rings = rings or graph
        else:
            trees = trees or graph
    if rings is None and trees is None:
        raise source.error('holds no <graph> with channels of pattern 1 to 4; write it with NCCL_GRAPH_DUMP_FILE="..."')
    return GraphFile(rings, trees)


def _graph(source: Source, element: Element, pattern: Pattern) -> Graph:
    found = [each for each in element.children if each.tag == "channel"]
    if not 0 < len(found) <= MAX_CHANNELS:
        raise source.error(f"the graph has {len(found)} channels; expected 1 to {MAX_CHANNELS}", element.line)
    orders = [[_gpu(source, gpu) for gpu in each.children if gpu.tag == "gpu"] for each in found]
    places = {gpu: place for place, gpu in enumerate(sorted(set(orders[0])))}
    for each, order in zip(found, orders, strict=True):
        _check_order(source, each, order, places)
    channels = tuple(
        _channel(source, each, tuple(places[gpu] for gpu in order)) for each, order in zip(found, orders, strict=True)
    )
    return Graph(pattern, element.get("crossnic") == "2", channels)


def _channel(source: Source, element: Element, gpus: tuple[int, ...]) -> Channel:
    nets = [each for each in element.children if each.tag == "net"]
    if len(nets) not in {0, 2}:
        raise source.error(f"a channel has {len(nets)} <net>; expected one before the GPUs and one after", element.line)
    ends = [_number(source, each, "dev") for each in nets]
    return Channel(*((ends[0], gpus, ends[1]) if ends else (None, gpus, None)))


def _check_order(
    source: Source, element: Element, order: Sequence[tuple[int, int]], places: dict[tuple[int, int], int]
) -> None:
    if not order or len(set(order)) < len(order) or set(order) != set(places):
        raise source.error(
            "every channel of a graph must list every GPU of the box once; this one does not", element.line
        )


def _gpu(source: Source, element: Element) -> tuple[int, int]:
    """Return what identifies a GPU: its rank, if the file states it, and its device number."""
    rank = _number(source, element, "rank") if "rank" in element.attributes else 0
    return rank, _number(source, element, "dev")


def _number(source: Source, element: Element, name: str) -> int:
    text = element.get(name).strip()
    if _NUMBER.fullmatch(text) is None:
        found = f"is {shown(text)}" if name in element.attributes else "is missing"
        raise source.error(f"{name} of <{element.tag}> {found}; expected a number", element.line)
    return int(text, 16 if text[:2].lower() == "0x" else 10)


def looks_like_graphs(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of such a file."""
    return re.search(rb"<graphs?[\s>/]", start) is not None
