"""The verifier of periodic schedules: one message at a time at each port, every message arrives, as fast as claimed.

It accepts a schedule from any source. From the network alone, it computes exactly which links exclude each other and
what they can carry. The rules are the tables at the end of this file.

Every edge carries all messages of its tree in every period, so a node can forward in one period what it received in the
period before. So each message reaches every node after as many periods as the height of its tree. In a reduce or a
reduce-scatter, a node sends in a period what it could add up before the period.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import PricesProof, Proof
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.schedule.series.value import SeriesSchedule, SeriesTree, Transfer
from forestcoll.topology.graph.node_ports import RECEIVE_LIMIT, SEND_LIMIT, shared_bandwidths
from forestcoll.topology.model import BOUNDED
from forestcoll.verification.claims import Claim, is_optimal, wrong_collective, wrong_kind
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.prices import occupied
from forestcoll.verification.proof_checks.question import UnprovenError
from forestcoll.verification.report import SeriesReport
from forestcoll.verification.rule import Rule, first_fault, statements

_MOST_DIGITS = 100


PROOFS: tuple[type[Proof], ...] = (PricesProof,)
"""The kinds of proofs that bound a series of broadcasts."""


def verify_series(schedule: SeriesSchedule) -> SeriesReport:
    """Verify `schedule` by the rules, in order, up to the first that it breaks."""
    context = _Context(schedule)
    fault = first_fault(context, RULES) or first_fault(context.claim, CLAIMS)
    return SeriesReport(
        fault=fault,
        algbw=schedule.algbw,
        throughput=schedule.throughput,
        optimal=fault is None and is_optimal(schedule, schedule.algbw),
        bound=schedule.bound if fault is None else None,
    )


def series_rules() -> tuple[tuple[str, str], ...]:
    """Return the identifier and the statement of each rule, in the order in which they are applied."""
    return (*statements(RULES), *statements(CLAIMS))


class _Context:
    """The schedule with values that several rules use."""

    def __init__(self, schedule: SeriesSchedule) -> None:
        self.schedule = schedule
        self.topology = schedule.topology
        self.nodes = schedule.topology.nodes
        self.claim = Claim(schedule, Network(schedule.topology), schedule.algbw, PROOFS)
        self.links = schedule.topology.link_numbers
        durations = [each.duration for each in schedule.rounds]
        self.scale = lcm(*(duration.denominator for duration in durations))
        self.times = [int(duration * self.scale) for duration in durations]

    @property
    def path_only(self) -> bool:
        """Whether each message goes to or comes from one node."""
        return self.schedule.collective in {Collective.SCATTER, Collective.GATHER}

    def outward(self, tree: SeriesTree) -> tuple[tuple[int, ...], ...]:
        """Return the routes of a tree from its root, those of a tree to its root reversed."""
        if self.schedule.collective not in {Collective.REDUCE, Collective.GATHER, Collective.REDUCE_SCATTER}:
            return tree.routes
        return tuple(route[::-1] for route in tree.routes[::-1])

    def group(self, tree: SeriesTree) -> int | None:
        """Return the node whose messages the tree carries: its end on a path, its root if all nodes are roots."""
        routes = self.outward(tree)
        if self.path_only:
            return routes[-1][-1]
        return routes[0][0] if self.schedule.source is None else None

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


def _source(context: _Context) -> str | None:
    source = context.schedule.source
    if source is None:
        return None
    return None if context.nodes[source].is_compute else f"the source {context.name(source)} is a switch"


def _trees(context: _Context) -> str | None:
    for number, tree in enumerate(context.schedule.trees):
        fault = _wrong_links(context, tree) or _wrong_order(context, tree)
        if fault is not None:
            return f"tree {number}{fault}"
    return None


def _wrong_links(context: _Context, tree: SeriesTree) -> str | None:
    missing = next((ends for ends in tree.edges if ends not in context.links), None)
    if missing is not None:
        return f": there is no link {context.name(missing[0])} -> {context.name(missing[1])}"
    if any(context.nodes[node].is_compute for route in tree.routes for node in route[1:-1]):
        return ": a route goes through a compute node"
    return None if tree.routes else " has no edges"


def _wrong_order(context: _Context, tree: SeriesTree) -> str | None:
    routes, source = context.outward(tree), context.schedule.source
    here = routes[0][0] if source is None else source
    reached = {here}
    for route in routes:
        if route[0] not in reached:
            return f": {context.name(route[0])} sends before it is reached"
        if route[-1] in reached or not context.nodes[route[-1]].is_compute:
            return f": {context.name(route[-1])} is entered twice, or is a switch"
        if context.path_only and route[0] != here:
            return f" is not a path: it branches at {context.name(route[0])}"
        here = route[-1]
        reached.add(here)
    missed = next((node for node in context.topology.compute if node not in reached), None)
    return None if context.path_only or missed is None else f" does not reach {context.name(missed)}"


def _weights(context: _Context) -> str | None:
    schedule = context.schedule
    for number, tree in enumerate(schedule.trees):
        count = tree.weight * schedule.period
        if count <= 0 or count.denominator > 1:
            return f"tree {number}: its weight makes {_number(count)} messages a period; expected 1 or more, whole"
    groups: dict[int | None, list[Fraction]] = {node: [] for node in _groups(context)}
    for tree in schedule.trees:
        groups[context.group(tree)].append(tree.weight)
    for node, weights in groups.items():
        total = exact_sum(weights) * schedule.period
        if total != schedule.messages:
            of = "" if node is None else f" of {context.name(node)}"
            return f"the trees{of} carry {_number(total)} messages a period; expected {schedule.messages}"
    return None


def _groups(context: _Context) -> Iterable[int | None]:
    """Return the nodes that have messages of their own in each operation, or None for one message of the source."""
    if context.path_only or context.schedule.source is None:
        return [node for node in context.topology.compute if node != context.schedule.source]
    return [None]


def _rounds(context: _Context) -> str | None:
    for number, each in enumerate(context.schedule.rounds):
        if each.duration <= 0:
            return f"round {number} takes {_number(each.duration)}; expected more than 0"
    total = Fraction(sum(context.times), context.scale)
    if total > context.schedule.period:
        return f"the rounds take {_number(total)} in total, more than the period of {_number(context.schedule.period)}"
    return None


def _bandwidths(context: _Context) -> str | None:
    chosen = context.schedule.bandwidths
    if chosen is None:
        return None
    if context.topology.port_model != BOUNDED:
        return "links have chosen bandwidths, which only bounded multi-port nodes need"
    if len(chosen) != len(context.topology.links):
        return f"there are {len(chosen)} bandwidths for {len(context.topology.links)} links"
    for link, bandwidth in zip(context.topology.links, chosen, strict=True):
        if not 0 < bandwidth <= link.bandwidth:
            ends = f"{context.name(link.source)} -> {context.name(link.target)}"
            return f"link {ends} has the bandwidth {_number(bandwidth)}; expected above 0, up to {link.bandwidth}"
    return None


def _shared(context: _Context) -> str | None:
    limits = {
        "sends": shared_bandwidths(context.topology, SEND_LIMIT),
        "receives": shared_bandwidths(context.topology, RECEIVE_LIMIT),
    }
    for number, each in enumerate(context.schedule.rounds):
        used: dict[tuple[str, int], Fraction] = {}
        for transfer in each.transfers:
            for key in zip(limits, context.ends(transfer), strict=True):
                used[key] = used.get(key, Fraction(0)) + context.bandwidth(transfer)
        for (verb, node), bandwidth in used.items():
            most = limits[verb].get(node)
            if most is not None and bandwidth > most:
                return f"round {number}: {context.name(node)} {verb} with {_number(bandwidth)}, more than {most}"
    return None


def _ports(context: _Context) -> str | None:
    for number, each in enumerate(context.schedule.rounds):
        taken: dict[Port, Transfer] = {}
        for transfer in each.transfers:
            for port in occupied(context.topology, context.links[context.ends(transfer)]):
                if port in taken:
                    both = f"{context.edge_text(taken[port])}, {context.edge_text(transfer)}"
                    return f"round {number}: {_excluded(context, port)} ({both})"
                taken[port] = transfer
    return None


def _excluded(context: _Context, port: Port) -> str:
    if port.kind is PortKind.LINK:
        return "a link is used twice at the same time"
    verb = {PortKind.SEND: "sends", PortKind.RECEIVE: "receives"}.get(port.kind, "sends or receives")
    return f"{context.name(port.number)} {verb} two messages at the same time"


def _work(context: _Context) -> str | None:
    busy: dict[Transfer, int] = {}
    for each, time in zip(context.schedule.rounds, context.times, strict=True):
        for transfer in each.transfers:
            busy[transfer] = busy.get(transfer, 0) + time
    for number, tree in enumerate(context.schedule.trees):
        wanted = tree.weight * context.schedule.period
        for place in range(len(tree.edges)):
            transfer = Transfer(number, place)
            carried = context.messages(transfer, busy.get(transfer, 0))
            if carried != wanted:
                found = f"{context.edge_text(transfer)} carries {_number(carried)} messages a period"
                return f"{found}; expected {_number(wanted)}"
    return None


def _whole_messages(context: _Context) -> str | None:
    going: dict[Transfer, int] = {}
    for number, each in enumerate(context.schedule.rounds):
        stays = {transfer: going.get(transfer, 0) + context.times[number] for transfer in each.transfers}
        for transfer, time in going.items():
            if transfer not in stays and not context.are_whole(transfer, time):
                return f"{context.edge_text(transfer)} is interrupted within a message when round {number} begins"
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
    parts = len(claim.network.topology.compute) if claim.schedule.collective.has_shards else 1
    proven, claimed = claim.proven / parts, bound.algbw / parts
    if claimed != proven:
        return f"the certificate proves {_number(proven)}, not the claimed {_number(claimed)}"
    if claim.achieved is not None and claim.achieved > bound.algbw:
        return f"the throughput is above the {_number(claimed)} that the certificate proves"
    return None


RULES: tuple[Rule[_Context], ...] = (
    Rule("source", "The source is a compute node.", _source),
    Rule(
        "trees",
        "Each tree follows links. It enters each compute node except its root exactly once, from a node that it has "
        "already reached. A tree to a root is such a tree reversed. In a scatter or a gather, a tree is a path.",
        _trees,
    ),
    Rule(
        "weights",
        "Weights are greater than 0, give integer numbers of messages per period, and add up to the messages of a "
        "period: for each other node in a scatter or a gather, for each root in an allgather or a reduce-scatter.",
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
        "least the sum of the weights of the cuts that it enters, or leaves towards a root.",
        _certificate,
    ),
    Rule("optimum", "The certificate proves the claimed optimum.", _optimum),
)
