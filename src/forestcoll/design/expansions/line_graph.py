"""Line graph expansion (§5.1, Definitions 1 and 12): N nodes of degree d become d*N of the same degree.

Every arc becomes a node. Its out-neighbours are the arcs that start at the end of the arc. Node v'v first sends its
shard to all its neighbours vu. Then the data follows the routes of shard v in the base schedule, from arc to arc, one
step later. The first step costs M/B * 1/N, and the other steps cost the same as in the base (Theorem 7; by Theorem 10
the cost is exact if every node has two or more out-neighbours).
"""

from fractions import Fraction

import numpy as np

from forestcoll.design.measure import Cost
from forestcoll.design.sends import Sends, joined
from forestcoll.design.wiring import Wiring, mirror_of_arcs
from forestcoll.schedule.rows import IntArray


def line_graph(base: Wiring) -> Wiring:
    """Return L(base). Node a is arc a of `base`."""
    degree = base.degree
    return Wiring((base.targets_of_arcs[:, None] * degree + np.arange(degree, dtype=np.int32)).astype(np.int32))


def line_graph_cost(base: Cost, nodes: int) -> Cost:
    """Return the cost on the line graph of a base of `nodes` nodes."""
    return Cost(base.steps + 1, base.bandwidth_factor + Fraction(1, nodes))


def line_graph_sends(base: Wiring, sends: Sends) -> Sends:
    """Return the expanded schedule (Definition 1)."""
    expanded, degree = line_graph(base), base.degree
    arcs = np.flatnonzero(expanded.targets_of_arcs != expanded.sources_of_arcs)
    whole = np.full(len(arcs), sends.parts, dtype=np.int64)
    first = (np.zeros(len(arcs), np.int32), expanded.sources_of_arcs[arcs], arcs, np.zeros_like(whole), whole)

    shape = (len(sends), degree, degree)  # send, arc into the node of the shard, outgoing arc
    shards = np.broadcast_to(base.entering_arcs[sends.shards][:, :, None], shape)
    crossed = np.broadcast_to((sends.arcs[:, None] * degree + np.arange(degree))[:, None, :], shape)
    kept = shards != expanded.targets_of_arcs[crossed]
    later = tuple(
        np.broadcast_to(each[:, None, None], shape)[kept] for each in (sends.steps + 1, sends.lows, sends.highs)
    )
    return joined(sends.count + 1, sends.parts, [first, (later[0], shards[kept], crossed[kept], later[1], later[2])])


def line_graph_mirror(base: Wiring, mirror: IntArray) -> IntArray:
    """Return an isomorphism from L(base) to its transpose, made from a mirror of the base."""
    return mirror_of_arcs(base, mirror)
