"""Chains: paths through trees along which data passes from rank to rank without a stop.

Over FIFO channels, one instruction of a block can receive a chunk, keep it or add its own to it, and send it on. The
block has one peer to receive from and one to send to. So on each channel a rank *joins* pairs of neighbours, one that
sends to it and one that it sends to; a neighbour is in at most one pair. A tree is split into chains: a chain continues
through a rank if the two neighbours are joined there, and begins or ends there otherwise.

**Order.** There is one order over all chains, and every block does its work in that order. It is that of the times at
which chains would begin if the parts of each tree followed each other evenly, all trees in the same time, and each edge
took `DELAY` of that time, divided by the height of the trees. So a block neither does one tree after the
other, nor waits for the end of a tree before it begins the next part.

If a chain starts from the data of another chain (or, when reducing, adds to data that another chain takes up), the
other chain comes first: it has the same part of the data, and is less far. So no program deadlocks, however few slots
its channels have. Proof: take the first chain that is not done. All chains that it
depends on come before it and are done. Each block on its path has done everything that comes before, so its next
instruction belongs to this chain, and the chunks can move along the chain from the first rank to the last.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain as joined
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.lowering.rank_trees import RankTree

DELAY = 0.25
"""The time that data takes from the root to the lowest rank in the order of chains; all data takes 1."""

IntArray: TypeAlias = npt.NDArray[np.int64]

FloatArray: TypeAlias = npt.NDArray[np.float64]

Joints: TypeAlias = Mapping[tuple[int, int], Mapping[int, int]]
"""For a rank, a channel number and a neighbour that sends: the neighbour that it is joined with."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One path of a flow.

    Attributes:
        flow: the flow that moves along it.
        channel: the number of the channel that all its hops use.
        path: the ranks in the order in which data moves, two or more.
        depth: the number of edges between the root and the end of the chain that is nearer to it.
    """

    flow: RankTree
    channel: int
    path: tuple[int, ...]
    depth: int

    def key(self, height: int) -> tuple[float, ...]:
        """Return the position of the chain in the order of trees of at most this height: see the module."""
        flow = self.flow
        level = flow.phase * height + (self.depth if flow.op is PhaseOp.BROADCAST else height - 1 - self.depth)
        return flow.position + level * (DELAY / height), level, flow.turn, flow.root, flow.offset


@dataclass(frozen=True)
class Chains:
    """Chains in their order, as columns.

    Attributes:
        flows: the flows that move along them.
        flow: for each chain, the number of its flow.
        channel: for each chain, the number of the channel that all its hops use.
        starts: for each chain, its first entry in `ranks`, and one past the last entry.
        ranks: the ranks of all paths, in the order in which data moves.
    """

    flows: Sequence[RankTree]
    flow: IntArray
    channel: IntArray
    starts: IntArray
    ranks: IntArray

    @staticmethod
    def of(chains: Sequence[Chain]) -> "Chains":
        """Return the columns of `chains`, which are in their order."""
        numbers = {id(chain.flow): number for number, chain in enumerate(chains)}
        lengths = np.array([len(chain.path) for chain in chains], dtype=np.int64)
        return Chains(
            flows=tuple(chain.flow for chain in chains),
            flow=np.array([numbers[id(chain.flow)] for chain in chains], dtype=np.int64),
            channel=np.array([chain.channel for chain in chains], dtype=np.int64),
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            ranks=np.fromiter(joined.from_iterable(chain.path for chain in chains), np.int64, int(lengths.sum())),
        )

    @cached_property
    def of_entry(self) -> IntArray:
        """Return, for each entry of `ranks`, the number of its chain."""
        return np.repeat(np.arange(len(self.flow)), np.diff(self.starts))

    @cached_property
    def hops(self) -> IntArray:
        """Return the entries of `ranks` that send: all but the last of each path. The next entry receives."""
        sends = np.ones(len(self.ranks), dtype=np.bool_)
        sends[self.starts[1:] - 1] = False
        return np.flatnonzero(sends)


@dataclass(frozen=True)
class Edges:
    """All edges of flows, as columns: the flow, the end nearer the root, the other end, and the depth of the first."""

    flow: IntArray
    upper: IntArray
    lower: IntArray
    depth: IntArray

    @staticmethod
    def of(flows: Sequence[RankTree]) -> "Edges":
        """Return the edges of `flows`; the parts of one tree have the same edges, which are listed once."""
        known: dict[int, IntArray] = {}
        for flow in flows:
            if id(flow.children) not in known:
                known[id(flow.children)] = np.array(list(flow.edges()), dtype=np.int64).reshape(-1, 3)
        rows = [known[id(flow.children)] for flow in flows]
        upper, lower, depth = np.concatenate(rows).T
        return Edges(np.repeat(np.arange(len(flows)), [len(each) for each in rows]), upper, lower, depth)

    def taken(self, chosen: npt.NDArray[np.bool_]) -> "Edges":
        """Return the chosen edges."""
        return Edges(self.flow[chosen], self.upper[chosen], self.lower[chosen], self.depth[chosen])

    @property
    def height(self) -> int:
        """Return the number of edges from a root to the rank that is furthest from it."""
        return int(self.depth.max(initial=-1)) + 1

    @cached_property
    def peers(self) -> IntArray:
        """For each rank, the most ranks that are the other ends of its edges in one direction."""
        ranks = 1 + max(int(self.upper.max(initial=0)), int(self.lower.max(initial=0)))
        pairs = np.flatnonzero(np.bincount(self.upper * ranks + self.lower))
        return np.maximum(*(np.bincount(ends, minlength=ranks) for ends in np.divmod(pairs, ranks)))


def chains_of(flows: Sequence[RankTree], channels: Sequence[int]) -> Chains:
    """Return all chains of `flows` in order; `channels` are the numbers of the channels of the flows."""
    joints = _joints(flows, channels)
    chains = [
        Chain(flow, channel, path, depth)
        for flow, channel in zip(flows, channels, strict=True)
        for path, depth in _paths(flow, channel, joints)
    ]
    height = max(chain.depth + len(chain.path) - 1 for chain in chains)
    return Chains.of(sorted(chains, key=lambda chain: (*chain.key(height), chain.path)))


def hops_of(flows: Sequence[RankTree], edges: Edges, channels: IntArray) -> Chains:
    """Return every edge of `flows` as a chain, in order; `channels` are the numbers of the channels of the edges."""
    outward = np.array([flow.op is PhaseOp.BROADCAST for flow in flows])[edges.flow]
    source, target = _ends_of(flows, edges)
    keys = np.array([(flow.phase, flow.turn, flow.root, flow.offset) for flow in flows], dtype=np.int64)
    phase, turn, root, offset = keys[edges.flow].T
    height = edges.height
    level = phase * height + np.where(outward, edges.depth, height - 1 - edges.depth)
    times = np.array([flow.position for flow in flows])[edges.flow] + level * (DELAY / height)
    order = np.lexsort((target, source, offset, root, turn, level, times))  # the order of `Chain.key`
    return _hops(flows, edges.flow[order], channels[order], source[order], target[order])


def hops_in_lanes(
    flows: Sequence[RankTree], edges: Edges, times: FloatArray, lanes: IntArray, most: int | None
) -> Chains:
    """Return every edge of `flows` as a chain, in the order of `times`; `lanes` are the lanes of the edges.

    Each lane from one rank to another has a channel. If it had more than `most` hops, they are divided into as many
    consecutive ranges as needed, each with a channel of its own, whose number is greater by the number of lanes. The
    copies with which a lane begins count as hops (`two_sided.py`).
    """
    order = np.argsort(times, kind="stable")
    source, target = (ends[order] for ends in _ends_of(flows, edges))
    lane, count = lanes[order], int(lanes.max(initial=0)) + 1
    codes = (source * (int(target.max(initial=0)) + 1) + target) * count + lane
    by_lane = np.argsort(codes, kind="stable")
    _, counts = np.unique(codes, return_counts=True)
    number, total = np.empty_like(codes), np.empty_like(codes)
    number[by_lane] = lane[by_lane] + np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    total[by_lane] = lane[by_lane] + np.repeat(counts, counts)
    ranges = -(-total // (most or int(total.max(initial=1))))
    return _hops(flows, edges.flow[order], number * ranges // total * count + lane, source, target)


def _ends_of(flows: Sequence[RankTree], edges: Edges) -> tuple[IntArray, IntArray]:
    """Return the rank that sends and the rank that receives, for each edge."""
    outward = np.array([flow.op is PhaseOp.BROADCAST for flow in flows])[edges.flow]
    return np.where(outward, edges.upper, edges.lower), np.where(outward, edges.lower, edges.upper)


def _hops(flows: Sequence[RankTree], flow: IntArray, channel: IntArray, source: IntArray, target: IntArray) -> Chains:
    """Return chains of one hop each."""
    ranks = np.stack((source, target), axis=1).reshape(-1)
    return Chains(flows=flows, flow=flow, channel=channel, starts=np.arange(len(flow) + 1) * 2, ranks=ranks)


def _joints(flows: Sequence[RankTree], channels: Sequence[int]) -> Joints:
    """Join pairs of neighbours at each rank and channel, starting with the pair that most flows pass through.

    Of pairs with as many flows, the one with the highest subtrees comes first: data waits for a whole step where a
    chain ends, and for a slice of a message where it goes on.
    """
    passing: dict[tuple[int, int], dict[tuple[int, int], tuple[int, int]]] = {}
    heights: dict[int, Mapping[int, int]] = {}
    for flow, channel in zip(flows, channels, strict=True):
        if id(flow.children) not in heights:
            heights[id(flow.children)] = _heights(flow)
        height = heights[id(flow.children)]
        for upper, middle, lower in _corners(flow):
            pair = (upper, lower) if flow.op is PhaseOp.BROADCAST else (lower, upper)
            pairs = passing.setdefault((middle, channel), {})
            count, total = pairs.get(pair, (0, 0))
            pairs[pair] = count + 1, total + height[lower]
    return {place: _matched(pairs) for place, pairs in passing.items()}


def _heights(flow: RankTree) -> Mapping[int, int]:
    """Return, for each rank of a flow, the number of edges to the rank below it that is furthest from it."""
    ranks = [flow.root]
    for rank in ranks:
        ranks += flow.children.get(rank, ())
    heights: dict[int, int] = {}
    for rank in reversed(ranks):
        heights[rank] = max((heights[child] + 1 for child in flow.children.get(rank, ())), default=0)
    return heights


def _corners(flow: RankTree) -> Iterator[tuple[int, int, int]]:
    for upper, middles in flow.children.items():
        for middle in middles:
            for lower in flow.children.get(middle, ()):
                yield upper, middle, lower


def _matched(passing: Mapping[tuple[int, int], tuple[int, int]]) -> Mapping[int, int]:
    joined: dict[int, int] = {}
    taken: set[int] = set()
    for (sender, receiver), _ in sorted(passing.items(), key=lambda each: (-each[1][0], -each[1][1], each[0])):
        if sender not in joined and receiver not in taken:
            joined[sender] = receiver
            taken.add(receiver)
    return joined


def _paths(flow: RankTree, channel: int, joints: Joints) -> Iterable[tuple[tuple[int, ...], int]]:
    """Yield the chains of a flow as paths in the order in which data moves, with the depth of the end near the root."""
    waiting = [((flow.root, child), 0) for child in flow.children.get(flow.root, ())]
    while waiting:
        (head, second), depth = waiting.pop()
        path = [head, second]
        while children := flow.children.get(path[-1], ()):
            below = depth + len(path) - 1
            onward = _joined(flow, channel, joints, path[-2], path[-1])
            waiting += [((path[-1], child), below) for child in children if child != onward]
            if onward is None:
                break
            path.append(onward)
        yield tuple(path if flow.op is PhaseOp.BROADCAST else reversed(path)), depth


def _joined(flow: RankTree, channel: int, joints: Joints, upper: int, middle: int) -> int | None:
    """Return the child of `middle` that is joined with `upper` there, if there is one."""
    joined = joints.get((middle, channel), {})
    if flow.op is PhaseOp.BROADCAST:
        onward = joined.get(upper)
        return onward if onward in flow.children[middle] else None
    return next((child for child in flow.children[middle] if joined.get(child) == upper), None)
