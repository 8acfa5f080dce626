"""A lower bound of the time of a collective for each message size, whatever the schedule or the program.

Let L be the least time of a send: the overhead and the latency. The time is at least the greatest of these bounds.

**Sends.** If data makes at least h sends one after the other, the time is at least h·L. If the links of a cut are busy
for the time B, it is at least B + L. A schedule with few sends must move more data. Let a set contain x of the members,
and let y members be outside. Then at least the following data leaves the set:

| | allgather, reduce-scatter | allreduce |
| --- | --- | --- |
| h = 1 | x·y·M/N: every member outside gets every shard or summand directly | x·y·M, for the same reason |
| h = 2 | as for any schedule | min(x, y)·M |
| more | as for any schedule | as for any schedule |

Proof of min(x, y) for each element of the vector: if every member of the set sends it out of the set itself, these are
x sends. Otherwise some member u does not. The summand of u reaches each member v outside in at most two sends, and the
first of them stays in the set, so the second one goes to v itself. These are y sends, one for each v. The bound is the
minimum over h of the greater of h·L and B + L, with B of the data for h. The data for any schedule is that of the proof
of `optimum` or, if its proof is for trees only, that of the least cut and of the received data.

**Windows.** Let B be the time of a cut if each element crosses it once. An element that crosses only once cannot use
the whole time. In an allreduce or a reduce-scatter, the summands of the set must be added up before, which takes a send
if x > 1. In an allreduce or an allgather, it must be sent on after, which takes a send if y > 1. So the elements that
cross once have the time T - W, with W = L for the crossing and L for each of these sends, and the other elements
cross at least twice. If the part f crosses once, T ≥ W + f·B and T ≥ (2 - f)·B + L. The least T is B + (W + L)/2 or, if
2·B < W - L, it is 2·B + L.

If switches copy or add up data, only the bound for any schedule is used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.bounds.latency import latency_bound
from forestcoll.collective import Collective
from forestcoll.forest_optimum.value import Optimum
from forestcoll.proof import CutProof, ReceiptProof
from forestcoll.simulation import Costs
from forestcoll.topology import Topology
from forestcoll.topology.boxes import box_numbers
from forestcoll.units import bytes_per_microsecond


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
    """

    best: Optimum
    costs: Sequence[Costs]

    def microseconds(self, size: int) -> float:
        """Return the bound for M of `size` bytes, in microseconds."""
        windows = (self._window(cut, size) for cut in self._cuts)
        return min(each.launch_us for each in self.costs) + max(self._by_sends(size), *windows, 0.0)

    def _by_sends(self, size: int) -> float:
        busy = self._us_per_byte
        sends = range(self._least_sends, max(self._least_sends, len(busy)) + 1)
        return min(max(each * self._send_us, size * busy[min(each, len(busy)) - 1] + self._send_us) for each in sends)

    def _window(self, cut: _Cut, size: int) -> float:
        busy = size * cut.us_per_byte * float(cut.part(self.best.collective))
        around = cut.sends_around(self.best.collective) * self._send_us
        return self._send_us + (busy + around / 2 if 2 * busy >= around else 2 * busy)

    @cached_property
    def _least_sends(self) -> int:
        return latency_bound(self.best.topology, self.best.ranks).steps

    @cached_property
    def _send_us(self) -> float:
        """The least time of a send: the overhead and the latency."""
        latency = _least_latency_us(self.best.topology)
        return min(each.overhead_us + each.alpha_us for each in self.costs) + latency

    @cached_property
    def _us_per_byte(self) -> tuple[float, ...]:
        """For at most 1, 2, 3 sends one after the other: the time of the links of a cut for each byte of M."""
        least = float(1 / (_algbw_of_any(self.best) * self._unit)) / self._efficiency
        if not self._cuts:
            return (least,)
        found = [least, least, least]
        for cut in self._cuts:
            for place, part in enumerate(cut.parts_of_few_sends(self.best.collective)):
                found[place] = max(found[place], float(part) * cut.us_per_byte)
        return tuple(found)

    @cached_property
    def _cuts(self) -> tuple[_Cut, ...]:
        """The cut of the proof, boxes and single members, and their complements; none if switches copy or add up."""
        topology, members = self.best.topology, set(self.best.members)
        found = []
        for nodes in () if _is_in_network(topology) else _sets(self.best):
            inside = len(members & nodes)
            leaving = [link.bandwidth for link in topology.links if link.source in nodes and link.target not in nodes]
            if 0 < inside < len(members) and leaving:
                busy = float(1 / (sum(leaving, Fraction(0)) * self._unit)) / self._efficiency
                found.append(_Cut(inside, len(members) - inside, busy))
        return tuple(found)

    @property
    def _unit(self) -> Fraction:
        return bytes_per_microsecond(self.best.topology.bandwidth_unit)

    @property
    def _efficiency(self) -> float:
        return max(max(each.efficiency, each.efficiency_of_nics) for each in self.costs)


def _sets(best: Optimum) -> Iterator[frozenset[int]]:
    every = frozenset(range(len(best.topology.nodes)))
    boxes: dict[int, set[int]] = {}
    for node, box in box_numbers(best.topology).items():
        boxes.setdefault(box, set()).add(node)
    singles = (frozenset({member}) for member in best.members)
    for nodes in (frozenset(best.cut), *map(frozenset, boxes.values()), *singles):
        yield nodes
        yield every - nodes


def _algbw_of_any(best: Optimum) -> Fraction:
    """Return a bandwidth that no schedule exceeds, also none that does not use trees.

    The members of an allreduce must receive 2(N-1) times M in all, if only they add up data: N nodes need 2(N-1)
    one-way messages until each has heard from all.
    """
    if not best.bound.proof.trees_only:
        return best.bound.algbw
    least = CutProof(best.cut).algbw(best.topology, best.demand)
    if _is_in_network(best.topology) or best.ranks is not None:
        return least
    return min(least, ReceiptProof().algbw(best.topology, best.demand))


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
