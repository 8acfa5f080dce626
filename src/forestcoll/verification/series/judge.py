"""The judge of periodic schedules: one message at a time at each port, everything arrives, as fast as claimed.

It takes a schedule that anyone wrote and works out anew, exactly and from the network alone, which links exclude each
other and what they can carry. The rules, in order:

| rule | holds if |
| --- | --- |
| `source` | the source is a compute node |
| `trees` | each tree follows links, enters each compute node but the source once, from one that it reached before |
| `weights` | weights are above 0, are whole messages a period, and add up to the messages of a period |
| `rounds` | durations are above 0 and fit into the period |
| `ports` | in no round does a node send to two, or receive from two, where it is one-port; no link is used twice |
| `work` | each edge of each tree is busy for as long as the tree's messages take over its link |
| `whole-messages` | a link that begins to serve a tree goes on until messages are through |
| `certificate` | prices and cuts are above 0, and no link costs less than the cuts that it enters |
| `optimum` | the certificate proves the optimum that is claimed |

As every edge carries all messages of its tree in every period, what a node received in one period can be sent on in the
next, so each message is everywhere after as many periods as its tree is high.
"""

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from forestcoll.proof.prices import Port, PortKind
from forestcoll.schedule.series.value import SeriesSchedule, Transfer
from forestcoll.verification.report import Fault

_ONE_PORT = "one-port"
_MOST_DIGITS = 100


@dataclass(frozen=True, slots=True)
class SeriesReport:
    """The judgement of a periodic schedule.

    Attributes:
        fault: the first broken rule, or None if the schedule is right.
        throughput: messages in a unit of time.
        optimal: whether the schedule is right and reaches the bound that its certificate proves.
    """

    fault: Fault | None
    throughput: Fraction
    optimal: bool = False

    @property
    def ok(self) -> bool:
        """Whether every rule holds."""
        return self.fault is None


def verify_series(schedule: SeriesSchedule) -> SeriesReport:
    """Judge `schedule` by the rules, in order, up to the first that it breaks."""
    case = _Case(schedule)
    for rule, find in _RULES:
        if (message := find(case)) is not None:
            return SeriesReport(Fault(rule, message), schedule.throughput)
    proven = None if schedule.certificate is None else schedule.certificate.throughput
    return SeriesReport(None, schedule.throughput, optimal=proven == schedule.throughput)


class _Case:
    """The schedule with what several rules ask of it."""

    def __init__(self, schedule: SeriesSchedule) -> None:
        self.schedule = schedule
        self.topology = schedule.topology
        self.nodes = schedule.topology.nodes
        self.links = {(link.source, link.target): place for place, link in enumerate(schedule.topology.links)}
        durations = [each.duration for each in schedule.rounds]
        self.scale = lcm(*(duration.denominator for duration in durations))
        self.times = [int(duration * self.scale) for duration in durations]

    def name(self, node: int) -> str:
        """Return the id of a node as a message shows it."""
        return _cut(repr(self.nodes[node].id))

    def ends(self, transfer: Transfer) -> tuple[int, int]:
        """Return the link of a transfer."""
        return self.schedule.trees[transfer.tree].edges[transfer.edge]

    def way(self, transfer: Transfer) -> str:
        """Return a transfer as a message shows it."""
        one, other = self.ends(transfer)
        return f"{self.name(one)} -> {self.name(other)} of tree {transfer.tree}"

    def messages(self, transfer: Transfer, time: int) -> Fraction:
        """Return how many messages go over the link of a transfer in `time`, in units of 1/`scale`."""
        bandwidth = self.topology.links[self.links[self.ends(transfer)]].bandwidth
        return Fraction(time * bandwidth.numerator, self.scale * bandwidth.denominator)

    def are_whole(self, transfer: Transfer, time: int) -> bool:
        """Return whether the messages of a transfer in `time` are whole, without a long division."""
        bandwidth = self.topology.links[self.links[self.ends(transfer)]].bandwidth
        return time * bandwidth.numerator % (self.scale * bandwidth.denominator) == 0

    def occupied(self, link: int) -> Iterator[Port]:
        """Yield what a busy link excludes others from: itself, and ports of compute nodes that have one each way."""
        yield Port(PortKind.LINK, link)
        if self.topology.port_model == _ONE_PORT:
            ends = self.topology.links[link]
            if self.nodes[ends.source].is_compute:
                yield Port(PortKind.SEND, ends.source)
            if self.nodes[ends.target].is_compute:
                yield Port(PortKind.RECEIVE, ends.target)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_DIGITS else f"{text[:_MOST_DIGITS]}..."


