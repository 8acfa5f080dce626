"""The judge of periodic schedules: one message at a time at each port, every message arrives, as fast as claimed.

It accepts a schedule from any source. From the network alone, it computes exactly which links exclude each other and
what they can carry. The rules are the tables at the end of this file.

Every edge carries all messages of its tree in every period, so a node can forward in one period what it received in the
period before. So each message reaches every node after as many periods as the height of its tree.
"""

import itertools
from fractions import Fraction
from math import lcm

from forestcoll.base.exact import exact_sum
from forestcoll.schedule.proof import PricesProof, Proof
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.schedule.series.value import SeriesSchedule, Transfer
from forestcoll.topology.graph.node_ports import BOUNDED, RECEIVE_LIMIT, SEND_LIMIT, shared_bandwidths
from forestcoll.verification.claims import Claim, is_optimal, wrong_collective, wrong_kind
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.prices import occupied
from forestcoll.verification.proof_checks.question import UnprovenError
from forestcoll.verification.report import SeriesReport
from forestcoll.verification.rule import Rule, first_fault, statements

_MOST_DIGITS = 100


PROOFS: tuple[type[Proof], ...] = (PricesProof,)
"""The kinds of proofs that bound a series of broadcasts."""


def judge_series(schedule: SeriesSchedule) -> SeriesReport:
    """Judge `schedule` by the rules, in order, up to the first that it breaks."""
    case = _Case(schedule)
    fault = first_fault(case, RULES) or first_fault(case.claim, CLAIMS)
    return SeriesReport(
        fault=fault,
        algbw=schedule.algbw,
        optimal=fault is None and is_optimal(schedule, schedule.algbw),
        bound=schedule.bound if fault is None else None,
    )


def series_rules() -> tuple[tuple[str, str], ...]:
    """Return the identifier and the statement of each rule, in the order in which they are applied."""
    return (*statements(RULES), *statements(CLAIMS))


class _Case:
    """The schedule with values that several rules use."""

    def __init__(self, schedule: SeriesSchedule) -> None:
        self.schedule = schedule
        self.topology = schedule.topology
        self.nodes = schedule.topology.nodes
        self.claim = Claim(schedule, Network(schedule.topology), schedule.algbw, PROOFS)
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

    def edge_text(self, transfer: Transfer) -> str:
        """Return a transfer as a message shows it."""
        one, other = self.ends(transfer)
        return f"{self.name(one)} -> {self.name(other)} of tree {transfer.tree}"

    def bandwidth(self, transfer: Transfer) -> Fraction:
        """Return the bandwidth of the link of a transfer while it is busy."""
        place = self.links[self.ends(transfer)]
        chosen = self.schedule.bandwidths
        return self.topology.links[place].bandwidth if chosen is None else chosen[place]

    def messages(self, transfer: Transfer, time: int) -> Fraction:
        """Return how many messages cross the link of a transfer in `time`, which is in units of 1/`scale`."""
        bandwidth = self.bandwidth(transfer)
        return Fraction(time * bandwidth.numerator, self.scale * bandwidth.denominator)

    def are_whole(self, transfer: Transfer, time: int) -> bool:
        """Return whether the number of messages of a transfer in `time` is an integer, without a long division."""
        bandwidth = self.bandwidth(transfer)
        return time * bandwidth.numerator % (self.scale * bandwidth.denominator) == 0


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
                return f"tree {number}: {case.name(route[0])} sends before it is reached"
            if route[-1] in reached or not case.nodes[route[-1]].is_compute:
                return f"tree {number}: {case.name(route[-1])} is entered twice, or is a switch"
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
    total = exact_sum(tree.weight for tree in schedule.trees) * schedule.period
    if total != schedule.messages:
        return f"the trees carry {_number(total)} messages a period; expected {schedule.messages}"
    return None


def _rounds(case: _Case) -> str | None:
    for number, each in enumerate(case.schedule.rounds):
        if each.duration <= 0:
            return f"round {number} takes {_number(each.duration)}; expected more than 0"
    total = Fraction(sum(case.times), case.scale)
    if total > case.schedule.period:
        return f"the rounds take {_number(total)} in total, more than the period of {_number(case.schedule.period)}"
    return None


def _bandwidths(case: _Case) -> str | None:
    chosen = case.schedule.bandwidths
    if chosen is None:
        return None
    if case.topology.port_model != BOUNDED:
        return "links have chosen bandwidths, which only bounded multi-port nodes need"
    if len(chosen) != len(case.topology.links):
        return f"there are {len(chosen)} bandwidths for {len(case.topology.links)} links"
    for link, bandwidth in zip(case.topology.links, chosen, strict=True):
        if not 0 < bandwidth <= link.bandwidth:
            ends = f"{case.name(link.source)} -> {case.name(link.target)}"
            return f"link {ends} has the bandwidth {_number(bandwidth)}; expected above 0, up to {link.bandwidth}"
    return None


