"""Messages through a periodic schedule, event by event: when does each reach every node?

The schedule is played period after period under the rule of §5.4.2: in a period a node passes on what had reached it
when the period began, in order. Played so, nothing is ever interrupted. A period that takes in far more messages than
there are can be played faster: each of its `cuts` equal parts goes through all rounds, each as much shorter; a link
whose turn ends within a message goes on with it in its next turn. Who talks to whom in a round stays as it is.

The simulator believes nothing of the schedule: it keeps the time until which each port is taken and refuses to start a
transfer on one that is, and it passes on what has arrived and nothing else. All times are exact.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from forestcoll.errors import InputError, InternalError
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.prices import Port, PortKind
from forestcoll.schedule.series.value import SeriesSchedule, Transfer

MOST_EVENTS = 50_000_000
"""The most transfers and arrivals that are played: tens of seconds."""

_FEWEST_CYCLES, _MOST_CYCLES, _EASY = 20, 200, 1_000_000


@dataclass(frozen=True)
class SeriesRun:
    """What happened to a number of messages.

    Attributes:
        messages: how many there were.
        cycles: how many times the rounds were gone through, whole or in part.
        cycle: how long each time took.
        completed: of each message, in the order in which the source sends them out, when it had reached every node.
    """

    messages: int
    cycles: int
    cycle: Fraction
    completed: tuple[Fraction, ...]

    @property
    def makespan(self) -> Fraction:
        """When the last message had reached every node."""
        return max(self.completed)

    @property
    def throughput(self) -> Fraction:
        """Messages in a unit of time, from the beginning to the end."""
        return self.messages / self.makespan


def play_series(schedule: SeriesSchedule, messages: int, *, cuts: int = 1, progress: Progress = SILENT) -> SeriesRun:
    """Return how `messages` messages fare in `schedule`, from idle to the last arrival.

    Args:
        schedule: a schedule that `verify` finds right.
        messages: how many, 1 or more.
        cuts: how many cycles a period is cut into; 1 plays it as it is. `good_cuts` has a suggestion.
        progress: is told how far it is.

    Raises:
        InputError: there is less than one message or cut, or far too much to play.
    """
    if messages < 1 or cuts < 1:
        raise InputError(f"{messages} messages and {cuts} cuts; there must be 1 or more of each")
    cycles = messages * cuts // schedule.messages + schedule.height
    transfers = sum(len(each.transfers) for each in schedule.rounds)
    if cycles * transfers + messages * len(schedule.trees[0].edges) > MOST_EVENTS:
        raise InputError(
            f"{schedule.topology.name}: {messages} messages are about {cycles * transfers:.2g} transfers; "
            "simulate fewer messages"
        )
    progress.begin("simulating")
    return _Simulator(schedule, messages, cuts).run(progress)


def good_cuts(schedule: SeriesSchedule, messages: int) -> int:
    """Return into how many cycles a period may be cut: short cycles fill sooner, but there are more of them to play."""
    transfers = sum(len(each.transfers) for each in schedule.rounds)
    cycles = min(_MOST_CYCLES, max(_FEWEST_CYCLES, _EASY // transfers))
    return max(1, -(-cycles * schedule.messages // messages))


class _Simulator:
    """The state. Progress is counted in parts of a message, `unit` of them, which makes every turn a whole number."""

    def __init__(self, schedule: SeriesSchedule, messages: int, cuts: int) -> None:
        self._schedule, self._messages = schedule, messages
        self._cycle = schedule.period / cuts
        bandwidths = {(link.source, link.target): link.bandwidth for link in schedule.topology.links}
        bandwidths_of = [[bandwidths[ends] for ends in tree.edges] for tree in schedule.trees]
        carried = [
            [each.duration / cuts * bandwidths_of[transfer.tree][transfer.edge] for transfer in each.transfers]
            for each in schedule.rounds
        ]
        self._unit = lcm(*(amount.denominator for amounts in carried for amount in amounts))
        self._turns = [[int(amount * self._unit) for amount in amounts] for amounts in carried]
        durations = [each.duration / cuts for each in schedule.rounds]
        paces = [[1 / (bandwidth * self._unit) for bandwidth in bandwidths] for bandwidths in bandwidths_of]
        # Times are whole numbers of 1/scale: what a part of a message takes, and every turn.
        self._scale = lcm(
            self._cycle.denominator,
            *(each.denominator for each in durations),
            *(each.denominator for tree in paces for each in tree),
        )
        self._durations = [int(each * self._scale) for each in durations]
        self._paces = [[int(each * self._scale) for each in tree] for tree in paces]
        self._sent = [[0] * len(tree.edges) for tree in schedule.trees]
        self._order = list(_in_order(schedule, messages))
        counts = [0] * len(schedule.trees)
        for tree in self._order:
            counts[tree] += 1
        self._arrivals: list[list[list[int]]] = [[[] for _ in tree.edges] for tree in schedule.trees]
        self._before = [_edges_before(tree.edges) for tree in schedule.trees]
        self._counts = counts
        self._taken: dict[Port, int] = {}
        self._ports = [[self._of_edge(ends) for ends in tree.edges] for tree in schedule.trees]

    def _of_edge(self, ends: tuple[int, int]) -> list[Port]:
        topology = self._schedule.topology
        source, target = ends
        ports = [Port(PortKind.LINK, source * len(topology.nodes) + target)]
        if topology.port_model == "one-port":
            ports += [Port(PortKind.SEND, source)] * topology.nodes[source].is_compute
            ports += [Port(PortKind.RECEIVE, target)] * topology.nodes[target].is_compute
        return ports

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
        """Go through the rounds once with what has arrived before."""
        ready = [
            [len(tree[before]) if before is not None else count for before in befores]
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
        """Send a part of the messages that wait, and note those that arrive."""
        sent = self._sent[transfer.tree]
        before = sent[transfer.edge]
        after = before + part
        sent[transfer.edge] = after
        pace = self._paces[transfer.tree][transfer.edge]
        arrivals = self._arrivals[transfer.tree][transfer.edge]
        for message in range(before // self._unit + 1, after // self._unit + 1):
            arrivals.append(begin + (message * self._unit - before) * pace)

    def _completed(self) -> Iterator[Fraction]:
        """Yield when each message had reached every node."""
        place = [0] * len(self._counts)
        for tree in self._order:
            yield Fraction(max(edge[place[tree]] for edge in self._arrivals[tree]), self._scale)
            place[tree] += 1


def _in_order(schedule: SeriesSchedule, messages: int) -> Iterator[int]:
    """Yield the tree of each message: next is the one whose share is most behind."""
    heap = [(1 / tree.weight, number) for number, tree in enumerate(schedule.trees)]
    heapq.heapify(heap)
    for _ in range(messages):
        due, number = heap[0]
        yield number
        heapq.heapreplace(heap, (due + 1 / schedule.trees[number].weight, number))


def _edges_before(edges: tuple[tuple[int, int], ...]) -> list[int | None]:
    """Return of each edge of a tree the place of the edge that brings what it passes on; None for the source's.

    Behind a switch that is the edge just before; elsewhere a node is entered once.
    """
    entered: dict[int, int] = {}
    found: list[int | None] = []
    for place, (source, target) in enumerate(edges):
        follows = place > 0 and edges[place - 1][1] == source
        found.append(place - 1 if follows else entered.get(source))
        entered[target] = place
    return found
