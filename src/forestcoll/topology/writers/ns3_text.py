"""A network as the text that ASTRA-sim's ns-3 reads: nodes as integers, links as `source target rate delay error`.

The first line is `nodes switches links`, the second lists the switches. Compute nodes are numbered from 0 in their
order, then switches. A link is full duplex with the same rate both ways, so a network without this is refused. Rates
are in bits: `2400Gbps` is 300 GB/s.
"""

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.model import Link, Topology
from forestcoll.topology.writers.decimals import decimal_text, in_unit

_DELAY_MS = "0.0005"
"""The delay of a link of unknown latency, in milliseconds: that of ASTRA-sim's examples."""


def text_of(topology: Topology) -> str:
    """Return the file that describes `topology`.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> print(text_of(build_topology("ring:nodes=3,bandwidth=50")), end="")
        3 0 3
        <BLANKLINE>
        0 1 400Gbps 0.0005ms 0
        0 2 400Gbps 0.0005ms 0
        1 2 400Gbps 0.0005ms 0

    Raises:
        InputError: a link has another bandwidth back, or its rate is no short decimal.
    """
    order = {number: place for place, number in enumerate([*topology.compute, *topology.switches])}
    lines = []
    for link in topology.links:
        if topology.bandwidths.get((link.target, link.source)) != link.bandwidth:
            names = " -> ".join(shown(each) for each in topology.ids([link.source, link.target]))
            raise InputError(
                f"{topology.name}: link {names} has no link of the same bandwidth back, which ns-3's text cannot "
                "express; write .json or .graphml"
            )
        if order[link.source] < order[link.target]:
            ends = f"{order[link.source]} {order[link.target]}"
            lines.append(f"{ends} {_rate(topology, link)} {_delay(link)} 0")
    switches = " ".join(str(order[each]) for each in topology.switches)
    head = f"{len(topology.nodes)} {len(topology.switches)} {len(lines)}"
    return "\n".join([head, switches, *lines, ""])


def _rate(topology: Topology, link: Link) -> str:
    gigabits = in_unit(topology, link.bandwidth, "Gb/s")
    text = decimal_text(gigabits)
    if text is None:
        raise InputError(
            f"{topology.name}: a rate of {gigabits} Gbps is no short decimal, which ns-3's text needs; "
            "write .json or .graphml"
        )
    return f"{text}Gbps"


def _delay(link: Link) -> str:
    latency = None if link.latency_us is None else decimal_text(link.latency_us / 1000)
    return f"{latency or _DELAY_MS}ms"
