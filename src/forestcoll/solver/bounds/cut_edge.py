"""Cut-edges: single links that determine the rate of an allreduce (*On the Computation Rate of All-Reduce*, Theorem 3).

A *cut-edge* is the only link that leaves some set with some but not all ranks. No allreduce is faster than its
bandwidth. If trees reach this bandwidth, it is the greatest rate of any schedule and of any code.

Theorem 3 of the paper describes the networks with a cut-edge whose bandwidth trees reach: sums of networks that are a
pair of an in-tree and an out-tree with one root, with more bandwidth on any link but the cut-edge. The test here
accepts the same networks, and also those with further links that no pair of trees uses, because such links change
nothing. It needs the greatest rate along trees, and is exact.

In all pairs of trees, the cut-edge must be the only link out of the same set. The theorem does not say so, and is false
without it; docs/evidence/allreduce-proofs.md has a network that shows this.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import reached_from, unreachable_pair


@dataclass(frozen=True)
class CutEdge:
    """A link whose bandwidth is the rate of an allreduce.

    Attributes:
        source: the number of the node that the link leaves.
        target: the number of the node that the link enters.
        inside: the numbers of nodes, in rising order, that form a set with some but not all ranks that only this link
            leaves.

    Example:
        >>> from forestcoll import bounds
        >>> bounds("mesh:dims=3").allreduce_rate.cut_edge  # a path of three nodes
        CutEdge(source=0, target=1, inside=(0,))
    """

    source: int
    target: int
    inside: tuple[int, ...]


def cut_edge(topology: Topology, rate: Fraction) -> CutEdge | None:
    """Return the first cut-edge of bandwidth `rate`; None if there is none.

    A link is a cut-edge if and only if some rank cannot reach all ranks without it.

    Args:
        topology: the network. All of its compute nodes take part.
        rate: the greatest rate along trees, in the unit of the topology.

    Example:
        >>> from fractions import Fraction
        >>> from forestcoll import load_topology
        >>> cut_edge(load_topology("mesh:dims=3"), Fraction(1))
        CutEdge(source=0, target=1, inside=(0,))
    """
    for place, link in enumerate(topology.links):
        if link.bandwidth == rate:
            rest = replace(topology, links=topology.links[:place] + topology.links[place + 1 :])
            pair = unreachable_pair(rest, topology.compute)
            if pair is not None:
                return CutEdge(link.source, link.target, tuple(sorted(reached_from(rest, [pair[0]]))))
    return None
