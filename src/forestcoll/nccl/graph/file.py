"""The graphs that NCCL and RCCL write for a box (`NCCL_GRAPH_DUMP_FILE`) and read in return (`NCCL_GRAPH_FILE`).

    <graphs version="1">
      <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="20" speedinter="20" ...>
        <channel><net dev="0"/><gpu dev="0"/><gpu dev="0x1"/><net dev="0"/></channel>
      </graph>
    </graphs>

A channel lists the NIC by which data enters the box, all GPUs of the box in their order, and the NIC by which data
leaves. Without NICs, the box is alone. Source: NCCL 2.30, `src/graph/search.cc` (`ncclTopoGetXmlFromChannel`,
`ncclTopoGetChannelFromXml`) and `src/include/graph.h` (`NCCL_TOPO_PATTERN_...`).

Up to NCCL 2.20, numbers of devices are decimal. From 2.27 on, all are read in base 16 and written with `0x`, but for 0;
from 2.30 on, GPUs also have a `rank`. So a file with neither is decimal. `rank` is read only if several GPUs of a box
have one number, and is never written: a job over several hosts crashes if its file has ranks. Nor is more than NCCL
holds: it doubles the channels of a file, has room for 64 of them, and checks nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from xml.sax.saxutils import quoteattr

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element, read_elements

MAX_CHANNELS = 1024
"""The most channels of a graph; NCCL has at most 64."""

MAX_WRITTEN = 32
"""The most channels of a graph with which NCCL does not crash."""

_DECIMAL, _HEXADECIMAL = re.compile(r"[0-9]{1,18}"), re.compile(r"(0[xX])?[0-9a-fA-F]{1,16}")
_NUMBERS = {10: _DECIMAL, 16: _HEXADECIMAL}
_SPEED = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


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
        devices: the number of each GPU of the box, by its place.
        speed: what each channel carries inside the box, in GB/s as NCCL counts them; 0 if the file does not say.
        network_speed: what each channel carries between boxes.
        kind: the slowest kind of path inside the box, in NCCL's words, such as `NVL`.
        network_kind: the slowest kind of path to a NIC, such as `PIX`.
    """

    pattern: Pattern
    crosses_nics: bool
    channels: tuple[Channel, ...]
    devices: tuple[int, ...]
    speed: Fraction = Fraction(0)
    network_speed: Fraction = Fraction(0)
    kind: str = "NVL"
    network_kind: str = "PIX"

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
        notes: what was left out or assumed, as sentences without a period.
    """

    rings: Graph | None
    trees: Graph | None
    notes: tuple[str, ...] = ()


def read_graphs(source: Source) -> GraphFile:
    """Return the graphs of rings and of trees in a file; graphs of other algorithms are not read.

    Raises:
        InputError: the file is not such XML, has neither rings nor trees, or a channel is broken; the message names
            the line.
    """
    root = read_elements(source)
    devices = _Devices(source, root)
    rings = trees = None
    for element in root.all("graph"):
        number = _number(source, element, "pattern")
        if not element.children or number not in set(Pattern) or element.get("id") not in {"", "0", "1"}:
            continue
        graph = _graph(devices, element, Pattern(number))
        if graph.pattern is Pattern.RING:
            rings = rings or graph
        else:
            trees = trees or graph
    if rings is None and trees is None:
        raise source.error('holds no <graph> with channels of pattern 1 to 4; write it with NCCL_GRAPH_DUMP_FILE="..."')
    return GraphFile(rings, trees, devices.notes)


class _Devices:
    """How a file numbers its devices."""

    def __init__(self, source: Source, root: Element) -> None:
        self.source = source
        elements = list(root.all("gpu", "net"))
        numbers = [each.get("dev").strip().lower() for each in elements]
        ranked = sum("rank" in each.attributes for each in elements)
        self.base = 16 if ranked or any(each.startswith("0x") for each in numbers) else 10
        first = root.child("graph") or root
        gpus = [each.get("dev") for each in next(iter(first.all("channel")), first).all("gpu")]
        self.with_ranks = ranked > 0 and len(set(gpus)) < len(gpus)
        self.notes: tuple[str, ...] = ()
        if self.base == 10 and any(len(each.lstrip("0")) > 1 for each in numbers):
            self.notes = ("device numbers are decimal, as of NCCL up to 2.20; later versions read them in base 16",)
        if self.with_ranks:
            self.notes = ("several ranks share a GPU, so GPUs are told apart by rank",)
        elif ranked:
            self.notes = (
                f"rank of {plural(ranked, '<gpu>', '<gpu>')} is left out; with it, a job over several hosts crashes",
            )

    def number(self, element: Element) -> int:
        """Return the number of a device."""
        return _number(self.source, element, "dev", self.base)

    def gpu(self, element: Element) -> tuple[int, int]:
        """Return what identifies a GPU: its rank, if that is needed, and its number."""
        rank = _number(self.source, element, "rank") if self.with_ranks and "rank" in element.attributes else 0
        return rank, self.number(element)


def _graph(devices: _Devices, element: Element, pattern: Pattern) -> Graph:
    source = devices.source
    found = [each for each in element.children if each.tag == "channel"]
    if not 0 < len(found) <= MAX_CHANNELS:
        raise source.error(f"the graph has {len(found)} channels; expected 1 to {MAX_CHANNELS}", element.line)
    orders = [[devices.gpu(gpu) for gpu in each.children if gpu.tag == "gpu"] for each in found]
    places = {gpu: place for place, gpu in enumerate(sorted(set(orders[0])))}
    for each, order in zip(found, orders, strict=True):
        _check_order(source, each, order, places)
    channels = tuple(
        _channel(devices, each, tuple(places[gpu] for gpu in order)) for each, order in zip(found, orders, strict=True)
    )
    return Graph(
        pattern,
        element.get("crossnic") == "2",
        channels,
        tuple(number for _, number in places),
        _speed(source, element, "speedintra"),
        _speed(source, element, "speedinter"),
        element.get("typeintra", "NVL"),
        element.get("typeinter", "PIX"),
    )


def _channel(devices: _Devices, element: Element, gpus: tuple[int, ...]) -> Channel:
    nets = [each for each in element.children if each.tag == "net"]
    if len(nets) not in {0, 2}:
        what = f"a channel has {len(nets)} <net>; expected one before the GPUs and one after"
        raise devices.source.error(what, element.line)
    ends = [devices.number(each) for each in nets]
    return Channel(*((ends[0], gpus, ends[1]) if ends else (None, gpus, None)))


def _check_order(
    source: Source, element: Element, order: Sequence[tuple[int, int]], places: dict[tuple[int, int], int]
) -> None:
    if not order or len(set(order)) < len(order) or set(order) != set(places):
        raise source.error(
            "every channel of a graph must list every GPU of the box once; this one does not", element.line
        )


def _number(source: Source, element: Element, name: str, base: int = 10) -> int:
    text = element.get(name).strip()
    if _NUMBERS[base].fullmatch(text) is None:
        found = f"is {shown(text)}" if name in element.attributes else "is missing"
        raise source.error(f"{name} of <{element.tag}> {found}; expected a number", element.line)
    return int(text, base)


def _speed(source: Source, element: Element, name: str) -> Fraction:
    text = element.get(name, "0").strip()
    if _SPEED.fullmatch(text) is None:
        raise source.error(f"{name} of <{element.tag}> is {shown(text)}; expected GB/s", element.line)
    return Fraction(text)


def graphs_text(file: GraphFile, where: str) -> str:
    """Return the graphs as a file for `NCCL_GRAPH_FILE`, without ranks and with all devices in base 16.

    Args:
        file: the graphs.
        where: what messages name.

    Raises:
        InputError: there are more channels than NCCL holds, or two GPUs of a box have one number.
    """
    lines = ['<graphs version="1">']
    for identity, graph in enumerate((file.rings, file.trees)):
        if graph is not None:
            _check_written(graph, where)
            lines += [_head(identity, graph), *(_line(graph, each) for each in graph.channels), "  </graph>"]
    return "\n".join([*lines, "</graphs>", ""])


def _check_written(graph: Graph, where: str) -> None:
    if len(graph.channels) > MAX_WRITTEN:
        count = plural(len(graph.channels), "channel")
        raise InputError(f"{where}: {count}; NCCL holds {MAX_WRITTEN} of a file at most, and crashes above")
    if len(set(graph.devices)) < graph.size:
        raise shared_gpus(where)


def shared_gpus(where: str) -> InputError:
    """Return the error about ranks that share a GPU."""
    return InputError(
        f"{where}: several ranks share a GPU, and NCCL tells them apart only by rank, with which a job over several "
        "hosts crashes; use one rank for each GPU"
    )


def _head(identity: int, graph: Graph) -> str:
    attributes = {
        "id": identity,
        "pattern": int(graph.pattern),
        "crossnic": 2 if graph.crosses_nics else int(any(each.entry != each.leaving for each in graph.channels)),
        "nchannels": len(graph.channels),
        "speedintra": f"{float(graph.speed):.6g}",
        "speedinter": f"{float(graph.network_speed):.6g}",
        "latencyinter": 0,
        "typeintra": graph.kind,
        "typeinter": graph.network_kind,
        "samechannels": int(len(set(graph.channels)) == 1),
    }
    text = " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items())
    return f"  <graph {text}>"


def _line(graph: Graph, channel: Channel) -> str:
    def net(number: int | None) -> str:
        return "" if number is None else f'<net dev="{number:#x}"/>'

    gpus = "".join(f'<gpu dev="{graph.devices[place]:#x}"/>' for place in channel.gpus)
    return f"    <channel>{net(channel.entry)}{gpus}{net(channel.leaving)}</channel>"


def looks_like_graphs(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of such a file."""
    return re.search(rb"<graphs?[\s>/]", start) is not None
