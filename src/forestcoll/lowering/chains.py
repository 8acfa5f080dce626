"""Chains: paths through trees along which data passes from rank to rank without a stop.

Over FIFO channels a block can receive a chunk, keep it or add its own to it, and send it on in one instruction. It has
one peer to receive from and one to send to, so on each channel a rank *joins* a neighbour that sends to it with one
that it sends to, at most one each. A tree falls apart into chains: a chain runs on through a rank where the two
neighbours are joined there, and ends or begins there otherwise.

**Order.** Every chain has a place in one order over all chains, and every block does what it has to do in that order.
Where a chain starts from what another one brings (or, reducing, adds to what another one takes up), that other one
comes first. So no program deadlocks, however few slots its channels have: of the chains that are not done, take the
first. All that it depends on comes before it and is done; each block on its way has done all that comes before, so its
next instruction is this chain's, and the chunks can move along it from the first rank to the last.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from forestcoll.collective import PhaseOp
from forestcoll.lowering.flows import Flow

Joints: TypeAlias = Mapping[tuple[int, int], Mapping[int, int]]
"""Of a rank and a channel number: of a neighbour that sends, the neighbour that it is joined with."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One path of a flow.

    Attributes:
        flow: what goes along it.
        channel: the number of the channel that all its hops use.
        path: the ranks in the order in which data flows, two or more.
        depth: how far the end that is nearer the root is from the root, in edges.
    """

    flow: Flow
    channel: int
    path: tuple[int, ...]
    depth: int

    @property
    def key(self) -> tuple[int, ...]:
        """The chain's place in the order: see the module's docstring."""
        flow = self.flow
        level = self.depth if flow.op is PhaseOp.BROADCAST else -self.depth
        return flow.piece, flow.phase, level, flow.turn, flow.root, flow.offset


def chains_of(flows: Sequence[Flow], channels: Sequence[int]) -> tuple[Chain, ...]:
    """Return all chains of `flows`, which use the channels of these numbers, in their order."""
    joints = _joints(flows, channels)
    chains = [
        Chain(flow, channel, path, depth)
        for flow, channel in zip(flows, channels, strict=True)
        for path, depth in _paths(flow, channel, joints)
    ]
    return tuple(sorted(chains, key=lambda chain: (*chain.key, chain.path)))


def hops_of(flows: Sequence[Flow], channel: Callable[[Flow, int], int]) -> tuple[Chain, ...]:
    """Return every edge of `flows` as a chain, by the `channel` of the flow and the edge's depth, in their order."""
    hops = []
    for flow in flows:
        for upper, lower, depth in flow.edges():
            path = (upper, lower) if flow.op is PhaseOp.BROADCAST else (lower, upper)
            hops.append(Chain(flow, channel(flow, depth), path, depth))
    return tuple(sorted(hops, key=lambda hop: (*hop.key, hop.path)))


def _joints(flows: Sequence[Flow], channels: Sequence[int]) -> Joints:
    """Join at each rank and channel the neighbours between which most flows pass, the busiest pair first."""
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
    """Yield the chains of a flow as paths in the order in which data flows, and the depth of the end near the root."""
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
    """Return the child of `middle` that is joined there with `upper`, if there is one."""
    joined = joints.get((middle, channel), {})
    if flow.op is PhaseOp.BROADCAST:
        onward = joined.get(upper)
        return onward if onward in flow.children[middle] else None
    return next((child for child in flow.children[middle] if joined.get(child) == upper), None)
