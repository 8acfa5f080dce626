"""A lower bound of the time of all programs of messages, for each message size: the greatest of the bounds here.

In such a program, as MSCCL runs it, a rank sends and receives by instructions. Each of them takes the overhead o, sends
and receives at most one message, and adds up at most two operands. A message arrives at least the latency l after it
has left. So a send takes at least L = o + l, and data that has arrived must still be received, which takes o. An
instruction can receive and send on at the same time, so h sends one after the other take at least h·L + o. If the links
of a cut are busy for the time B, the time is at least B + L + o. The bound is the greatest of the following ones.

**Sends.** A schedule with few sends must move more data. Let a set contain x of the N members, and let y members be
outside. If data makes at most h sends one after the other, then at least the following data leaves the set:

| | allgather, reduce-scatter | allreduce |
| --- | --- | --- |
| h = 1 | x·y·M/N: every member outside gets every shard or summand directly | x·y·M, for the same reason |
| h = 2 | as for any schedule | min(x, y)·M |
| more | as for any schedule | as for any schedule |

Proof of min(x, y) for each element of the vector: if every member of the set sends it out of the set itself, these are
x sends. Otherwise some member u does not. The summand of u reaches each member v outside in at most two sends, and the
first of them stays in the set, so the second one goes to v itself. These are y sends, one for each v. The data for any
schedule is that of the proof of `optimum` or, if its proof is for trees only, that of the least cut and of what parts
of the network must receive (`parts.py`). The bound is the minimum over h of the greatest of h·L + o, B + L + o with B
of the data for h, and the time of the sums for h.

**Boxes.** Let a box send reach as many members as possible by h - 1 more sends inside boxes: at most K members, with
the receiver. From a member u, let R members be reached by h sends inside its box, with u. Each of the N - R others is
reached by a path of at most h sends, one of which leaves a box. The last such send of the path reaches it by at most
h - 1 sends inside boxes. So data of u makes at least (N - R)/K sends between boxes, rounded up. The links that leave
boxes must carry as many copies of the shard of u in an allgather. A reduce-scatter is an allgather in the opposite
direction. In an allreduce, each element makes at least the greatest number of such sends over all u, because the sends
that pass on the summand of u are among those of the element.

**Sums.** If data is added up, the result of a rank has N summands. Let S(t) be the most summands of which a rank can
have the sum at the time t. An instruction that ends at t adds up what the rank had at t - o, or receives a message, the
result of an instruction that ended by t - o - l. Own data is one summand, and each summand may be used once. So
S(t) = max(1, G(t - o) + S(t - o), S(t - o - l) + S(t - o)) with the sum of messages alone
G(t) = max(S(t - o - l) + G(t - o), 2·G(t - o)). The time is at least the least t with S(t) ≥ N. With at most h sends,
the messages are results of at most h - 1 sends.

**Windows.** Let B be the time of a cut if each element crosses it once. An element that crosses only once cannot use
the whole time. In an allreduce or a reduce-scatter, the summands of the set must be added up before, which takes a send
if x > 1. In an allreduce or an allgather, it must be sent on after, which takes a send if y > 1. So the elements that
cross once have the time T - W, with W = L + o for the crossing and L for each of these sends, and the other elements
cross at least twice. If the part f crosses once, T ≥ W + f·B and T ≥ (2 - f)·B + L + o. The least T is
B + (W + L + o)/2 or, if 2·B < W - L - o, it is 2·B + L + o.

**Distances.** In an allgather, data makes sends before it crosses a cut, and after: see `distances`. For example, data
of a member that is d sends away from a set enters it after d - 1 sends, and must then reach the farthest member of the
set. A reduce-scatter is an allgather in the opposite direction.

**Flows.** In an allreduce, all summands of each member must reach each other member: see `flows_over_time`.

**Pairs.** In an allreduce of several boxes, the summands of all ranks must cross to all ranks of other boxes: see
`box_pairs`.

**Crossings.** If members are in several boxes, a send must leave a box. With the least latency c that the links that
leave boxes state, the time is at least L + c + o.

If there are several protocols, the bound is that of the protocol with the least one. If switches copy or add up data,
only the bounds for any schedule, without sums, are used.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import CutProof, PartitionProof
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.lower_bound.arrivals import Arrival
from forestcoll.simulation.lower_bound.box_pairs import BoxPairs, PairTimes, box_pairs, links_between_boxes
from forestcoll.simulation.lower_bound.distances import Distances, entrances
from forestcoll.simulation.lower_bound.parts import most_by_parts
from forestcoll.solver.bounds.latency import latency_bound
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_numbers
from forestcoll.topology.symmetry.hanging import hanging_orbits


@dataclass(frozen=True)
class _Cut:
    """A set of nodes that data must leave.

    Attributes:
        inside: the number of members inside.
        outside: the number of members outside.
        us_per_byte: the time of a byte on all links that leave the set together, in microseconds.
    """

    inside: int
    outside: int
    us_per_byte: float

    def part(self, collective: Collective) -> Fraction:
        """Return the part of M that leaves the set if each element leaves it once."""
        if collective is Collective.ALLREDUCE:
            return Fraction(1)
        counted = self.inside if collective is Collective.ALLGATHER else self.outside
        return Fraction(counted, self.inside + self.outside)

    def parts_of_few_sends(self, collective: Collective) -> tuple[Fraction, Fraction]:
        """Return the part of M that leaves the set in schedules of at most one send, and of at most two."""
        pairs = self.inside * self.outside
        if collective is Collective.ALLREDUCE:
            return Fraction(pairs), Fraction(min(self.inside, self.outside))
        return Fraction(pairs, self.inside + self.outside), Fraction(0)

    def sends_around(self, collective: Collective) -> int:
        """Return how many sends an element makes before and after it crosses, if it crosses once."""
        before = self.inside > 1 and collective is not Collective.ALLGATHER
        after = self.outside > 1 and collective is not Collective.REDUCE_SCATTER
        return before + after


@dataclass(frozen=True)
class HopBound:
    """The lower bound of the time of one collective on one network.

    Attributes:
        best: the optimum, with its bound.
        costs: the costs of the programs; more than one if protocols differ.
        crossing_us: the least latency that links state for a send between boxes, if there must be one; see
            `crossing_latency_us`.
    """

    best: TreeOptimum
    costs: Sequence[Costs]
    crossing_us: float = 0.0

    def microseconds(self, size: int) -> float:
        """Return the bound for M of `size` bytes, in microseconds."""
        return min(each.microseconds(size) for each in self._of_protocols)

    @cached_property
    def _of_protocols(self) -> tuple["_ProtocolBound", ...]:
        parts = _Parts(self.best)
        return tuple(_ProtocolBound(parts, each, self.crossing_us) for each in self.costs)


@dataclass(frozen=True)
class _ProtocolBound:
    """The bound for the costs of one protocol."""

    parts: "_Parts"
    costs: Costs
    crossing_us: float

    def microseconds(self, size: int) -> float:
        scaled = size / max(self.costs.efficiency, self.costs.efficiency_of_nics)
        windows = (self._window(cut, scaled) for cut in self.parts.cuts)
        crossing = self.costs.alpha_us + self.crossing_us + 2 * self.costs.overhead_us if self.crossing_us else 0.0
        found = max(self._by_sends(scaled), self._by_arrivals(scaled), *windows, crossing)
        for each in self._pairs:
            found = each.microseconds(scaled, found)
        return self.costs.launch_us + found

    def _by_sends(self, size: float) -> float:
        busy, least = self.parts.us_per_byte, self.parts.least_sends
        return min(
            max(
                sends * self._send_us + self.costs.overhead_us,
                size * busy[min(sends, len(busy)) - 1] + self._cross_us,
                self._sums_us[min(sends, len(busy)) - 1],
            )
            for sends in range(least, max(least, len(busy)) + 1)
        )

    def _by_arrivals(self, size: float) -> float:
        parts = self.parts.arrivals
        return max((each.microseconds(size, self._send_us, self.costs.overhead_us) for each in parts), default=0.0)

    def _window(self, cut: _Cut, size: float) -> float:
        busy = size * cut.us_per_byte * float(cut.part(self.parts.best.collective))
        around = cut.sends_around(self.parts.best.collective) * self._send_us
        return self._cross_us + (busy + around / 2 if 2 * busy >= around else 2 * busy)

    @cached_property
    def _pairs(self) -> tuple[PairTimes, ...]:
        crossing = max(self._latency_us, self.costs.alpha_us + self.crossing_us) + self.costs.overhead_us
        return tuple(each.times(self._send_us, self.costs.overhead_us, crossing) for each in self.parts.pairs)

    @cached_property
    def _sums_us(self) -> tuple[float, ...]:
        """For each number of sends, as in `us_per_byte`, the least time of a sum of all summands."""
        if not self.parts.summands:
            return (0.0,) * len(self.parts.us_per_byte)
        sums = SumTimes(self.costs.overhead_us, self._latency_us)
        last = len(self.parts.us_per_byte)
        return tuple(sums.least(self.parts.summands, None if sends == last else sends) for sends in range(1, last + 1))

    @property
    def _latency_us(self) -> float:
        return self.costs.alpha_us + self.parts.latency_us

    @property
    def _send_us(self) -> float:
        """The least time of a send: the overhead and the latency."""
        return self.costs.overhead_us + self._latency_us

    @property
    def _cross_us(self) -> float:
        """What the time exceeds that of a busy link by: a send, and the receipt of the last message."""
        return self._send_us + self.costs.overhead_us


@dataclass(frozen=True)
class _Parts:
    """What the bound uses of the network; links have their whole bandwidth."""

    best: TreeOptimum

    @cached_property
    def least_sends(self) -> int:
        return latency_bound(self.best.topology, self.best.ranks).steps

    @cached_property
    def latency_us(self) -> float:
        return _least_latency_us(self.best.topology)

    @cached_property
    def summands(self) -> int:
        """The summands of each result; 0 if nothing is added up by instructions of ranks."""
        adds = self.best.collective is not Collective.ALLGATHER and not _is_in_network(self.best.topology)
        return len(self.best.members) if adds else 0

    @cached_property
    def us_per_byte(self) -> tuple[float, ...]:
        """For at most 1, 2, … sends one after the other: the time of the links of a cut for each byte of M.

        The last value is for any number of sends.
        """
        least = float(1 / (_algbw_of_any(self.best) * self._unit))
        if not self.cuts:
            return (least,)
        is_scatter = self.best.collective is Collective.REDUCE_SCATTER
        topology = self.best.topology.transposed() if is_scatter else self.best.topology
        boxes = box_us_per_byte(topology, self.best.members, self.best.collective)
        found = [least] * max(3, len(boxes))
        for cut in self.cuts:
            for place, part in enumerate(cut.parts_of_few_sends(self.best.collective)):
                found[place] = max(found[place], float(part) * cut.us_per_byte)
        for place, busy in enumerate(boxes):
            found[place] = max(found[place], busy)
        return tuple(found)

    @cached_property
    def cuts(self) -> tuple[_Cut, ...]:
        """The cut of the proof, boxes and single members, and their complements; none if switches copy or add up."""
        topology, members = self.best.topology, set(self.best.members)
        found = []
        for nodes in () if _is_in_network(topology) else _sets(self.best):
            inside = len(members & nodes)
            leaving = [link.bandwidth for link in topology.links if link.source in nodes and link.target not in nodes]
            if 0 < inside < len(members) and leaving:
                busy = float(1 / (sum(leaving, Fraction(0)) * self._unit))
                found.append(_Cut(inside, len(members) - inside, busy))
        return tuple(found)

    @cached_property
    def arrivals(self) -> frozenset[Arrival]:
        """What must arrive by sends in sequence; a reduce-scatter is seen in the opposite direction."""
        topology, members = self.best.topology, self.best.members
        if not self.cuts:
            return frozenset()
        if self.best.collective is Collective.ALLREDUCE:
            from forestcoll.simulation.lower_bound.flows_over_time import quickest_flows

            return quickest_flows(topology, members)
        is_scatter = self.best.collective is Collective.REDUCE_SCATTER
        return entrances(topology.transposed() if is_scatter else topology, _sets(self.best), members)

    @cached_property
    def pairs(self) -> tuple[BoxPairs, ...]:
        """The pairs of ranks of different boxes that an allreduce must join."""
        if not self.cuts or self.best.collective is not Collective.ALLREDUCE:
            return ()
        return box_pairs(self.best.topology, self.best.members)

    @property
    def _unit(self) -> Fraction:
        return bytes_per_microsecond(self.best.topology.bandwidth_unit)


def box_us_per_byte(topology: Topology, members: Sequence[int], collective: Collective) -> tuple[float, ...]:
    """Return, for at most 1, 2, … sends, the time of all links that leave boxes for each byte of M.

    The last value is for any number of sends. There are none if not all members are in boxes, or if there is one box.

    Args:
        topology: the network in the direction of an allgather.
        members: the nodes that take part.
        collective: the collective.
    """
    boxes, leaving = box_numbers(topology), links_between_boxes(topology, members)
    if not leaving:
        return ()
    bandwidth = sum((link.bandwidth for link in leaving), Fraction(0)) * bytes_per_microsecond(topology.bandwidth_unit)
    inside = []
    distances, counted = Distances(topology), frozenset(members)
    for member in members:
        box = frozenset(node for node, number in boxes.items() if number == boxes[member])
        reached = Counter(sends for node, sends in distances.sends({member}, box).items() if node in counted)
        inside.append([reached[sends] for sends in range(max(reached) + 1)])
    found = []
    for sends in range(1, max(map(len, inside)) + 1):
        most = max(sum(each[:sends]) for each in inside)
        numbers = [-(-(len(members) - sum(each[: sends + 1])) // most) for each in inside]
        copies = max(numbers) if collective is Collective.ALLREDUCE else sum(numbers) / len(numbers)
        found.append(float(copies / bandwidth))
    return tuple(found)


def crossing_latency_us(topology: Topology, members: Sequence[int]) -> float:
    """Return the least latency that a link that leaves a box states; 0 if members are in one box, or outside boxes."""
    return min((float(link.latency_us or 0) for link in links_between_boxes(topology, members)), default=0.0)


@dataclass(frozen=True)
class SumTimes:
    """The least times of sums: S and G of the explanation of this file.

    Attributes:
        overhead: the overhead o.
        latency: the latency l.
    """

    overhead: float
    latency: float

    def least(self, summands: int, sends: int | None = None) -> float:
        """Return the least time at which a rank can have the sum of so many summands, one on each rank.

        Args:
            summands: the number of summands, 2 at least.
            sends: the most sends one after the other; None for any number.
        """
        own, latency = Fraction(self.overhead), Fraction(self.latency)
        if not own:
            return float(latency)
        steps = 1 + max(summands - 2, 0).bit_length()
        directly = own + latency + own * steps
        times = {
            time
            for hops in range(1, int(directly / (own + latency)) + 1)
            for number in range(2 * steps + 2 * hops + 1)
            if (time := hops * latency + number * own) < directly
        }
        most = len(times) if sends is None else sends
        sums = _Sums(own, latency)
        return float(min((time for time in times if sums.with_own(time, most) >= summands), default=directly))


class _Sums:
    """The most summands of which a rank can have the sum at a time."""

    def __init__(self, overhead: Fraction, latency: Fraction) -> None:
        self._overhead, self._latency = overhead, latency
        self._first = 2 * overhead + latency
        self._known: dict[tuple[Fraction, int, bool], int] = {}

    def with_own(self, time: Fraction, sends: int) -> int:
        """Return S: the most summands with the own data."""
        if time < 0:
            return 0
        if time < self._first or not sends:
            return 1
        key = time, sends, True
        if key not in self._known:
            before = time - self._overhead
            more = max(self._of_messages(before, sends), self._message(time, sends))
            self._known[key] = self.with_own(before, sends) + more
        return self._known[key]

    def _of_messages(self, time: Fraction, sends: int) -> int:
        """Return G: the most summands without the own data."""
        if time < self._first or not sends:
            return 0
        key = time, sends, False
        if key not in self._known:
            known = self._of_messages(time - self._overhead, sends)
            self._known[key] = known + max(known, self._message(time, sends))
        return self._known[key]

    def _message(self, time: Fraction, sends: int) -> int:
        """Return the most summands of a message whose receipt ends at a time."""
        left = time - self._overhead - self._latency
        return self.with_own(left, sends - 1) if left >= self._overhead else 0


def _sets(best: TreeOptimum) -> Iterator[frozenset[int]]:
    """Yield the cut of the proof, boxes and single members, and their complements; of equal members only the first."""
    topology = best.topology
    every = frozenset(range(len(topology.nodes)))
    boxes: dict[int, set[int]] = {}
    for node, box in box_numbers(topology).items():
        boxes.setdefault(box, set()).add(node)
    members = best.members if best.ranks is not None else hanging_orbits(topology).first_compute(topology)
    singles = (frozenset({member}) for member in members)
    for nodes in (frozenset(best.cut), *map(frozenset, boxes.values()), *singles):
        yield nodes
        yield every - nodes


def _algbw_of_any(best: TreeOptimum) -> Fraction:
    """Return a bandwidth that no program exceeds, also none that does not use trees.

    A partition bounds all programs, because each link between two parts carries messages from one part to the other
    (see `parts.py`). Messages leave a part as well as they enter one, so the opposite direction has a bound, too. Each
    part has a member, so it does not matter what idle nodes and switches in it do.
    """
    proof = best.bound.proof
    if not proof.trees_only or isinstance(proof, PartitionProof):
        return best.bound.algbw
    least = CutProof(best.cut).algbw(best.topology, best.demand)
    if _is_in_network(best.topology) or best.ranks is not None:
        return least
    return min(least, most_by_parts(best.topology), most_by_parts(best.topology.transposed()))


def _is_in_network(topology: Topology) -> bool:
    return any(node.multicast or node.aggregation for node in topology.nodes)


def _least_latency_us(topology: Topology) -> float:
    """Return a latency that each send has at least: that of the first link, and of the last one behind switches."""
    is_compute = [node.is_compute for node in topology.nodes]
    leaving = [link for link in topology.links if is_compute[link.source]]
    first = min(float(link.latency_us or 0) for link in leaving)
    if any(is_compute[link.target] for link in leaving):
        return first
    return first + min(float(link.latency_us or 0) for link in topology.links if is_compute[link.target])
