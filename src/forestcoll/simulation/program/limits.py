"""What limits the rates of the transfers of a program: links, the channels of each rank, and thread blocks.

The channels of a rank together are two more links, which only this rank uses: one for all that it sends, and one for
all that it receives. A thread block that moves data itself is one more link, which only its transfers use; data that a
helper sends over a PORT channel has no block. What a block receives or copies without a send is a transfer of the block
alone, if the costs say how fast it is. If several ranks send to a rank, data takes more of the bandwidth of the last
link.

Data that a switch copies to several ranks, or adds up from several, is one transfer, which crosses each link once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from forestcoll.programs.model import Instruction, Message
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.program.paths import Multipath, Paths
from forestcoll.simulation.rates import Rates, Wires


class Work(Enum):
    """What a block does with data: it sends it, takes it out of a channel, or moves it in the memory of its rank."""

    SEND = "send"
    RECEIVE = "receive"
    COPY = "copy"

    def gbps(self, costs: Costs) -> float | None:
        """Return the most that a block moves in this way, in GB/s; None for no limit."""
        return {Work.SEND: costs.block_gbps, Work.RECEIVE: costs.receive_gbps, Work.COPY: costs.copy_gbps}[self]


def work_on_rank(instruction: Instruction) -> Work:
    """Return what an instruction does that moves no data to or from another rank."""
    return Work.RECEIVE if any(isinstance(place, Message) for place in instruction.sources) else Work.COPY


class RouteShare(NamedTuple):
    """Transfers that are limited alike.

    Attributes:
        sources: the rank that the data comes from; several if a switch adds up their data.
        targets: the rank that it goes to; several if a switch copies it to them. The same rank as in `sources` if the
            data is received or copied there.
        block: the rank and the number of the thread block that moves it; None if blocks have no limit, or if a helper
            moves it.
        is_read: whether the block is on the target, and reads the memory of the source, or a switch for it.
        work: what the block does.
    """

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    block: tuple[int, int] | None = None
    is_read: bool = False
    work: Work = Work.SEND

    @property
    def stays(self) -> bool:
        """Whether the data stays on its rank."""
        return self.sources == self.targets

    def path(self, paths: Paths) -> Multipath:
        """Return the links that the data crosses. Raises `InputError` if there are none to a rank."""
        if self.stays:
            return Multipath((), (), 0.0)
        if len(self.sources) == len(self.targets) == 1:
            return paths.between(self.sources[0], self.targets[0])
        weights: dict[int, float] = {}
        latency = 0.0
        for path in (paths.between(source, target) for source in self.sources for target in self.targets):
            latency = max(latency, path.latency_us)
            for link, weight in zip(path.links, path.weights, strict=True):
                weights[link] = max(weight, weights.get(link, 0.0))
        return Multipath(tuple(weights), tuple(weights.values()), latency)


@dataclass(frozen=True)
class RateLimits:
    """What limits the rates of transfers.

    Attributes:
        multipaths: for each flow, the links and the part of their bandwidth that a byte takes; links after those of the
            network are channels of ranks, then blocks.
        bandwidths: for each link, the bytes per second.
    """

    multipaths: tuple[Multipath, ...]
    bandwidths: FloatArray


def limits_of(paths: Paths, flows: Sequence[RouteShare], costs: Costs) -> RateLimits:
    """Return the limits for these transfers over these paths.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
    """
    rates, ranks = Rates.of(Wires.of(paths.topology), costs), len(paths.members)
    pairs = {(flow.sources, flow.targets) for flow in flows if not flow.stays}
    senders = Counter(target for _, targets in pairs for target in targets)
    slower = {rank: float(rates.slower(np.array(float(count)))) for rank, count in senders.items()}
    bandwidths = [1 / rates.links]
    if rates.rank:
        bandwidths.append(np.full(2 * ranks, 1 / rates.rank))
    blocks: dict[tuple[int, int], int] = {}
    block_gbps = costs.block_gbps or 1.0  # other work of a block takes more or less of its link
    first = sum(len(each) for each in bandwidths)
    found = []
    for flow in flows:
        path = _slowed(paths, flow, slower)
        links, weights = list(path.links), list(path.weights)
        if rates.rank and not flow.stays:
            ends = [*flow.sources, *(ranks + target for target in flow.targets)]
            links += [len(bandwidths[0]) + each for each in ends]
            weights += [1.0] * len(ends)
        if flow.block is not None:
            links.append(first + blocks.setdefault(flow.block, len(blocks)))
            weights.append(block_gbps / (flow.work.gbps(costs) or block_gbps))
        found.append(Multipath(tuple(links), tuple(weights), path.latency_us))
    if blocks:
        bandwidths.append(np.full(len(blocks), block_gbps * 1e9))
    return RateLimits(tuple(found), np.concatenate(bandwidths))


def _slowed(paths: Paths, flow: RouteShare, slower: Mapping[int, float]) -> Multipath:
    """Return the links of a transfer; data takes `slower` times as much of the last link to each target."""
    path = flow.path(paths)
    factors = {paths.members[target]: slower.get(target, 1.0) for target in flow.targets}
    weights = tuple(
        weight * factors.get(paths.topology.links[link].target, 1.0)
        for link, weight in zip(path.links, path.weights, strict=True)
    )
    return Multipath(path.links, weights, path.latency_us)