def _number(value: Fraction) -> str:
    return _cut(str(value))


def _source(case: _Case) -> str | None:
    source = case.schedule.source
    return None if case.nodes[source].is_compute else f"the source {case.name(source)} is a switch"


def _trees(case: _Case) -> str | None:
    for number, tree in enumerate(case.schedule.trees):
        reached = {case.schedule.source}
        for route in tree.routes:
            for ends in itertools.pairwise(route):
                if ends not in case.links:
                    return f"tree {number}: there is no link {case.name(ends[0])} -> {case.name(ends[1])}"
            if any(case.nodes[node].is_compute for node in route[1:-1]):
                return f"tree {number}: a route goes through a compute node"
            if route[0] not in reached:
                return f"tree {number}: {case.name(route[0])} sends on before it is reached"
            if route[-1] in reached or not case.nodes[route[-1]].is_compute:
                return f"tree {number}: {case.name(route[-1])} is entered twice, or is no compute node"
            reached.add(route[-1])
        missed = next((node for node in case.topology.compute if node not in reached), None)
        if missed is not None:
            return f"tree {number} does not reach {case.name(missed)}"
    return None


def _weights(case: _Case) -> str | None:
    schedule = case.schedule
    for number, tree in enumerate(schedule.trees):
        count = tree.weight * schedule.period
        if count <= 0 or count.denominator > 1:
            return f"tree {number}: its weight makes {_number(count)} messages a period; expected 1 or more, whole"
    total = sum((tree.weight for tree in schedule.trees), Fraction(0)) * schedule.period
    if total != schedule.messages:
        return f"the trees take {_number(total)} messages a period, not {schedule.messages}"
    return None


def _rounds(case: _Case) -> str | None:
    for number, each in enumerate(case.schedule.rounds):
        if each.duration <= 0:
            return f"round {number} takes {_number(each.duration)}; expected more than 0"
    total = Fraction(sum(case.times), case.scale)
    if total > case.schedule.period:
        return f"the rounds take {_number(total)} together, more than the period of {_number(case.schedule.period)}"
    return None


def _ports(case: _Case) -> str | None:
    for number, each in enumerate(case.schedule.rounds):
        taken: dict[Port, Transfer] = {}
        for transfer in each.transfers:
            for port in case.occupied(case.links[case.ends(transfer)]):
                if port in taken:
                    return f"round {number}: {_excluded(case, port)} ({case.way(taken[port])}, {case.way(transfer)})"
                taken[port] = transfer
    return None


def _excluded(case: _Case, port: Port) -> str:
    if port.kind is PortKind.LINK:
        return "a link is used twice at once"
    verb = "sends" if port.kind is PortKind.SEND else "receives"
    return f"{case.name(port.number)} {verb} two messages at once"


def _work(case: _Case) -> str | None:
    busy: dict[Transfer, int] = {}
    for each, time in zip(case.schedule.rounds, case.times, strict=True):
        for transfer in each.transfers:
            busy[transfer] = busy.get(transfer, 0) + time
    for number, tree in enumerate(case.schedule.trees):
        wanted = tree.weight * case.schedule.period
        for place in range(len(tree.edges)):
            transfer = Transfer(number, place)
            carried = case.messages(transfer, busy.get(transfer, 0))
            if carried != wanted:
                return f"{case.way(transfer)} carries {_number(carried)} messages a period; expected {_number(wanted)}"
    return None


