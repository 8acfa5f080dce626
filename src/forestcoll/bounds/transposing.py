"""The same network with every link turned round."""

from dataclasses import replace

from forestcoll.topology import Link, Topology


def transposed(topology: Topology) -> Topology:
    """Return `topology` with its links the other way: an allgather there is a reduce-scatter here, backwards."""
    turned = (Link(link.target, link.source, link.bandwidth, link.latency_us) for link in topology.links)
    return replace(topology, links=tuple(sorted(turned, key=lambda link: (link.source, link.target))))
