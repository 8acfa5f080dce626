"""Chains: paths through trees along which data passes from rank to rank without a stop.

Over FIFO channels, one instruction of a block can receive a chunk, keep it or add its own to it, and send it on. The
block has one peer to receive from and one to send to. So on each channel a rank *joins* pairs of neighbours, one that
sends to it and one that it sends to; a neighbour is in at most one pair. A tree is split into chains: a chain continues
through a rank if the two neighbours are joined there, and begins or ends there otherwise.

**Order.** There is one order over all chains, and every block does its work in that order. If a chain starts from the
data of another chain (or, when reducing, adds to data that another chain takes up), the other chain comes first. So no
program deadlocks, however few slots its channels have. Proof: take the first chain that is not done. All chains that it
depends on come before it and are done. Each block on its path has done everything that comes before, so its next
instruction belongs to this chain, and the chunks can move along the chain from the first rank to the last.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from forestcoll.collective import PhaseOp
from forestcoll.lowering.flows import Flow

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

    flow: Flow
    channel: int
    path: tuple[int, ...]
    depth: int

    @property
    def key(self) -> tuple[int, ...]:
        """Return the position of the chain in the order: see the docstring of the module."""
        flow = self.flow
        level = self.depth if flow.op is PhaseOp.BROADCAST else -self.depth
        return flow.piece, flow.phase, level, flow.turn, flow.root, flow.offset


def chains_of(flows: Sequence[Flow], channels: Sequence[int]) -> tuple[Chain, ...]:
    """Return all chains of `flows` in order; `channels` are the numbers of the channels of the flows."""
    joints = _joints(flows, channels)
    chains = [
        Chain(flow, channel, path, depth)
        for flow, channel in zip(flows, channels, strict=True)
        for path, depth in _paths(flow, channel, joints)
    ]
    return tuple(sorted(chains, key=lambda chain: (*chain.key, chain.path)))


def hops_of(flows: Sequence[Flow], channel: Callable[[Flow, int], int]) -> tuple[Chain, ...]:
    """Return every edge of `flows` as a chain, in order; `channel` takes the flow and the depth of the edge."""
    hops = []
    for flow in flows:
        for upper, lower, depth in flow.edges():
            path = (upper, lower) if flow.op is PhaseOp.BROADCAST else (lower, upper)
            hops.append(Chain(flow, channel(flow, depth), path, depth))
    return tuple(sorted(hops, key=lambda hop: (*hop.key, hop.path)))


def _joints(flows: Sequence[Flow], channels: Sequence[int]) -> Joints:
    """Join pairs of neighbours at each rank and channel, starting with the pair that most flows pass through."""
    passing: dict[tuple[int, int], dict[tuple[int, int], int]] = {}
    for flow, channel in zip(flows, channels, strict=True):
        for upper, middle, lower in _corners(flow):
            pair = (upper, lower) if flow.op is PhaseOp.BROADCAST else (lower, upper)
            counts = passing.setdefault((middle, channel), {})
            counts[pair] = counts.get(pair, 0) + 1
    return {place: _matched(counts) for place, counts in passing.items()}


def _corners(flow: Flow) -> Iterator[tuple[int, int, int]]:
    for upper, middles in flow.children.items():
        for middle in middles:
            for lower in flow.children.get(middle, ()):
                yield upper, middle, lower


def _matched(counts: Mapping[tuple[int, int], int]) -> Mapping[int, int]:
    joined: dict[int, int] = {}
    taken: set[int] = set()
    for sender, receiver in sorted(counts, key=lambda pair: (-counts[pair], pair)):
        if sender not in joined and receiver not in taken:
            joined[sender] = receiver
            taken.add(receiver)
    return joined


def _paths(flow: Flow, channel: int, joints: Joints) -> Iterable[tuple[tuple[int, ...], int]]:
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


def _joined(flow: Flow, channel: int, joints: Joints, upper: int, middle: int) -> int | None:
    """Return the child of `middle` that is joined with `upper` there, if there is one."""
    joined = joints.get((middle, channel), {})
    if flow.op is PhaseOp.BROADCAST:
        onward = joined.get(upper)
        return onward if onward in flow.children[middle] else None
    return next((child for child in flow.children[middle] if joined.get(child) == upper), None)
