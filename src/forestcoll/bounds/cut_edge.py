"""Cut-edges: single links that determine the rate of an allreduce (*On the Computation Rate of All-Reduce*, Theorem 3).

A *cut-edge* is the only link into a rank, or the only link out of a rank. No allreduce is faster than its bandwidth,
because a set that consists of one rank, or of all nodes but one rank, has no other outgoing link. If trees reach this
bandwidth, it is the greatest rate of any schedule and of any code.

Theorem 3 of the paper describes the networks with a cut-edge whose bandwidth trees reach: sums of networks that are a
pair of an in-tree and an out-tree with one root, with more bandwidth on any link but the cut-edge. The test here
accepts the same networks, and also those with further links that no pair of trees uses, because such links change
nothing. It needs the greatest rate along trees, and is exact.

In all pairs of trees, the cut-edge must be the only link into the same node, or in all the only link out of the same
node. The theorem does not say so, and is false without it; docs/allreduce-rate.md has a network that shows this.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.topology import Topology


@dataclass(frozen=True)
class CutEdge:
    """A link whose bandwidth is the rate of an allreduce.

    Attributes:
        source: the number of the node that the link leaves.
        target: the number of the node that the link enters.
        enters: True if no other link enters the target, which is a rank; False if no other link leaves the source,
            which is a rank.

    Example:
        >>> from forestcoll import bounds_of
        >>> bounds_of("mesh:dims=3").allreduce_rate.cut_edge  # a path of three nodes
        CutEdge(source=0, target=1, enters=False)
    """

    source: int
    target: int
    enters: bool


def cut_edge(topology: Topology, rate: Fraction) -> CutEdge | None:
    """Return the first cut-edge of bandwidth `rate`; None if there is none.

    Args:
        topology: the network. All of its compute nodes take part.
        rate: the greatest rate along trees, in the unit of the topology.

    Example:
        >>> from fractions import Fraction
        >>> from forestcoll import load_topology
        >>> cut_edge(load_topology("mesh:dims=3"), Fraction(1))
        CutEdge(source=0, target=1, enters=False)
    """
    entering = Counter(link.target for link in topology.links)
    leaving = Counter(link.source for link in topology.links)
    for link in topology.links:
        if link.bandwidth != rate:
            continue
        if topology.nodes[link.target].is_compute and entering[link.target] == 1:
            return CutEdge(link.source, link.target, enters=True)
        if topology.nodes[link.source].is_compute and leaving[link.source] == 1:
            return CutEdge(link.source, link.target, enters=False)
    return None
