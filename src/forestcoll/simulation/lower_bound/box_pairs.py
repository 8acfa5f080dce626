"""Pairs of ranks of different boxes: in an allreduce, the summands of each rank must reach all ranks of other boxes.

A send takes at least the time L, and an instruction the overhead o (see `hop_bounds`). A send is inside a box if it
uses links of this box only, and outside otherwise. An outside send of a rank a to a rank b uses a link that leaves the
box of a, and a link that enters the box of b. It takes at least L' >= L.

Look at one element, and at two members u and s in different boxes. The summand of u comes to s along a walk of
messages. At least one of them is outside. If the first outside message, from a, leaves at the time t, the summand has
come from u to a inside the box: t allows it. If the last one, to b, leaves at t, it still comes from b to s inside the
box by the end T. Take any time z, and count each pair (u, s) at one message of its walk:

- at the first outside message, if it leaves before z;
- otherwise at the last one. If it leaves before z + L', it is also the first one, because a message that another one
  has to wait for takes L'.

Let P(a, t) members reach a inside its box so that their summands leave a at t, and Q(b, t) members be reached from b
inside its box until T by a message that leaves for b at t. So a message that leaves at t counts for at most

| | pairs |
| --- | --- |
| t < z | P(a, t) times the members outside the box of a |
| z <= t < z + L' | P(a, t) · Q(b, t) |
| z + L' <= t | Q(b, t) times the members outside the box of b |

The bytes of all messages use the links that leave and that enter boxes. In the middle, messages count the most if links
with the greatest P lead to those with the greatest Q. All elements together must count for M times the number of pairs,
for each z. The bound is the least T that allows it. Members may have weights: pairs then count by their product. The
farthest members of each box alone are a bound, too.

**P and Q.** An instruction receives one message at most, and sends one at most. So what a rank receives at t leaves it
at t over one link, and at t + o or later over others. With the time r left, data of b reaches at most

    R(b, r) = 1 + max over c of R(c, r - L) + sum over the other neighbours c of R(c, r - L - o)

members with b, and no more than those within r / L sends. Q(b, t) is R(b, T - L' - t). In the opposite direction, what
a sends at t is what one message brings at t, and what others have brought until t - o. So P(a, t) is R(a, t - o) on the
network with its links reversed.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.simulation.lower_bound.distances import Distances
from forestcoll.topology import Link, Topology
from forestcoll.topology.graph.boxes import box_numbers

MOST_SENDS = 16
"""The most sends inside a box that are counted; in more sends, data is taken to reach all members of the box."""

MOST_NODES = 1024
"""The most compute nodes of a box; there is no bound for larger boxes."""

HALVINGS = 20
"""How often the range that contains the least time is halved."""

_Numbers: TypeAlias = npt.NDArray[np.float64]

_Links: TypeAlias = Sequence[tuple[float, Sequence[int]]]
"""Links of a box: the bytes that each carries in a microsecond, and the places of the compute nodes that can use it."""


def links_between_boxes(topology: Topology, members: Sequence[int]) -> list[Link]:
    """Return the links that leave boxes; none if members are in one box, or outside boxes."""
    boxes = box_numbers(topology)
    if not set(members) <= set(boxes) or len({boxes[each] for each in members}) < 2:
        return []
    return [link for link in topology.links if link.source in boxes and boxes[link.source] != boxes.get(link.target)]


def box_pairs(topology: Topology, members: Sequence[int]) -> tuple["BoxPairs", ...]:
    """Return what must cross between boxes in an allreduce: for all members, and for the farthest ones of each box.

    There is nothing if the members are in one box, or outside boxes.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> from forestcoll.simulation.lower_bound.box_pairs import box_pairs
        >>> found = box_pairs(build_topology("mi250:boxes=2"), range(32))
        >>> [sum(each.weights.values()) for each in found]  # 4 ranks of each box are the farthest ones
        [32, 8]
    """
    if not links_between_boxes(topology, members):
        return ()
    boxes = tuple(_boxes(topology))
    if any(len(box.compute) > MOST_NODES for box in boxes):
        return ()
    counted, far = frozenset(members), set[int]()
    for box in boxes:
        places = [place for place, node in enumerate(box.compute) if node in counted]
        if places:
            most = box.sends[np.ix_(places, places)].max(axis=1)
            far |= {box.compute[place] for place, sends in zip(places, most, strict=True) if sends == most.max()}
    some = dict.fromkeys((counted, frozenset(far)))
    return tuple(BoxPairs(boxes, dict.fromkeys(sorted(each), 1)) for each in some)


@dataclass(frozen=True, eq=False)
class _Box:
    """A box of compute nodes; a place is that of a compute node in `compute`.

    Attributes:
        compute: the compute nodes, in ascending order.
        sends: the sends inside the box from each compute node to each other one; infinite if it is not reached.
        leaving: the links that leave the box, with those that can send over them.
        entering: the links that enter the box, with those that can receive over them.
    """

    compute: tuple[int, ...]
    sends: _Numbers
    leaving: _Links
    entering: _Links


def _boxes(topology: Topology) -> Iterator[_Box]:
    numbers, nodes_of = box_numbers(topology), defaultdict[int, set[int]](set)
    for node, number in numbers.items():
        nodes_of[number].add(node)
    places, compute_of = dict[int, int](), defaultdict[int, list[int]](list)
    for node in topology.compute:
        if node in numbers:
            places[node] = len(compute_of[numbers[node]])
            compute_of[numbers[node]].append(node)
    onwards, back = Distances(topology), Distances(topology.transposed())
    unit = bytes_per_microsecond(topology.bandwidth_unit)
    leaving = defaultdict[int, list[tuple[float, Sequence[int]]]](list)
    entering = defaultdict[int, list[tuple[float, Sequence[int]]]](list)
    for link in topology.links:
        if numbers.get(link.source) != numbers.get(link.target):
            for node, distances, links in ((link.source, back, leaving), (link.target, onwards, entering)):
                if node in numbers:
                    around = distances.around(node, nodes_of[numbers[node]])
                    ends = [places[other] for other, sends in sorted(around.items()) if sends == 0]
                    links[numbers[node]].append((float(link.bandwidth * unit), ends))
    for number, nodes in nodes_of.items():
        compute = tuple(compute_of[number])
        rows = [onwards.sends({node}, nodes) for node in compute]
        sends = np.array([[row.get(node, np.inf) for node in compute] for row in rows], dtype=np.float64)
        yield _Box(compute, sends.reshape(len(compute), len(compute)), leaving[number], entering[number])


@dataclass(frozen=True)
class BoxPairs:
    """What must cross between boxes, with a weight for each member that counts.

    Attributes:
        boxes: the boxes of the network.
        weights: the weights, by node.
    """

    boxes: Sequence[_Box]
    weights: Mapping[int, int]

    def times(self, send_us: float, overhead_us: float, crossing_us: float) -> "PairTimes":
        """Return how much can cross at which time.

        Args:
            send_us: the time L of a send.
            overhead_us: the overhead o.
            crossing_us: the time L' of an outside send.
        """
        send, overhead = Fraction(send_us), Fraction(overhead_us)
        farthest = max((box.sends[np.isfinite(box.sends)].max(initial=0) for box in self.boxes), default=0)
        most = min(int(farthest), MOST_SENDS)
        times = sorted({sends * send + late * overhead for sends in range(most + 1) for late in range(sends + 1)})
        total, pairs = sum(self.weights.values()), 0
        leaving, entering = [], []
        for box in self.boxes:
            weights = np.array([self.weights.get(node, 0) for node in box.compute], dtype=np.float64)
            others = total - int(weights.sum())
            pairs += others * int(weights.sum())
            leaving.append((box.leaving, others, reached_inside(box.sends.T, weights, times, send, overhead)))
            entering.append((box.entering, others, reached_inside(box.sends, weights, times, send, overhead)))
        sides = _Side.of(leaving), _Side.of(entering)
        return PairTimes(pairs, overhead_us + crossing_us, crossing_us, tuple(map(float, times)), *sides)


def reached_inside(
    sends: _Numbers, weights: _Numbers, times: Sequence[Fraction], send: Fraction, overhead: Fraction
) -> _Numbers:
    """Return the most weight R that data of each compute node of a box reaches, in a row for each time.

    Args:
        sends: the sends from each compute node to each other one.
        weights: the weight of each compute node.
        times: the times from 0 on at which R may grow; from the last one on, all that can be reached is counted.
        send: the time L of a send.
        overhead: the overhead o.
    """
    joined, found = sends == 1, list[_Numbers]()

    def until(time: Fraction) -> _Numbers:
        place = bisect_right(times, time) - 1
        return found[place] if place >= 0 else np.zeros_like(weights)

    for time in times[:-1]:
        at_once, later = until(time - send), until(time - send - overhead)
        best = (joined * (at_once - later)).max(axis=1, initial=0)
        near = (sends <= time // send) @ weights
        found.append(np.minimum(near, weights + joined @ later + best))
    return np.array([*found, np.isfinite(sends) @ weights])


@dataclass(frozen=True, eq=False)
class _Side:
    """The links that leave all boxes, or those that enter them.

    Attributes:
        rates: the bytes that each link carries in a microsecond.
        others: for each link, the weight outside its box.
        reached: R of the best rank at each link, in a row for each link.
    """

    rates: _Numbers
    others: _Numbers
    reached: _Numbers

    @staticmethod
    def of(boxes: Iterable[tuple[_Links, int, _Numbers]]) -> "_Side":
        """Return the side of the links of boxes, each with the weight outside, and R of its compute nodes by time."""
        rows = [
            (rate, others, reached[:, ends].max(axis=1, initial=0))
            for links, others, reached in boxes
            for rate, ends in links
        ]
        rates, weights, found = zip(*rows, strict=True)
        return _Side(np.array(rates), np.array(weights, dtype=np.float64), np.array(found))

    @cached_property
    def counted(self) -> _Numbers:
        """The pairs of one rank of the box and one outside that all links count for in a microsecond, by time."""
        counted: _Numbers = (self.rates * self.others) @ self.reached
        return counted

    def sorted_rates(self, place: int) -> tuple[_Numbers, _Numbers]:
        """Return R of the links at a time in descending order, and the rates of the links up to each one."""
        reached = self.reached[:, place]
        order = np.argsort(-reached, kind="stable")
        return reached[order], np.cumsum(self.rates[order])


@dataclass(frozen=True, eq=False)
class PairTimes:
    """How much can cross at which time, for given costs.

    Attributes:
        pairs: the pairs that each byte must count for.
        least_us: the time of a program before and after its outside sends use links.
        crossing_us: the time L' of an outside send.
        times: the times at which R may grow.
        leaving: the links that leave boxes, with P.
        entering: the links that enter boxes, with Q.
    """

    pairs: int
    least_us: float
    crossing_us: float
    times: Sequence[float]
    leaving: _Side
    entering: _Side

    def microseconds(self, size: float, from_us: float) -> float:
        """Return a lower bound for M of `size` bytes, `from_us` at least.

        It is below the least time in which the bytes count for enough pairs, by the last halving at most.
        """
        low, needed = max(from_us, self.least_us), size * self.pairs
        if self._most(low) >= needed:
            return from_us
        high = 2 * low
        while self._most(high) < needed:
            low, high = high, 2 * high
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._most(middle) >= needed else (middle, high)
        return low

    def _most(self, time_us: float) -> float:
        """Return for how many pairs bytes can count in a time, for the time z with the fewest."""
        span = time_us - self.least_us
        grown = [time for time in self.times if time <= span]
        ends = np.unique([*grown, *(span - time for time in grown)])
        early, middle, late = [0.0], [0.0], [0.0]
        for start, end in pairwise(ends.tolist()):
            inner = (start + end) / 2
            before, after = (bisect_right(self.times, time) - 1 for time in (inner, span - inner))
            early.append(early[-1] + (end - start) * self.leaving.counted[before])
            middle.append(middle[-1] + (end - start) * self._both(before, after))
            late.append(late[-1] + (end - start) * self.entering.counted[after])
        first = np.concatenate([ends, ends - self.crossing_us])
        last = first + self.crossing_us
        counted = np.interp(first, ends, early) + np.interp(last, ends, middle) - np.interp(first, ends, middle)
        return float((counted + late[-1] - np.interp(last, ends, late)).min())

    def _both(self, before: int, after: int) -> float:
        """Return for how many pairs bytes can count in a microsecond, if links with the greatest P and Q are joined."""
        if (before, after) not in self._known:
            reaching, leaving = self.leaving.sorted_rates(before)
            reached, entering = self.entering.sorted_rates(after)
            ends = np.union1d(leaving, entering)
            ends = ends[ends <= min(leaving[-1], entering[-1])]
            parts = np.diff(ends, prepend=0.0)
            pairs = reaching[np.searchsorted(leaving, ends)] * reached[np.searchsorted(entering, ends)]
            self._known[before, after] = float(parts @ pairs)
        return self._known[before, after]

    @cached_property
    def _known(self) -> dict[tuple[int, int], float]:
        return {}
