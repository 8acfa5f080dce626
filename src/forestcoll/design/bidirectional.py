"""One-way networks made two-way (A.6): degree d becomes 2*d, every link with its twin, and the cost stays.

Every arc is joined by its twin. Half of each shard follows the schedule over the arcs, the other half the schedule's
image over the twins, under an isomorphism from the network to its transpose. Each half is half the data over links of
half the bandwidth. Without such an isomorphism the other half follows a schedule of the transpose.
"""

import numpy as np

from forestcoll.design.sends import Sends, columns_of, joined
from forestcoll.design.wiring import Wiring, mirror_of_arcs
from forestcoll.schedule.rows import IntArray


def both_ways(base: Wiring) -> Wiring:
    """Return the base with a twin for every arc: the arcs' ports first, then those of the twins of arcs that enter."""
    return Wiring(np.concatenate([base.targets, base.entering], axis=1).astype(np.int32))


def both_ways_sends(base: Wiring, sends: Sends, mirror: IntArray) -> Sends:
    """Return the schedule that follows `sends` forward, and backward its image under `mirror`."""
    twins = twin_arcs(base)
    shards, arcs = mirror[sends.shards], twins[mirror_of_arcs(base, mirror)[sends.arcs]]
    steps, own_shards, own_arcs, lows, highs = columns_of(sends)
    forward = (steps, own_shards, _widened(own_arcs, base.degree), lows, highs)
    backward = (steps, shards, arcs, lows + sends.parts, highs + sends.parts)
    return joined(sends.count, 2 * sends.parts, [forward, backward])


def twin_arcs(base: Wiring) -> IntArray:
    """Return for each arc of the base the number of its twin in `both_ways(base)`."""
    degree = base.degree
    twins = np.empty(base.nodes * degree, dtype=np.int32)
    ports = np.arange(base.nodes)[:, None] * (2 * degree) + degree + np.arange(degree)
    twins[base.entering_arcs.ravel()] = ports.ravel()
    return twins


def _widened(arcs: IntArray, degree: int) -> IntArray:
    node, port = np.divmod(arcs, degree)
    return node * (2 * degree) + port
