"""The most that rings reach: the algorithm of NCCL and RCCL for allgather and reduce-scatter.

A ring visits all ranks one after the other and comes back. Each hop of it carries (N-1)/N of its part of the data. A
ring leaves every set with some but not all ranks at least once. So, however many rings share the data, at least
(N-1)/N of M leaves every such set:

    algbw <= b N/(N-1),  b = the least bandwidth that leaves a set with some but not all ranks.

With B boxes of n GPUs, the set is usually a box, and b is the bandwidth of its NICs. Other schedules let only (B-1)/B
of M into a box, so rings lose the factor (N-1)B / (N(B-1)): 1.875 for two boxes of eight GPUs, 1.058 for sixteen. NCCL
reaches this value where its rings share the NICs and the links in a box evenly: 640/3 on two DGX A100, 51200/127 on
sixteen DGX H100. Eight of the GPUs of an MI250 box have no rings that reach it: `forestcoll compare` makes the rings
themselves, as schedules. An allreduce by rings is a reduce-scatter and an allgather, so half of it. Ranks that take no
part do not forward data.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.solver.forests.broadcast import cut_set_bound
from forestcoll.topology import Topology
from forestcoll.topology.graph.part import usable_part, widened, without_links_of_idle
from forestcoll.topology.graph.walks import unreachable_pair


@dataclass(frozen=True)
class RingBound:
    """What no schedule of rings exceeds.

    Attributes:
        algbw: the bound, in the unit of the topology; never above the bound of all schedules, if that is given.
        cut: the set of nodes that each ring leaves, node numbers in rising order.
    """

    algbw: Fraction
    cut: tuple[int, ...]


def ring_bound(topology: Topology, demand: NodeDemand, of_all: Fraction | None = None) -> RingBound | None:
    """Return the bound of rings over all ranks; None if there are no rings.

    There are none for a collective with a root or an all-to-all, for shards of different sizes, and where ranks do not
    reach each other without relays.

    Args:
        topology: the network.
        demand: the collective and its ranks.
        of_all: the bound of all schedules, which rings do not exceed either; None if it is not known.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> two_boxes = load_topology("dgx-a100:boxes=2")
        >>> str(ring_bound(two_boxes, NodeDemand(), Fraction(1040, 3)).algbw)
        '640/3'
    """
    if demand.collective not in UNROOTED or demand.shards is not None:
        return None
    members = demand.members(topology)
    if len(members) < 2:
        raise InputError(f"{topology.name}: one rank takes part; rings need two or more")
    bare = without_links_of_idle(topology, members)
    if unreachable_pair(bare, members) is not None:
        return None
    least = cut_set_bound(usable_part(bare, members))
    cut = widened(bare, members, least.cut)
    rings = CutProof(cut).exit_bandwidth(bare) * Fraction(len(members), len(members) - 1)
    if demand.collective is Collective.ALLREDUCE:
        rings /= 2
    return RingBound(rings if of_all is None else min(rings, of_all), cut)
