"""Which channels flows use, and which blocks follow from it: candidates, the one to be preferred first.

More channels let trees go side by side and need more blocks; fewer blocks have more steps each. Preferred is what uses
as many channels as a root has trees, or fewer, with a comfortable number of blocks; next, with as many blocks as the
target takes; last, with more channels yet, so that blocks have fewer steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestcoll.lowering.blocks import BlockTable, End, block_table
from forestcoll.lowering.chains import Chain, chains_of
from forestcoll.lowering.fitting import Excess
from forestcoll.lowering.flows import Flow
from forestcoll.lowering.layout import Layout
from forestcoll.lowering.options import COMFORTABLE_BLOCKS, Options
from forestcoll.program import Task
from forestcoll.program.limits import Limits

MOST_CHANNELS = 32
"""Over how many channels the trees of a phase are spread at most, unless more are asked for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Chains in their order, and the blocks that they use."""

    chains: tuple[Chain, ...]
    table: BlockTable


def plans(layout: Layout, flows: Sequence[Flow], limits: Limits) -> Iterator[Plan | Excess]:
    """Yield plans that fit as far as one can see yet, and what does not fit of others."""
    options = layout.options
    copiers = sorted({flow.root for flow in flows}) if copies(layout) else []
    tried = set()
    known: dict[int, tuple[Chain, ...]] = {}
    for bound in _bounds(options, limits):
        for width in _widths(flows, options, limits):
            chains = known.setdefault(width, chains_of(flows, _channel_numbers(flows, width, options)))
            for together in (False, True):
                table = block_table(chains, len(layout.parts), copiers, together=together)
                excess = _excess(chains, table, bound, limits)
                if excess is None and (width, together) not in tried:
                    tried.add((width, together))
                    yield Plan(chains, table)
                elif excess is not None and bound == limits.blocks:
                    yield excess


def copies(layout: Layout) -> bool:
    """Whether roots have to copy their own data to their output."""
    return layout.task in {Task.ALLGATHER, Task.BROADCAST} and layout.options.out_of_place


def _bounds(options: Options, limits: Limits) -> Sequence[int | None]:
    """Return how many blocks a rank may have: what is comfortable first, then what the target takes."""
    if options.blocks is not None:
        return [options.blocks if limits.blocks is None else min(options.blocks, limits.blocks)]
    return [min(COMFORTABLE_BLOCKS, limits.blocks or COMFORTABLE_BLOCKS), limits.blocks]


def _widths(flows: Sequence[Flow], options: Options, limits: Limits) -> Sequence[int]:
    if options.channels is not None:
        return [options.channels]
    groups = options.instances * (1 + max(flow.phase for flow in flows))
    most = max(1, (MOST_CHANNELS if limits.channels is None else min(MOST_CHANNELS, limits.channels)) // groups)
    turns = min(most, 1 + max(flow.turn for flow in flows))
    return [*range(turns, 0, -1), *range(turns + 1, most + 1)]


def _channel_numbers(flows: Sequence[Flow], width: int, options: Options) -> list[int]:
    """Return the channel number of each flow: apart by phase and instance, and by its place among those of its root."""
    turns = 1 + max(flow.turn for flow in flows)
    return [
        (flow.phase * options.instances + flow.instance) * width
        + (flow.turn + (flow.root if width > turns else 0)) % width
        for flow in flows
    ]


def _excess(chains: Sequence[Chain], table: BlockTable, bound: int | None, limits: Limits) -> Excess | None:
    most = max(range(len(table.counts)), key=table.counts.__getitem__)
    if bound is not None and table.counts[most] > bound:
        return Excess("thread blocks", table.counts[most], bound, f"rank {most}")
    if limits.steps is None:
        return None
    steps = _steps(chains, table)
    rank, block = max(steps, key=lambda place: (steps[place], place))
    if steps[rank, block] > limits.steps:
        return Excess("steps", steps[rank, block], limits.steps, f"rank {rank}, block {block}")
    return None


def _steps(chains: Sequence[Chain], table: BlockTable) -> dict[tuple[int, int], int]:
    """Return how many steps each block has, without those that copy or only wait."""
    steps: dict[tuple[int, int], int] = {}
    for chain in chains:
        for place, rank in enumerate(chain.path):
            peer = chain.path[place - 1] if place else chain.path[1]
            key = rank, table.numbers[End(rank, chain.channel, peer, receives=place > 0)]
            steps[key] = steps.get(key, 0) + 1
    return steps
