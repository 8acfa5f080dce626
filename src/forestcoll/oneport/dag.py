"""Broadcasts restricted to a directed acyclic graph (§4): the program SSBPDAG, and its trees.

In a DAG every node but the source must merely receive everything, from whom is its own choice: what comes before it
has everything as well. So the program needs no flows,

    maximise TP,   each node: sum of n over the links into it = TP,   each port: sum of n * c over its links <= 1,

n being the messages that a link carries in a unit of time; at a switch as much comes in as goes out. Trees follow
directly: every node cuts the messages of a unit of time, in their order, into one interval for each of those it
receives from (§4.3), and between two cuts all messages take the same tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.bounds.linear_program import LinearProgram, Row
from forestcoll.errors import InputError, InternalError, NoSolutionError, shown
from forestcoll.oneport.platform import Platform
from forestcoll.schedule.periodic import Port, SeriesTree
from forestcoll.topology import NodeId


@dataclass(frozen=True)
class DagOptimum:
    """The optimum of a series of broadcasts along links that lead forward in an order of the nodes.

    Attributes:
        order: all nodes, by number, the source first.
        throughput: messages in a unit of time, exact.
        rates: of each link the messages that it carries in a unit of time (n).
        trees: trees that carry them.
    """

    order: tuple[int, ...]
    throughput: Fraction
    rates: tuple[Fraction, ...]
    trees: tuple[SeriesTree, ...]


def dag_order(platform: Platform, ids: Sequence[NodeId]) -> tuple[int, ...]:
    """Return the order of nodes with these `ids` by number.

    Raises:
        InputError: it does not begin with the source, or a node is unknown, missing or there twice.
    """
    topology = platform.topology
    order = tuple(topology.named(each) for each in ids)
    if twice := next((node for place, node in enumerate(order) if node in order[:place]), None):
        raise InputError(f"{topology.name}: the order has node {shown(topology.nodes[twice].id)} twice")
    missing = [node for node in range(len(topology.nodes)) if node not in set(order)]
    if missing:
        raise InputError(f"{topology.name}: the order lacks node {shown(topology.nodes[missing[0]].id)}; add it")
    if order[0] != platform.source:
        source = shown(topology.nodes[platform.source].id)
        raise InputError(f"{topology.name}: the order must begin with the source, {source}")
    return order


def forward_links(platform: Platform, order: Sequence[int]) -> list[int]:
    """Return the numbers of the links that lead forward in `order`."""
    place = {node: number for number, node in enumerate(order)}
    return [number for number, link in enumerate(platform.topology.links) if place[link.source] < place[link.target]]


def dag_optimum(platform: Platform, order: Sequence[int]) -> DagOptimum:
    """Return the optimum along the links that lead forward in `order`, all nodes with the source first (SSBPDAG).

    Raises:
        NoSolutionError: a compute node has nobody before it to receive from.
    """
    links = forward_links(platform, order)
    _check_fed(platform, order, links)
    program = dag_program(platform, links)
    exact = program.exact(program.solve())
    if exact is None or not program.proves(*exact):
        raise InternalError("the linear program of a DAG was not solved exactly")
    values, _ = exact
    throughput = values[0] / _unit(platform)
    rates = [Fraction(0)] * len(platform.topology.links)
    for place, link in enumerate(links):
        rates[link] = values[1 + place] / _unit(platform)
    return DagOptimum(tuple(order), throughput, tuple(rates), dag_trees(platform, order, rates, throughput))


def _unit(platform: Platform) -> Fraction:
    """Return the cost that stands for 1, so that the numbers of the program are alike."""
    return min(platform.costs)


def dag_program(platform: Platform, links: Sequence[int]) -> LinearProgram:
    """Return SSBPDAG over `links`. Columns: the throughput, of each link its messages, and of each link its time."""
    topology, count = platform.topology, len(links)
    program = LinearProgram([1] + [0] * (2 * count))
    ports: dict[Port, dict[int, int]] = {}
    entered: list[dict[int, int]] = [{} for _ in topology.nodes]
    for place, number in enumerate(links):
        cost, link = platform.costs[number] / _unit(platform), topology.links[number]
        program.add(Row({1 + place: cost.numerator, 1 + count + place: -cost.denominator}, 0, 0))
        entered[link.target][1 + place] = 1
        if not topology.nodes[link.source].is_compute:
            entered[link.source][1 + place] = -1
        for port in platform.ports[number]:
            ports.setdefault(port, {})[1 + count + place] = 1
    for port in sorted(ports):
        program.add(Row(ports[port], None, 1))
    for number, node in enumerate(topology.nodes):
        if number != platform.source and entered[number]:
            program.add(Row(entered[number] | ({0: -1} if node.is_compute else {}), 0, 0))
    return program


def _check_fed(platform: Platform, order: Sequence[int], links: Sequence[int]) -> None:
    topology, reached = platform.topology, {platform.source}
    entering: dict[int, list[int]] = {}
    for number in links:
        entering.setdefault(topology.links[number].target, []).append(topology.links[number].source)
    for node in order[1:]:
        if any(before in reached for before in entering.get(node, [])):
            reached.add(node)
        elif topology.nodes[node].is_compute:
            raise NoSolutionError(
                f"{topology.name}: node {shown(topology.nodes[node].id)} has no link from a node before it in the order"
            )


Interval = tuple[Fraction, tuple[int, ...]]
"""How many messages, and the route from a compute node that they come along."""


def dag_trees(
    platform: Platform, order: Sequence[int], rates: Sequence[Fraction], throughput: Fraction
) -> tuple[SeriesTree, ...]:
    """Return trees that carry `rates`, fewer than there are links in use, in the order of their messages."""
    topology = platform.topology
    entering: dict[int, list[int]] = {node: [] for node in order}
    for number, link in enumerate(topology.links):
        if rates[number]:
            entering[link.target].append(number)
    passing: dict[int, list[Interval]] = {}
    received: dict[int, list[Interval]] = {}
    for node in order[1:]:
        arriving = [each for number in entering[node] for each in _over(platform, passing, number, rates[number])]
        (received if topology.nodes[node].is_compute else passing)[node] = arriving
    cuts = sorted({cut for node in received for cut in _ends(received[node])} | {throughput})
    trees = []
    begin = Fraction(0)
    for cut in cuts:
        routes = tuple(_route_at(received[node], begin) for node in order[1:] if node in received)
        trees.append(SeriesTree(cut - begin, routes))
        begin = cut
    return tuple(trees)


def _over(platform: Platform, passing: dict[int, list[Interval]], number: int, rate: Fraction) -> list[Interval]:
    """Return the routes of the messages over a link; from a switch, the next `rate` of those that came to it."""
    link = platform.topology.links[number]
    if platform.topology.nodes[link.source].is_compute:
        return [(rate, (link.source, link.target))]
    taken: list[Interval] = []
    waiting = passing.get(link.source, [])
    while rate:
        amount, route = waiting.pop(0)
        part = min(amount, rate)
        taken.append((part, (*route, link.target)))
        rate -= part
        if amount > part:
            waiting.insert(0, (amount - part, route))
    return taken


def _ends(intervals: Sequence[Interval]) -> list[Fraction]:
    ends, end = [], Fraction(0)
    for amount, _ in intervals:
        end += amount
        ends.append(end)
    return ends


def _route_at(intervals: Sequence[Interval], place: Fraction) -> tuple[int, ...]:
    """Return the route of the message at `place`."""
    ends = _ends(intervals)
    return next(route for end, (_, route) in zip(ends, intervals, strict=True) if place < end)