def _whole_messages(case: _Case) -> str | None:
    going: dict[Transfer, int] = {}
    for number, each in enumerate(case.schedule.rounds):
        stays = {transfer: going.get(transfer, 0) + case.times[number] for transfer in each.transfers}
        for transfer, time in going.items():
            if transfer not in stays and not case.are_whole(transfer, time):
                return f"{case.way(transfer)} is interrupted within a message when round {number} begins"
        going = stays
    for transfer, time in going.items():
        if not case.are_whole(transfer, time):
            return f"{case.way(transfer)} is interrupted within a message at the end of the period"
    return None


def _certificate(case: _Case) -> str | None:
    certificate = case.schedule.certificate
    if certificate is None:
        return None
    if any(price <= 0 for _, price in certificate.prices) or any(weight <= 0 for weight, _ in certificate.cuts):
        return "a price or the weight of a cut is 0 or less"
    if len({port for port, _ in certificate.prices}) < len(certificate.prices):
        return "a port has two prices"
    if not certificate.cuts or not all(_is_cut(case, cut) for _, cut in certificate.cuts):
        return "there is no cut, or one is empty or holds the source or a switch"
    return _cheap_way(case)


def _is_cut(case: _Case, cut: tuple[int, ...]) -> bool:
    return bool(cut) and case.schedule.source not in cut and all(case.nodes[node].is_compute for node in cut)


def _optimum(case: _Case) -> str | None:
    schedule = case.schedule
    if schedule.certificate is None:
        return None if schedule.optimal_throughput is None else "an optimal throughput is claimed without a certificate"
    bound = schedule.certificate.throughput
    if schedule.optimal_throughput is not None and bound != schedule.optimal_throughput:
        return f"the certificate proves {_number(bound)}, not {_number(schedule.optimal_throughput)}"
    if schedule.throughput > bound:
        return f"the throughput is above the {_number(bound)} that the certificate proves"
    return None


def _cheap_way(case: _Case) -> str | None:
    """Return what is wrong if a way between compute nodes costs less than the cuts that it enters."""
    certificate = case.schedule.certificate
    if certificate is None:
        return None
    prices = dict(certificate.prices)
    costs = [
        sum((prices.get(port, Fraction(0)) for port in case.occupied(number)), Fraction(0)) / link.bandwidth
        for number, link in enumerate(case.topology.links)
    ]
    entered: dict[int, dict[int, Fraction]] = {node: {} for node in case.topology.compute}
    for number, (weight, cut) in enumerate(certificate.cuts):
        for node in cut:
            entered[node][number] = weight
    leaving: dict[int, list[tuple[int, Fraction]]] = {}
    for link, cost in zip(case.topology.links, costs, strict=True):
        leaving.setdefault(link.source, []).append((link.target, cost))
    for node in case.topology.compute:
        for target, cost in _ways(case, leaving, node):
            due = sum(weight for number, weight in entered[target].items() if number not in entered[node])
            if cost < due:
                return (
                    f"{case.name(node)} -> {case.name(target)} costs {_number(cost)} at the certificate's prices, less "
                    f"than the {_number(Fraction(due))} of the cuts that it enters"
                )
    return None


def _ways(case: _Case, leaving: dict[int, list[tuple[int, Fraction]]], start: int) -> Iterator[tuple[int, Fraction]]:
    """Yield the compute nodes that `start` reaches without another on the way, and the least cost."""
    if not case.topology.switches:
        yield from leaving.get(start, [])
        return
    heap = [(Fraction(0), start)]
    done: set[int] = set()
    while heap:
        cost, node = heapq.heappop(heap)
        if node in done:
            continue
        done.add(node)
        if node != start and case.nodes[node].is_compute:
            yield node, cost
            continue
        for target, more in leaving.get(node, []):
            heapq.heappush(heap, (cost + more, target))


_RULES: tuple[tuple[str, Callable[[_Case], str | None]], ...] = (
    ("source", _source),
    ("trees", _trees),
    ("weights", _weights),
    ("rounds", _rounds),
    ("ports", _ports),
    ("work", _work),
    ("whole-messages", _whole_messages),
    ("certificate", _certificate),
    ("optimum", _optimum),
)