def _shared(case: _Case) -> str | None:
    limits = {
        "sends": shared_bandwidths(case.topology, SEND_LIMIT),
        "receives": shared_bandwidths(case.topology, RECEIVE_LIMIT),
    }
    for number, each in enumerate(case.schedule.rounds):
        used: dict[tuple[str, int], Fraction] = {}
        for transfer in each.transfers:
            for key in zip(limits, case.ends(transfer), strict=True):
                used[key] = used.get(key, Fraction(0)) + case.bandwidth(transfer)
        for (verb, node), bandwidth in used.items():
            most = limits[verb].get(node)
            if most is not None and bandwidth > most:
                return f"round {number}: {case.name(node)} {verb} with {_number(bandwidth)}, more than {most}"
    return None


def _ports(case: _Case) -> str | None:
    for number, each in enumerate(case.schedule.rounds):
        taken: dict[Port, Transfer] = {}
        for transfer in each.transfers:
            for port in occupied(case.topology, case.links[case.ends(transfer)]):
                if port in taken:
                    both = f"{case.edge_text(taken[port])}, {case.edge_text(transfer)}"
                    return f"round {number}: {_excluded(case, port)} ({both})"
                taken[port] = transfer
    return None


def _excluded(case: _Case, port: Port) -> str:
    if port.kind is PortKind.LINK:
        return "a link is used twice at the same time"
    verb = {PortKind.SEND: "sends", PortKind.RECEIVE: "receives"}.get(port.kind, "sends or receives")
    return f"{case.name(port.number)} {verb} two messages at the same time"


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
                found = f"{case.edge_text(transfer)} carries {_number(carried)} messages a period"
                return f"{found}; expected {_number(wanted)}"
    return None


def _whole_messages(case: _Case) -> str | None:
    going: dict[Transfer, int] = {}
    for number, each in enumerate(case.schedule.rounds):
        stays = {transfer: going.get(transfer, 0) + case.times[number] for transfer in each.transfers}
        for transfer, time in going.items():
            if transfer not in stays and not case.are_whole(transfer, time):
                return f"{case.edge_text(transfer)} is interrupted within a message when round {number} begins"
        going = stays
    return None  # by the rules before, the messages of a period are whole, so those at the end of the period are too


def _certificate(claim: Claim) -> str | None:
    found = wrong_collective(claim) or wrong_kind(claim)
    if found is not None or claim.proof is None:
        return found
    try:
        _ = claim.proven
    except UnprovenError as failure:
        return str(failure)
    return None


def _optimum(claim: Claim) -> str | None:
    bound = claim.schedule.bound
    if bound is None:
        return None
    if bound.algbw != claim.proven:
        return f"the certificate proves {_number(claim.proven)}, not the claimed {_number(bound.algbw)}"
    if claim.achieved is not None and claim.achieved > bound.algbw:
        return f"the throughput is above the {_number(bound.algbw)} that the certificate proves"
    return None


RULES: tuple[Rule[_Case], ...] = (
    Rule("source", "The source is a compute node.", _source),
    Rule(
        "trees",
        "Each tree follows links. It enters each compute node except the source exactly once, from a node that it has "
        "already reached.",
        _trees,
    ),
    Rule(
        "weights",
        "Weights are greater than 0, give integer numbers of messages per period, and add up to the messages of a "
        "period.",
        _weights,
    ),
    Rule("rounds", "Durations are greater than 0 and fit into the period.", _rounds),
    Rule(
        "ports",
        "In no round does a node with one sending port send to two nodes, or a node with one receiving port receive "
        "from two nodes. A half-duplex node uses at most one of its links in a round. No link is used twice in a "
        "round.",
        _ports,
    ),
    Rule(
        "bandwidths",
        "Only in a bounded multi-port model, links have chosen bandwidths, which are at most their own.",
        _bandwidths,
    ),
    Rule(
        "shared",
        "In no round do the busy links of a bounded multi-port node exceed its bandwidth to send or to receive.",
        _shared,
    ),
    Rule(
        "work",
        "Each edge of each tree is busy for the time that the messages of the tree take over its link.",
        _work,
    ),
    Rule(
        "whole-messages",
        "A link that starts to serve a tree continues until its messages are complete.",
        _whole_messages,
    ),
)
CLAIMS: tuple[Rule[Claim], ...] = (
    Rule(
        "certificate",
        "Prices and weights of cuts are greater than 0, odd sets are sets of half-duplex nodes, and each link costs at "
        "least the sum of the weights of the cuts that it enters.",
        _certificate,
    ),
    Rule("optimum", "The certificate proves the claimed optimum.", _optimum),
)
