"""The channels and blocks that flows use: candidates, in order of preference.

There are two methods to distribute flows over blocks:

- *Apart*: every hop is a separate message; one block receives it, another sends it on. Hops at different depths use
  different channels, so that a block that sends the data of its own rank never waits for data that is still to come.
  Blocks do the work at less depth first (at greater depth first where data is reduced). This cannot deadlock: blocks
  that receive wait only for messages (or for other children of the same tree), so channels are always emptied, and a
  block that sends waits only for messages at less depth.
- *Through*: ranks receive and send on in one instruction where they can, as `chains` describes. This takes half the
  blocks and steps, but a block that waits for a message sends nothing else at that time.

Apart is preferred, over as many channels as trees are high, or fewer, with a comfortable number of blocks. If there is
one root, each of its trees has a channel instead, if there are enough channels. So each hop has blocks of its own:
blocks that share a link get equal parts of its bandwidth, and blocks with fewer trees would be done before the others,
which then could not use the links behind. Next comes through. Then both are tried with as many blocks as the target
allows, and over more channels, so that blocks have fewer steps. If a rank has more peers than blocks may use one
channel number, apart is also tried with the peers distributed over channels, by the distance between the numbers of the
two ranks: then no pair of ranks needs two channels for that.

If all these have too many steps in a block, the parts of each tree are divided into consecutive ranges, and through is
tried with blocks for each range. A block *continues* the work of the block of the range before: its first instruction
that sends waits for the last one of that block. So data still moves in its order, and no two ranges share a link.

With lanes (`Options.lanes`), which are only used on request, every hop is a separate message, and the order is that of
a timetable (`timetable.py`). The hops between two ranks are distributed in this order over so many blocks. So blocks
that share a link have the same amount of data at any time, and equal parts of the link's bandwidth are right for them.
If a NIC is shared by blocks that send to several ranks, each of these ranks gets lanes in proportion to its data.
If a block has too many steps, other blocks continue its work.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.lowering.blocks import BlockTable, block_table
from forestcoll.programs.lowering.chains import Chains, Edges, IntArray, chains_of, hops_in_lanes, hops_of
from forestcoll.programs.lowering.fitting import Excess
from forestcoll.programs.lowering.layout import DataLayout
from forestcoll.programs.lowering.options import COMFORTABLE_BLOCKS, Options
from forestcoll.programs.lowering.pair_links import PairLinks
from forestcoll.programs.lowering.rank_trees import RankTree
from forestcoll.programs.lowering.timetable import timetables
from forestcoll.programs.model import Task
from forestcoll.programs.model.limits import Limits

MOST_CHANNELS = 32
"""The most channels over which the trees of a phase are distributed, unless more are requested."""


MOST_WORK = 6_000_000
"""After plans with so many hops together, about 30 seconds, no further plan is tried."""


STEPS_FOR_WAITS = 16
"""If blocks continue the work of others, one step of so many is kept free for steps that only wait."""

_ON_ONE_CHANNEL = "blocks on one channel number"


@dataclass(frozen=True, slots=True)
class ChannelPlan:
    """How flows use channels and blocks.

    Attributes:
        chains: the chains in their order.
        table: the blocks that they use.
        most: the most chunks that one instruction moves.
        stride: the block that sends on a channel continues the work of the block that sends to the same rank on the
            channel whose number is less by `stride`, if there is one; 0 if no block continues the work of another.
    """

    chains: Chains
    table: BlockTable
    most: int | None
    stride: int = 0


@dataclass(frozen=True, slots=True)
class _Spread:
    """One method to distribute flows.

    Attributes:
        levels: the number of channels over which hops are distributed by their depth; 0 means through.
        turns: the number of channels over which the trees of a root are distributed.
        together: whether blocks that need not be separate are combined.
        peers: the number of channels over which the peers of a rank are distributed; 1 if `levels` is 0.
        lanes: the number of lanes; 0 without lanes.
        ranges: the number of ranges of the parts of each tree, with blocks of their own; 1 if `levels` is not 0.
    """

    levels: int
    turns: int
    together: bool = False
    peers: int = 1
    lanes: int = 0
    ranges: int = 1

    def stride(self, groups: int) -> int:
        """Return `ChannelPlan.stride` if each of `groups` parts of the program has its own channels."""
        return self.turns * groups if self.ranges > 1 else 0


def plans(
    layout: DataLayout, flows: Sequence[RankTree], limits: Limits, links: PairLinks | None = None
) -> Iterator[ChannelPlan | Excess]:
    """Yield the plans that may fit, and for each other candidate the limit that it exceeds; lanes need `links`."""
    options = layout.options
    planner = _Planner(layout, flows, limits, links)
    edges, least = planner.edges, planner.least_blocks
    bounds = block_bounds(options, limits)[-1 if options.lanes else 0 :]  # lanes have one plan for any bound
    if (excess := _excess_of_all(edges, least, bounds[-1], limits, options)) is not None:
        yield excess
        return
    tried, work = set(), 0
    for bound in bounds:
        if bound is not None and least.max(initial=0) > bound:
            continue
        for spread in _spreads(flows, edges, options, limits, crowded=bound == limits.blocks):
            if spread in tried:
                continue
            if work > MOST_WORK:
                return
            work += len(edges.flow)
            for found in planner.plans(spread, bound):
                if isinstance(found, ChannelPlan):
                    tried.add(spread)
                if isinstance(found, ChannelPlan) or bound == bounds[-1]:
                    yield found


@dataclass(frozen=True)
class _Planner:
    """Makes the plans of flows; lanes need `links`."""

    layout: DataLayout
    flows: Sequence[RankTree]
    limits: Limits
    links: PairLinks | None

    @cached_property
    def edges(self) -> Edges:
        """All edges of the flows."""
        return Edges.of(self.flows)

    @cached_property
    def least_blocks(self) -> IntArray:
        """The least number of blocks of each rank.

        A block sends to one peer and receives from one. Instances, strands and, without lanes, phases have blocks of
        their own.
        """
        options = self.layout.options
        if options.lanes is not None:
            return self.edges.peers
        phase = np.array([flow.phase for flow in self.flows])[self.edges.flow]
        of_phases = np.array([self.edges.taken(phase == each).peers for each in range(int(phase.max()) + 1)])
        return np.asarray(of_phases.sum(axis=0) * options.parallel)

    def plans(self, spread: _Spread, bound: int | None) -> Iterator[ChannelPlan | Excess]:
        """Yield the plans of `spread` with at most `bound` blocks, or the limit that one exceeds."""
        if not spread.levels and (excess := self._excess_through(self._channels(spread), bound)) is not None:
            yield excess
            return
        copiers = sorted({flow.root for flow in self.flows}) if copies(self.layout) else []
        for chains, stride in self._candidates(spread):
            table = block_table(chains, len(self.layout.parts), copiers, together=spread.together)
            excess = _excess(chains, table, bound, self.limits)
            yield excess or ChannelPlan(chains, table, self.limits.count, stride)

    def _excess_through(self, channels: Sequence[int], bound: int | None) -> Excess | None:
        """Return a limit that chains through ranks on the channels of the flows exceed, known without the chains.

        Chains take long to make. On each channel number, a rank has a block for each peer that it sends to, and one for
        each that it receives from, which may be the same; and a block has a step for each hop to its peer.
        """
        edges, limits, ranks = self.edges, self.limits, len(self.layout.parts)
        width = 1 + max(channels)
        channel = np.array(channels, dtype=np.int64)[edges.flow]
        blocks = np.zeros(ranks * width, dtype=np.int64)
        for one, other in ((edges.upper, edges.lower), (edges.lower, edges.upper)):
            pairs, hops = np.unique((one * width + channel) * ranks + other, return_counts=True)
            if limits.steps is not None and hops.max(initial=0) > limits.steps:
                rank = int(pairs[np.argmax(hops)]) // ranks // width
                return Excess("steps", int(hops.max()), limits.steps, f"rank {rank}")
            blocks = np.maximum(blocks, np.bincount(pairs // ranks, minlength=ranks * width))
        if limits.blocks_per_channel is not None and blocks.max(initial=0) > limits.blocks_per_channel:
            return Excess(_ON_ONE_CHANNEL, int(blocks.max()), limits.blocks_per_channel)
        of_ranks = blocks.reshape(ranks, width).sum(axis=1)
        if bound is not None and of_ranks.max(initial=0) > bound:
            return Excess("thread blocks", int(of_ranks.max()), bound, f"rank {int(np.argmax(of_ranks))}")
        return None

    def _candidates(self, spread: _Spread) -> Iterator[tuple[Chains, int]]:
        """Yield chains of `spread` with their strides; in lanes, those of each timetable, the shortest first."""
        flows, edges, options = self.flows, self.edges, self.layout.options
        if not spread.lanes or self.links is None:
            yield self._chains(spread), spread.stride(_groups(flows, options))
            return
        for (_, ends, lanes), _ in timetables(flows, edges, self.links, spread.lanes, options.lane_overhead):
            yield hops_in_lanes(flows, edges, ends, lanes, _most_steps(self.limits)), int(lanes.max()) + 1

    def _chains(self, spread: _Spread) -> Chains:
        flows, edges, channels = self.flows, self.edges, self._channels(spread)
        if not spread.levels:
            return chains_of(flows, channels)
        shifts = edges.depth % spread.levels * spread.turns
        outward = np.array([1 if flow.op is PhaseOp.BROADCAST else -1 for flow in flows])[edges.flow]
        ranks = len(self.layout.parts)
        distance = (edges.lower - edges.upper) * outward % ranks
        shifts += distance * spread.peers // ranks * spread.levels * spread.turns
        return hops_of(flows, edges, np.array(channels, dtype=np.int64)[edges.flow] + shifts)

    def _channels(self, spread: _Spread) -> Sequence[int]:
        """Return the number of the first channel of each flow; its hops at other depths or to other peers follow."""
        flows, options = self.flows, self.layout.options
        width = max(1, spread.levels) * spread.turns * spread.peers
        turns = 1 + max(flow.turn for flow in flows)
        stride = spread.stride(_groups(flows, options))

        def channel(flow: RankTree) -> int:
            number, parts = flow.part
            first = (flow.phase * options.parallel + flow.instance) * width + number * spread.ranges // parts * stride
            return first + (flow.turn + (flow.root if spread.turns > turns else 0)) % spread.turns

        return [channel(flow) for flow in flows]


def _groups(flows: Sequence[RankTree], options: Options) -> int:
    """Return the number of parts of the program that have their own channels: instances, strands and phases."""
    return options.parallel * (1 + max(flow.phase for flow in flows))


def _most_steps(limits: Limits) -> int | None:
    """Return the most steps of a block if blocks continue the work of others, without steps that only wait."""
    return None if limits.steps is None else max(1, limits.steps - limits.steps // STEPS_FOR_WAITS)


def copies(layout: DataLayout) -> bool:
    """Return whether roots have to copy their own data to their output."""
    return layout.task in {Task.ALLGATHER, Task.BROADCAST, Task.ALL_TO_ALL} and layout.options.out_of_place


def block_bounds(options: Options, limits: Limits) -> Sequence[int | None]:
    """Return bounds on the blocks of a rank: first a comfortable number, then what the target allows."""
    if options.blocks is not None:
        return [options.blocks if limits.blocks is None else min(options.blocks, limits.blocks)]
    return [min(COMFORTABLE_BLOCKS, limits.blocks or COMFORTABLE_BLOCKS), limits.blocks]


def _spreads(
    flows: Sequence[RankTree], edges: Edges, options: Options, limits: Limits, *, crowded: bool
) -> Iterator[_Spread]:
    """Yield methods to distribute flows, the preferred one first; `crowded`: also those with fewer steps a block."""
    if options.lanes is not None:
        yield _Spread(1, 1, lanes=options.lanes)
        return
    groups = _groups(flows, options)
    most = max(1, (MOST_CHANNELS if limits.channels is None else min(MOST_CHANNELS, limits.channels)) // groups)
    height = min(most, edges.height)
    turns = min(most, 1 + max(flow.turn for flow in flows))
    one_root = len({flow.root for flow in flows}) == 1
    if options.levels is not None:
        yield from _with_levels(options.levels, turns if one_root else 1, flows, most, limits)
        return
    if crowded and options.channels is None:
        yield from _crowded_peers(edges, most, limits)
    if one_root and options.channels is None and turns > max(flow.turn for flow in flows):
        yield _Spread(1, turns)
    if options.channels is not None:
        height, turns = min(options.channels, height), options.channels
        yield _Spread(height, max(1, options.channels // height))
    else:
        yield from (_Spread(levels, 1) for levels in range(height, 0, -1))
    widths = [turns] if options.channels is not None else range(turns, 0, -1)
    yield from (_Spread(0, width, together) for together in (False, True) for width in widths)
    if crowded and options.channels is None:
        yield from (_Spread(1, width) for width in range(2, most + 1))
        yield from (_Spread(0, width, together=True) for width in range(turns + 1, most + 1))
        yield from _in_ranges(flows, turns, most, limits)


def _with_levels(levels: int, turns: int, flows: Sequence[RankTree], most: int, limits: Limits) -> Iterator[_Spread]:
    """Yield methods with a given number of levels, 0 for through, over at most `most` channels."""
    if levels:
        levels = min(levels, most)
        yield _Spread(levels, min(turns, most // levels))
        return
    yield from (_Spread(0, width, together) for together in (False, True) for width in range(turns, 0, -1))
    yield from _in_ranges(flows, turns, most, limits)


def _in_ranges(flows: Sequence[RankTree], turns: int, most: int, limits: Limits) -> Iterator[_Spread]:
    """Yield methods in which the parts of each tree are divided into ranges, so that no block has too many steps."""
    if (steps := _most_steps(limits)) is not None:
        ranges = -(-max(flow.part[1] for flow in flows) // steps)
        yield from (_Spread(0, turns, ranges=each) for each in (ranges, ranges + 1) if 1 < each <= most // turns)


def _crowded_peers(edges: Edges, most: int, limits: Limits) -> Iterator[_Spread]:
    """Yield methods for ranks with more peers than blocks may use one channel number."""
    most_peers = int(edges.peers.max(initial=0))
    if limits.blocks_per_channel is None or most_peers <= limits.blocks_per_channel:
        return
    for levels in range(min(most, edges.height), 0, -1):
        least = -(-most_peers // limits.blocks_per_channel)
        for peers in range(least, min(2 * least, most // levels) + 1):
            if limits.blocks is None or 2 * most_peers <= limits.blocks:
                yield _Spread(levels, 1, together=False, peers=peers)
            yield _Spread(levels, 1, together=True, peers=peers)


def _excess(chains: Chains, table: BlockTable, bound: int | None, limits: Limits) -> Excess | None:
    most = max(range(len(table.counts)), key=table.counts.__getitem__)
    if bound is not None and table.counts[most] > bound:
        return Excess("thread blocks", table.counts[most], bound, f"rank {most}")
    if limits.blocks_per_channel is not None and table.sharing > limits.blocks_per_channel:
        return Excess(_ON_ONE_CHANNEL, table.sharing, limits.blocks_per_channel)
    if limits.steps is None and limits.steps_of_rank is None:
        return None
    steps = table.steps(chains)
    owners = np.repeat(np.arange(len(table.counts)), table.counts)
    longest = len(steps) - 1 - int(np.argmax(steps[::-1]))
    if limits.steps is not None and steps[longest] > limits.steps:
        rank = int(owners[longest])
        where = f"rank {rank}, block {longest - sum(table.counts[:rank])}"
        return Excess("steps", int(steps[longest]), limits.steps, where)
    return _excess_of_rank(np.bincount(owners, steps + 1).astype(np.int64), limits.steps_of_rank)


def _excess_of_all(edges: Edges, least: IntArray, bound: int | None, limits: Limits, options: Options) -> Excess | None:
    """Return a limit that every plan exceeds: each rank has the `least` blocks or more, and moves all its data."""
    if bound is not None and least.max(initial=0) > bound:
        return _too_many_peers(edges, least, bound, options)
    moved = max(np.bincount(ends).max(initial=0) for ends in (edges.upper, edges.lower))
    return _excess_of_rank(np.array([moved + edges.peers.max(initial=0)]), limits.steps_of_rank)


def _too_many_peers(edges: Edges, least: IntArray, bound: int, options: Options) -> Excess:
    rank = int(np.argmax(least))
    each = -(-int(least[rank]) // int(edges.peers[rank]))
    alone = int(least[rank]) // options.parallel
    what = f"thread blocks, {'one' if each == 1 else each} for each rank that it exchanges data with,"
    fits = "fewer boxes"
    if options.parallel > 1 and options.lanes is None and alone <= bound:
        fits = f"at most {bound // alone} {'strands' if options.strands > 1 else 'instances'}"
    elif bound >= each:
        most = f"at most {bound // each} peers (generate --max-peers limits those in other boxes)"
        fits += f", or a schedule in which a rank has {most}"
    return Excess(what, int(least[rank]), bound, f"rank {rank}", fits)


def _excess_of_rank(totals: IntArray, most: int | None) -> Excess | None:
    rank = int(np.argmax(totals))
    if most is None or totals[rank] <= most:
        return None
    return Excess("steps and blocks", int(totals[rank]), most, f"rank {rank}")
