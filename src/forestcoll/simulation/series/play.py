"""A simulation of messages through a periodic schedule: when each message has reached every node.

The periods are simulated one after the other by the rule of *Steady-state broadcasts*, §5.4.2: in a period, a node
forwards the messages that had reached it when the period began, in order. Then no transfer is ever interrupted. In a
reduce, a node sends what had reached it by all edges of the tree into it. If a
period has far more new messages than there are, shorter cycles are faster: the period is cut into `cuts` equal cycles,
and each cycle contains all rounds, each shorter by that factor. If a round ends in the middle of a message, the link
continues with that message in the same round of the next cycle. The links of a round stay the same.

The simulator does not rely on the schedule: it records until when each port is busy and raises an error if a transfer
would start on a busy port, and a node forwards only messages that have arrived. All times are exact.
"""

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from forestcoll.base.errors import InputError, InternalError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.schedule.proof.prices import Port, ports_of
from forestcoll.schedule.series.value import SeriesSchedule, SeriesTree, Transfer

MOST_EVENTS = 50_000_000
"""The most transfers and arrivals that are simulated, which takes tens of seconds."""

_FEWEST_CYCLES, _MOST_CYCLES, _EASY = 20, 200, 1_000_000


@dataclass(frozen=True)
class SeriesRun:
    """The result of a simulation of a series.

    Attributes:
        messages: the number of messages, or of operations of another collective than a broadcast.
        cycles: the number of cycles, including one that was not completed.
        cycle: the length of a cycle, in units of time.
        completed: for each message, in the order in which they are sent, the time when it had reached every node that
            needs it.

    Example:
        >>> from forestcoll.oneport import compare_series
        >>> from forestcoll.topology import build_topology
        >>> run = play_series(compare_series(build_topology("ring:nodes=4"), 0).schedule(), 100)
        >>> run.messages, len(run.completed), run.makespan == max(run.completed)
        (100, 100, True)
    """

    messages: int
    cycles: int
    cycle: Fraction
    completed: tuple[Fraction, ...]

    @property
    def makespan(self) -> Fraction:
        """The time when the last message had reached every node."""
        return max(self.completed)

    @property
    def throughput(self) -> Fraction:
        """Messages in a unit of time, over the whole simulation."""
        return self.messages / self.makespan


def play_series(schedule: SeriesSchedule, messages: int, *, cuts: int = 1, progress: Progress = SILENT) -> SeriesRun:
    """Simulate `messages` messages through `schedule`, from the first transfer to the last arrival.

    Args:
        schedule: a schedule that `verify` accepts.
        messages: the number of messages, 1 or more.
        cuts: the number of cycles that a period is cut into; 1 leaves the period as it is. `good_cuts` suggests a
            number.
        progress: receives progress reports.

    Returns:
        The arrival times, in units of time: a message takes 1/bandwidth over a link.

    Raises:
        InputError: `messages` or `cuts` is less than 1, or the simulation would have more than `MOST_EVENTS` events.

    Example:
        >>> from forestcoll.oneport import compare_series
        >>> from forestcoll.topology import build_topology
        >>> schedule = compare_series(build_topology("ring:nodes=4"), 0).schedule()
        >>> play_series(schedule, 100).throughput < schedule.throughput
        True
    """
    if messages < 1 or cuts < 1:
        raise InputError(f"{messages} messages and {cuts} cuts; there must be 1 or more of each")
    cycles = messages * cuts // schedule.messages + schedule.height
    transfers = sum(len(each.transfers) for each in schedule.rounds)
    if cycles * transfers + messages * len(schedule.trees[0].edges) * len(_by_owner(schedule)) > MOST_EVENTS:
        raise InputError(
            f"{schedule.topology.name}: {messages} messages are about {cycles * transfers:.2g} transfers; "
            "simulate fewer messages"
        )
    progress.begin("simulating")
    return _Simulator(schedule, messages, cuts).run(progress)


