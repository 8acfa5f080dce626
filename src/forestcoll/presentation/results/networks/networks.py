"""A network as a page: its nodes, its boxes, its links by bandwidth, and what its switches can do."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from forestcoll.base.errors import plural
from forestcoll.presentation.tables import Column, Page, Row, Table, row
from forestcoll.topology import Topology
from forestcoll.topology.graph_objects import LIBRARIES
from forestcoll.topology.importers.imported import IMPORTED

_MOST_BANDWIDTHS = 20
"""The most bandwidths in the table of links. In a random network, every link may have a different bandwidth."""


class _Ports(NamedTuple):
    short: str
    sentence: str


_PORTS = {
    None: _Ports("all links at once", "a compute node uses all its links at once"),
    "one-port": _Ports("one port", "a compute node sends to one neighbour and receives from one neighbour at a time"),
    "one-port-send": _Ports("one port to send", "a compute node sends to one neighbour at a time"),
    "one-port-receive": _Ports("one port to receive", "a compute node receives from one neighbour at a time"),
    "half-duplex": _Ports("half-duplex", "a compute node sends to or receives from one neighbour at a time"),
    "bounded-multi-port": _Ports(
        "bounded multi-port",
        "a compute node uses all its links at once, within its send_bandwidth and receive_bandwidth",
    ),
}
"""Each port model in words."""


def ports_text(network: Topology) -> str:
    """Return the port model of a network in some words."""
    return _PORTS[network.port_model].short


def size_row(network: Topology) -> Row:
    """Return what JSON says of a network."""
    counts = {"compute_nodes": len(network.compute), "switches": len(network.switches), "links": len(network.links)}
    return row(topology=network.name, **counts, unit=network.bandwidth_unit)


def network_page(network: Topology) -> Page:
    """Return the page of a network.

    Args:
        network: any network.

    Returns:
        The numbers of nodes, what the switches can do, and the number of links of each bandwidth.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> network_page(build_topology("ring:nodes=4")).title
        'ring:nodes=4'
    """
    rows = [size_row(network), row("compute nodes", _compute(network)), row("switches", _switches(network))]
    if network.port_model is not None:
        rows.append(row("ports", f"{network.port_model}: {_PORTS[network.port_model].sentence}"))
    return Page(network.name, (*rows, *assumed_rows(network), _links(network)))


def assumed_rows(network: Topology) -> list[Row]:
    """Return what was assumed of a graph of another library, such as the bandwidth of its edges.

    Example:
        >>> import numpy as np
        >>> from forestcoll import load_topology
        >>> assumed_rows(load_topology(np.array([[False, True], [True, False]])))[0].text
        'no edge has a bandwidth, so each link has 1 GB/s each way'
    """
    imported = network.attributes.get(IMPORTED)
    if not isinstance(imported, Mapping) or imported.get("format") not in LIBRARIES:
        return []
    return [row("assumed", text) for text in imported.get("assumed", ())]


def written_network_page(network: Topology, path: Path, cables: Mapping[str, int] | None = None) -> Page:
    """Return the page about a network that was written to a file.

    Args:
        network: the network.
        path: the file.
        cables: for a list of cables, how many there are for each action; None for another format.
    """
    parts: list[Row | str] = [network_sentence(network), size_row(network), row(output=path)]
    if cables is not None:
        listed = ", ".join(f"{count:,} to {action}" for action, count in cables.items() if count)
        parts.append(row("cables", listed or "none", cables=dict(cables)))
    return Page(f"{network.name}: written to {path}", tuple(parts))


def network_sentence(topology: Topology) -> str:
    """Return the size of a network in a sentence.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> network_sentence(build_topology("dgx-a100:boxes=2"))
        'dgx-a100:boxes=2 has 16 compute nodes in 2 boxes, 3 switches, and 64 links, each in one direction.'
    """
    boxes = {str(node.attributes["box"]) for node in topology.nodes if "box" in node.attributes}
    where = f" in {len(boxes):,} box{'es' * (len(boxes) > 1)}" if boxes else ""
    switches = len(topology.switches)
    count = f"{switches:,} switch{'es' * (switches > 1)}" if switches else "no switches"
    compute, links = plural(len(topology.compute), "compute node"), plural(len(topology.links), "link")
    return f"{topology.name} has {compute}{where}, {count}, and {links}, each in one direction."


def _compute(network: Topology) -> str:
    boxes = {repr(network.nodes[node].attributes.get("box")) for node in network.compute} - {"None"}
    where = f" in {plural(len(boxes), 'box')}".replace("boxs", "boxes") if boxes else ""
    return f"{len(network.compute):,}{where}"


def _switches(network: Topology) -> str:
    switches = [network.nodes[node] for node in network.switches]
    if not switches:
        return "none"
    abilities = {
        "copy data": sum(node.multicast for node in switches),
        "add up data": sum(node.aggregation for node in switches),
    }
    capable = [f"{count:,} can {what}" for what, count in abilities.items() if count]
    return f"{len(switches):,}; {', '.join(capable) if capable else 'none can copy or add up data'}"


def _links(network: Topology) -> Table:
    counts = Counter(link.bandwidth for link in network.links)
    listed = sorted(counts.items(), reverse=True)
    rest = sum(count for _, count in listed[_MOST_BANDWIDTHS:])
    columns = (
        Column("one-way links", show="{:,}".format, right=True, key="links"),
        Column(f"bandwidth ({network.bandwidth_unit})", show=_bandwidth, right=True, key="bandwidth"),
    )
    notes = (f"and {plural(rest, 'link')} of lower bandwidth",) if rest else ()
    return Table(columns, tuple((count, value) for value, count in listed[:_MOST_BANDWIDTHS]), notes=notes)


def _bandwidth(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{value} ({float(value):.6g})"
