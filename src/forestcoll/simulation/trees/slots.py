"""The time of trees in slots of sends and receives, as the torch backend runs them with `cuda="slots"`.

The data of each tree is cut into S chunks. A route whose offset is t sends chunk j in slot t + j: a copy one slot after
its node was reached, sums as late as possible, and the copies of an allreduce when the highest tree of their root is
up. With D, the greatest offset plus 1, there are S + D - 1 slots. All ranks end a slot together, so slot s takes

    alpha + overhead·(m - 1) + w·M/S,

where w is the most time of a link, or of a rank if the costs limit it, for a byte of M, of the routes with
s - S < t <= s, and m the most messages of a rank to one peer: trees of one root that send over the same routes in the
same slot are one message. Adding up is part of alpha. S is the best of 1, 2, 4 to 32.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.loads import hops_of, link_numbers
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.rates import Rates, Wires

CHUNKS = (1, 2, 4, 8, 16, 32)
"""The values of S that are tried."""

SLOT_COSTS = Costs(alpha_us=30.0, overhead_us=15.0)
"""What a slot, and each further message to a peer, take where nothing was measured.

On one H200, a slot took 9 to 15 us as a CUDA graph, and a further message 11 to 20 us. Between boxes, a slot is assumed
to take 30 us.
"""


@dataclass(frozen=True)
class SlotModel:
    """The times of a schedule of trees in slots.

    Attributes:
        schedule: the schedule, with every tree listed.
        costs: alpha is the time of a slot, and overhead that of each further message to a peer.
        busy: for each offset (row), the seconds that each link is busy for a byte of M, and those of each rank to send
            and to receive, if the costs limit them.
        messages: for each offset, the messages between each pair of ranks.
    """

    schedule: TreeSchedule
    costs: Costs
    busy: FloatArray
    messages: FloatArray

    @staticmethod
    def of(schedule: TreeSchedule, costs: Costs) -> "SlotModel":
        """Return the model of `schedule`.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known.
        """
        schedule = expanded(schedule)
        sent = list(_sent(schedule))
        depth = 1 + max(each.offset for each in sent)
        wires = Wires.of(schedule.topology)
        rates = Rates.of(wires, costs)
        sources, targets, _ = hops_of(schedule.routes)
        links = link_numbers(schedule.topology, sources, targets)
        starts = np.concatenate([[0], np.cumsum(np.diff(schedule.routes.starts) - 1)])
        parts = np.zeros((depth, len(rates.links)))
        groups: dict[tuple[int, int], set[tuple[int, int, int]]] = defaultdict(set)
        for each in sent:
            crossed = links[starts[each.route] : starts[each.route + 1]]
            parts[each.offset, crossed] += each.share
            ends = schedule.routes[each.route]
            groups[int(ends[0]), int(ends[-1])].add((each.offset, each.phase, each.root))
        messages = np.zeros((depth, len(groups)))
        for pair, found in enumerate(groups.values()):
            for offset, _, _ in found:
                messages[offset, pair] += 1
        ranks = [rates.rank * np.concatenate([loads.sent, loads.received]) for loads in map(wires.rank_loads, parts)]
        return SlotModel(schedule, costs, np.hstack([parts * rates.links, ranks]), messages)

    @property
    def depth(self) -> int:
        """D: with S chunks there are S + D - 1 slots."""
        return len(self.busy)

    def seconds(self, size: int, chunks: int) -> float:
        """Return the time in seconds for M of `size` bytes in S = `chunks`."""
        slots = np.arange(chunks + self.depth - 1)
        last, first = np.minimum(slots, self.depth - 1) + 1, np.maximum(slots - chunks + 1, 0)
        busy, messages = ((sums := _sums(each))[last] - sums[first] for each in (self.busy, self.messages))
        further = np.maximum(messages.max(axis=1) - 1, 0)
        each_us = self.costs.alpha_us + self.costs.overhead_us * further
        return float(self.costs.launch_us * 1e-6 + (each_us * 1e-6 + busy.max(axis=1) * size / chunks).sum())

    def point(self, size: int) -> Point:
        """Return the time of M of `size` bytes with the best S."""
        chunks = min(CHUNKS, key=lambda each: self.seconds(size, each))
        part = float(max(max(phase.shares) for phase in self.schedule.phases))
        return point_at(self.schedule, size=size, seconds=self.seconds(size, chunks), pieces=chunks, part=part)


def _sums(rows: FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, … rows."""
    return np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])


class _Sent(NamedTuple):
    """A route of a tree, and the slot in which it sends the first chunk."""

    phase: int
    root: int
    route: int
    share: float
    offset: int


def _sent(schedule: TreeSchedule) -> Iterator[_Sent]:
    """Yield the routes of all trees."""
    is_compute = [node.is_compute for node in schedule.topology.nodes]
    begin: dict[int, int] = defaultdict(int)  # of each root, the slot in which its sum is complete
    for number, phase in enumerate(schedule.phases):
        outward = phase.op is PhaseOp.BROADCAST
        heights: dict[int, int] = defaultdict(int)
        for tree in phase:
            routes = [int(route) for route in tree.routes]
            depths = {tree.root: 0}
            for route in routes if outward else reversed(routes):
                ends = schedule.routes[route]
                near, far = (int(ends[0]), int(ends[-1])) if outward else (int(ends[-1]), int(ends[0]))
                depths[far] = depths[near] + is_compute[far]
            height = max(depths.values())
            heights[tree.root] = max(heights[tree.root], height)
            for route in routes:
                first = int(schedule.routes[route][0])
                offset = begin[tree.root] + depths[first] if outward else height - depths[first]
                yield _Sent(number, tree.root, route, float(tree.share), offset)
        begin = heights
