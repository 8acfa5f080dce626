"""What limits the rates of the transfers of a program: links, and the channels of each rank.

The channels of a rank together are two more links, which only this rank uses: one for all that it sends, and one for
all that it receives. If several ranks send to a rank, data takes more of the bandwidth of the last link.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.program.paths import Multipath, Pair, Paths
from forestcoll.simulation.rates import Rates, Wires


@dataclass(frozen=True)
class Limits:
    """What limits the rates of transfers.

    Attributes:
        multipaths: for each pair of ranks, the links and the part of their bandwidth that a byte takes; links after
            those of the network are channels of ranks.
        bandwidths: for each link, the bytes per second.
    """

    multipaths: tuple[Multipath, ...]
    bandwidths: FloatArray


def limits_of(paths: Paths, pairs: Sequence[Pair], multipaths: Sequence[Multipath], costs: Costs) -> Limits:
    """Return the limits for transfers between these pairs of ranks over these paths.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
    """
    rates, ranks = Rates.of(Wires.of(paths.topology), costs), len(paths.members)
    senders = Counter(target for _, target in pairs)
    slower = {rank: float(rates.slower(np.array(float(count)))) for rank, count in senders.items()}
    found, links = [], paths.topology.links
    for (_, target), path in zip(pairs, multipaths, strict=True):
        node = paths.members[target]
        weights = [
            weight * (slower[target] if links[link].target == node else 1.0)
            for link, weight in zip(path.links, path.weights, strict=True)
        ]
        found.append(Multipath(path.links, tuple(weights), path.latency_us))
    bandwidths = 1 / rates.links
    if not rates.rank:
        return Limits(tuple(found), bandwidths)
    count = len(bandwidths)
    limited = tuple(
        Multipath((*path.links, count + source, count + ranks + target), (*path.weights, 1.0, 1.0), path.latency_us)
        for (source, target), path in zip(pairs, found, strict=True)
    )
    return Limits(limited, np.concatenate([bandwidths, np.full(2 * ranks, 1 / rates.rank)]))
