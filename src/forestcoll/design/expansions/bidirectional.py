"""Bidirectional networks from one-way networks (A.6): the degree d becomes 2*d, and the cost stays the same.

Every arc gets a twin in the opposite direction. Half of each shard follows the schedule over the arcs. The other half
follows, over the twins, the image of the schedule under an isomorphism from the network to its transpose (a mirror).
Each half sends half of the data over links of half the bandwidth, so that the cost does not change.
"""

import numpy as np

from forestcoll.design.sends import Sends, columns_of, joined
from forestcoll.design.wiring import Wiring, mirror_of_arcs
from forestcoll.schedule.rows import IntArray


def bidirectional(base: Wiring) -> Wiring:
    """Return the base with a twin for each arc. The ports of the arcs come first, then the ports of the twins."""
    return Wiring(np.concatenate([base.targets, base.entering], axis=1).astype(np.int32))


def bidirectional_sends(base: Wiring, sends: Sends, mirror: IntArray) -> Sends:
    """Return the schedule that follows `sends` over the arcs and the image of `sends` under `mirror` over the twins."""
    twins = twin_arcs(base)
    shards, arcs = mirror[sends.shards], twins[mirror_of_arcs(base, mirror)[sends.arcs]]
    steps, own_shards, own_arcs, lows, highs = columns_of(sends)
    forward = (steps, own_shards, _widened(own_arcs, base.degree), lows, highs)
    backward = (steps, shards, arcs, lows + sends.parts, highs + sends.parts)
    return joined(sends.count, 2 * sends.parts, [forward, backward])


def twin_arcs(base: Wiring) -> IntArray:
    """Return, for each arc of the base, the number of its twin in `bidirectional(base)`."""
    degree = base.degree
    twins = np.empty(base.nodes * degree, dtype=np.int32)
    ports = np.arange(base.nodes)[:, None] * (2 * degree) + degree + np.arange(degree)
    twins[base.entering_arcs.ravel()] = ports.ravel()
    return twins


def _widened(arcs: IntArray, degree: int) -> IntArray:
    node, port = np.divmod(arcs, degree)
    return node * (2 * degree) + port
