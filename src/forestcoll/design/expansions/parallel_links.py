"""Parallel links (F.4): each link of a network is repeated, so that the degree d becomes k*d. The cost stays the same.

Each of the k parallel arcs sends one k-th of the data of the arc. B, the bandwidth of all outgoing links of a node
together, is divided among k times as many links, so T_L and T_B do not change.
"""

import numpy as np

from forestcoll.design.sends import Sends, joined
from forestcoll.design.wiring import Wiring


def parallel_links(base: Wiring, copies: int) -> Wiring:
    """Return the base with `copies` arcs instead of each arc. Port p becomes the ports p * copies and following."""
    return Wiring(np.repeat(base.targets, copies, axis=1))


def parallel_links_sends(sends: Sends, copies: int) -> Sends:
    """Return the schedule that divides each send equally among the parallel arcs."""
    finer = sends.cut_finer(copies)
    share = (finer.highs - finer.lows) // copies
    pieces = []
    for copy in range(copies):
        lows = finer.lows + copy * share
        pieces.append((finer.steps, finer.shards, finer.arcs * copies + copy, lows, lows + share))
    return joined(finer.count, finer.parts, pieces)
