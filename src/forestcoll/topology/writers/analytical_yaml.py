"""A network as the YAML of ASTRA-sim's analytical model: a product of rings, complete graphs and switches.

Of the products, networks of one dimension are recognised: a switch with all compute nodes on it, a complete graph, or a
ring. Other networks are refused; ns-3's text expresses them.
"""

from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.topology.model import Topology
from forestcoll.topology.writers.decimals import decimal_text, in_unit

_LATENCY_NS = 500
"""The latency of a link of unknown latency, as in ASTRA-sim's examples."""
_UNIT = "GiB/s"


def text_of(topology: Topology) -> str:
    """Return the file that describes `topology`.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> print(text_of(build_topology("ring:nodes=4,bandwidth=50GiB/s")), end="")
        topology: [ Ring ]
        npus_count: [ 4 ]
        bandwidth: [ 50 ]  # GB/s, with GB = 2^30 bytes
        latency: [ 500 ]  # ns

    Raises:
        InputError: the network is none of these, or its bandwidth is no short decimal in GiB/s.
    """
    block = _block(topology)
    if block is None:
        raise InputError(
            f"{topology.name}: is neither a ring, a complete graph nor a switch with links of one bandwidth, which "
            "ASTRA-sim's YAML needs; write .txt for ns-3, .json or .graphml"
        )
    latencies = [link.latency_us * 1000 for link in topology.links if link.latency_us is not None]
    latency = max(latencies, default=Fraction(_LATENCY_NS))
    return "\n".join(
        [
            f"topology: [ {block} ]",
            f"npus_count: [ {len(topology.compute)} ]",
            f"bandwidth: [ {_bandwidth(topology)} ]  # GB/s, with GB = 2^30 bytes",
            f"latency: [ {float(latency):g} ]  # ns",
            "",
        ]
    )


def _bandwidth(topology: Topology) -> str:
    value = topology.links[0].bandwidth
    text = decimal_text(in_unit(topology, value, _UNIT))
    if text is None:
        raise InputError(
            f"{topology.name}: {value} {topology.bandwidth_unit} is no decimal in GiB/s; write .txt for ns-3"
        )
    return text


def _block(topology: Topology) -> str | None:
    """Return what ASTRA-sim calls the network, or None."""
    if len({link.bandwidth for link in topology.links}) != 1:
        return None
    ends = topology.link_numbers.keys()
    nodes, count = topology.compute, len(topology.compute)
    if len(topology.switches) == 1:
        switch = topology.switches[0]
        star = {pair for node in nodes for pair in ((node, switch), (switch, node))}
        return "Switch" if ends == star else None
    if topology.switches:
        return None
    around = list(zip(nodes, (*nodes[1:], nodes[0]), strict=True))
    if ends == {pair for one, other in around for pair in ((one, other), (other, one))}:
        return "Ring"
    return "FullyConnected" if len(ends) == count * (count - 1) else None