def good_cuts(schedule: SeriesSchedule, messages: int) -> int:
    """Return a number of cycles for a period: shorter cycles reach full work sooner, but there are more to simulate."""
    transfers = sum(len(each.transfers) for each in schedule.rounds)
    cycles = min(_MOST_CYCLES, max(_FEWEST_CYCLES, _EASY // transfers))
    return max(1, -(-cycles * schedule.messages // messages))


class _Simulator:
    """The state of a simulation.

    Data is counted in parts of a message: a message has `unit` parts, such that a link carries a whole number of parts
    in each round.
    """

    def __init__(self, schedule: SeriesSchedule, messages: int, cuts: int) -> None:
        self._schedule, self._messages = schedule, messages
        self._cycle = schedule.period / cuts
        self._numbers = schedule.topology.link_numbers
        bandwidths = {ends: schedule.bandwidth(place) for ends, place in self._numbers.items()}
        bandwidths_of = [[bandwidths[ends] for ends in tree.edges] for tree in schedule.trees]
        carried = [
            [each.duration / cuts * bandwidths_of[transfer.tree][transfer.edge] for transfer in each.transfers]
            for each in schedule.rounds
        ]
        self._unit = lcm(*(amount.denominator for amounts in carried for amount in amounts))
        self._turns = [[int(amount * self._unit) for amount in amounts] for amounts in carried]
        durations = [each.duration / cuts for each in schedule.rounds]
        paces = [[1 / (bandwidth * self._unit) for bandwidth in bandwidths] for bandwidths in bandwidths_of]
        # Times are integers in units of 1/scale: the time of a part of a message, and of every round.
        self._scale = lcm(
            self._cycle.denominator,
            *(each.denominator for each in durations),
            *(each.denominator for tree in paces for each in tree),
        )
        self._durations = [int(each * self._scale) for each in durations]
        self._paces = [[int(each * self._scale) for each in tree] for tree in paces]
        self._sent = [[0] * len(tree.edges) for tree in schedule.trees]
        self._orders = [list(_in_order(schedule, trees, messages)) for trees in _by_owner(schedule)]
        counts = [0] * len(schedule.trees)
        for tree in itertools.chain.from_iterable(self._orders):
            counts[tree] += 1
        self._arrivals: list[list[list[int]]] = [[[] for _ in tree.edges] for tree in schedule.trees]
        self._before = [_edges_before(tree) for tree in schedule.trees]
        self._counts = counts
        self._taken: dict[Port, int] = {}
        self._ports = [[self._of_edge(ends) for ends in tree.edges] for tree in schedule.trees]

    def _of_edge(self, ends: tuple[int, int]) -> list[Port]:
        return list(ports_of(self._schedule.topology, self._numbers[ends]))

    def run(self, progress: Progress) -> SeriesRun:
        expected = sum(count * len(tree.edges) for count, tree in zip(self._counts, self._schedule.trees, strict=True))
        cycles, now = 0, 0
        while (arrived := sum(len(each) for tree in self._arrivals for each in tree)) < expected:
            progress.advance(arrived, expected)
            self._play_cycle(now)
            cycles += 1
            now += int(self._cycle * self._scale)
        return SeriesRun(self._messages, cycles, self._cycle, tuple(self._completed()))

    def _play_cycle(self, begin: int) -> None:
        """Simulate all rounds once; nodes forward what had arrived before."""
        ready = [
            [min((len(tree[edge]) for edge in before), default=count) for before in befores]
            for tree, befores, count in zip(self._arrivals, self._before, self._counts, strict=True)
        ]
        now = begin
        for each, amounts, duration in zip(self._schedule.rounds, self._turns, self._durations, strict=True):
            for transfer, amount in zip(each.transfers, amounts, strict=True):
                there = ready[transfer.tree][transfer.edge] * self._unit
                part = min(amount, there - self._sent[transfer.tree][transfer.edge])
                if part > 0:
                    self._take_ports(transfer, now, now + duration)
                    self._send(transfer, part, now)
            now += duration

    def _take_ports(self, transfer: Transfer, begin: int, end: int) -> None:
        for port in self._ports[transfer.tree][transfer.edge]:
            if self._taken.get(port, begin) > begin:
                raise InternalError(f"a {port.kind.value} port is used twice at once")
            self._taken[port] = end

    def _send(self, transfer: Transfer, part: int, begin: int) -> None:
        """Send a part of the waiting messages, and record the arrivals."""
        sent = self._sent[transfer.tree]
        before = sent[transfer.edge]
        after = before + part
        sent[transfer.edge] = after
        pace = self._paces[transfer.tree][transfer.edge]
        arrivals = self._arrivals[transfer.tree][transfer.edge]
        for message in range(before // self._unit + 1, after // self._unit + 1):
            arrivals.append(begin + (message * self._unit - before) * pace)

    def _completed(self) -> Iterator[Fraction]:
        """Yield, for each operation, the time when its messages had reached every node that needs them."""
        place = [0] * len(self._counts)
        for trees in zip(*self._orders, strict=True):
            ends = [edge[place[tree]] for tree in trees for edge in self._arrivals[tree]]
            yield Fraction(max(ends), self._scale)
            for tree in trees:
                place[tree] += 1


def _by_owner(schedule: SeriesSchedule) -> list[list[int]]:
    """Return the numbers of the trees for each message of an operation."""
    found: dict[int | None, list[int]] = {}
    for number, tree in enumerate(schedule.trees):
        found.setdefault(schedule.owner_of(tree), []).append(number)
    return list(found.values())


def _in_order(schedule: SeriesSchedule, trees: list[int], messages: int) -> Iterator[int]:
    """Yield the tree of each message: the next of `trees` is the one that is furthest behind its share."""
    heap = [(1 / schedule.trees[number].weight, number) for number in trees]
    heapq.heapify(heap)
    for _ in range(messages):
        due, number = heap[0]
        yield number
        heapq.heapreplace(heap, (due + 1 / schedule.trees[number].weight, number))


def _edges_before(tree: SeriesTree) -> list[list[int]]:
    """Return, for each edge of a tree, the indices of the edges that its data arrives by.

    Inside a route this is the edge before. The first edge of a route waits for all routes that have ended on its node.
    """
    ends: dict[int, list[int]] = {}
    found: list[list[int]] = []
    for route in tree.routes:
        found.append(list(ends.get(route[0], [])))
        found += [[place] for place in range(len(found) - 1, len(found) + len(route) - 3)]
        ends.setdefault(route[-1], []).append(len(found) - 1)
    return found
