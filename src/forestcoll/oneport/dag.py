"""Broadcasts restricted to a directed acyclic graph (§4): the program SSBPDAG, and its trees.

In a DAG every node but the source must merely receive everything, from whom is its own choice: what comes before it
has everything as well. So the program needs no flows,

    maximise TP,   each node: sum of n over the links into it = TP,   each port: sum of n * c over its links <= 1,

n being the messages that a link carries in a unit of time. Where there are switches, the graph is that of the compute
nodes, and what a node receives through switches is a flow of its own from nodes before it: n has a column for each
link at a switch and each node behind it.

Where bandwidths are too far apart for floating point, the program over trees (`optimum`) is asked instead, in which
each node then takes the cheapest way from a node before it.

Trees follow directly: every node cuts the messages of a unit of time, in their order, into one interval for each way
that it receives on (§4.3), and between two cuts all messages take the same tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from forestcoll.errors import InputError, NoSolutionError, shown
from forestcoll.exact_lp.linear_program import LinearProgram, Row
from forestcoll.oneport.logical import logical_arcs
from forestcoll.oneport.optimum import optimum_by_prices
from forestcoll.oneport.packing import rates_of
from forestcoll.oneport.platform import Platform
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.topology import NodeId

if TYPE_CHECKING:
    from forestcoll.proof.prices import Port


Way = tuple[int, int]
"""A link, and the compute node that what goes over it is for."""

Share = tuple[Fraction, tuple[int, ...]]
"""How many messages, and the route from a compute node that they come along."""


@dataclass(frozen=True)
class DagOptimum:
    """The optimum of a series of broadcasts along links that lead forward in an order of the nodes.

    Attributes:
        order: all compute nodes, by number, the source first.
        throughput: messages in a unit of time, exact.
        rates: of each link the messages that it carries in a unit of time (n).
        trees: trees that carry them.
    """

    order: tuple[int, ...]
    throughput: Fraction
    rates: tuple[Fraction, ...]
    trees: tuple[SeriesTree, ...]


def dag_order(platform: Platform, ids: Sequence[NodeId]) -> tuple[int, ...]:
    """Return the order of compute nodes with these `ids` by number.

    Raises:
        InputError: it does not begin with the source, or a node is unknown, a switch, missing or there twice.
    """
    topology = platform.topology
    order = tuple(topology.named(each) for each in ids)
    for place, node in enumerate(order):
        if node in order[:place]:
            raise InputError(f"{topology.name}: the order has node {shown(topology.nodes[node].id)} twice")
        if not topology.nodes[node].is_compute:
            raise InputError(f"{topology.name}: the order has switch {shown(topology.nodes[node].id)}; leave it out")
    missing = [node for node in topology.compute if node not in set(order)]
    if missing:
        raise InputError(f"{topology.name}: the order lacks node {shown(topology.nodes[missing[0]].id)}; add it")
    if order[0] != platform.source:
        source = shown(topology.nodes[platform.source].id)
        raise InputError(f"{topology.name}: the order must begin with the source, {source}")
    return order


def dag_optimum(platform: Platform, order: Sequence[int]) -> DagOptimum:
    """Return the optimum along the ways that lead forward in `order`: all compute nodes, the source first (SSBPDAG).

    Raises:
        NoSolutionError: a compute node has nobody before it to receive from.
    """
    forward = replace(platform, order=tuple(order))
    _check_fed(forward)
    ways = forward_ways(platform, order)
    program = dag_program(platform, ways)
    solution = program.attempt()
    exact = None if solution is None else program.exact(solution)
    if exact is None or not program.proves(*exact):  # bandwidths are too far apart for floating point
        best = optimum_by_prices(forward)
        return DagOptimum(forward.order, best.throughput, tuple(rates_of(platform, best.trees)), best.trees)
    values, unit = exact[0], min(platform.costs)
    throughput = values[0] / unit
    carried = {way: values[1 + place] / unit for place, way in enumerate(ways) if values[1 + place]}
    rates = [Fraction(0)] * len(platform.topology.links)
    for (link, _), amount in carried.items():
        rates[link] += amount
    return DagOptimum(forward.order, throughput, tuple(rates), _trees(platform, order, carried, throughput))


def _check_fed(platform: Platform) -> None:
    """Check that each compute node has one before it in the order that it can receive from."""
    fed = {head for _, head in logical_arcs(platform, platform.costs).arcs}
    unfed = next((node for node in platform.order[1:] if node not in fed), None)
    if unfed is not None:
        name = shown(platform.topology.nodes[unfed].id)
        raise NoSolutionError(f"{platform.topology.name}: node {name} has no link from a node before it in the order")


def forward_ways(platform: Platform, order: Sequence[int]) -> list[Way]:
    """Return each link with each node that it may carry messages for, if they come from a node before that one."""
    return list(_ways(platform, {node: number for number, node in enumerate(order)}))


def _ways(platform: Platform, place: Mapping[int, int]) -> Iterator[Way]:
    for number, link in enumerate(platform.topology.links):
        for node in [link.target] if link.target in place else platform.destinations:
            if node != platform.source and (link.source not in place or place[link.source] < place[node]):
                yield number, node


def dag_program(platform: Platform, ways: Sequence[Way]) -> LinearProgram:
    """Return SSBPDAG. Columns: the throughput, of each of `ways` its messages, and of each link its time.

    The least cost stands for 1, so that the numbers of the program are alike.
    """
    topology, unit = platform.topology, min(platform.costs)
    links = sorted({link for link, _ in ways})
    time_of = {link: 1 + len(ways) + place for place, link in enumerate(links)}
    program = LinearProgram([1] + [0] * (len(ways) + len(links)))
    sums: dict[int, dict[int, int]] = {link: {} for link in links}
    kept: dict[tuple[int, int], dict[int, int]] = {}
    for place, (link, node) in enumerate(ways):
        sums[link][1 + place] = (platform.costs[link] / unit).numerator
        ends = topology.links[link]
        kept.setdefault((ends.target, node), {})[1 + place] = 1
        if not topology.nodes[ends.source].is_compute:
            kept.setdefault((ends.source, node), {})[1 + place] = -1
    ports: dict[Port, dict[int, int]] = {}
    for link in links:
        program.add(Row(sums[link] | {time_of[link]: -(platform.costs[link] / unit).denominator}, 0, 0))
        for port in platform.ports[link]:
            ports.setdefault(port, {})[time_of[link]] = 1
    for port in sorted(ports):
        program.add(Row(ports[port], None, 1))
    for node in platform.destinations:
        program.add(Row(kept.pop((node, node), {}) | {0: -1}, 0, 0))
    for switched in sorted(kept):
        program.add(Row(kept[switched], 0, 0))
    return program


def _trees(
    platform: Platform, order: Sequence[int], carried: Mapping[Way, Fraction], throughput: Fraction
) -> tuple[SeriesTree, ...]:
    """Return trees that carry what is `carried`, in the order of their messages."""
    received = {node: _shares(platform, node, carried) for node in order[1:]}
    cuts = sorted({cut for shares in received.values() for cut in _ends(shares)} | {throughput})
    trees = []
    begin = Fraction(0)
    for cut in cuts:
        routes = tuple(_route_at(received[node], begin) for node in order[1:])
        trees.append(SeriesTree(cut - begin, routes))
        begin = cut
    return tuple(trees)


def _shares(platform: Platform, node: int, carried: Mapping[Way, Fraction]) -> list[Share]:
    """Return the routes on which `node` receives: the flow for it taken apart, path by path, from its end."""
    links, nodes = platform.topology.links, platform.topology.nodes
    entering: dict[int, list[int]] = {}
    left: dict[int, Fraction] = {}
    for (link, for_), amount in sorted(carried.items()):
        if for_ == node:
            entering.setdefault(links[link].target, []).append(link)
            left[link] = amount
    shares = []
    while any(left[link] for link in entering.get(node, [])):
        path: list[int] = []
        here = node
        while here == node or not nodes[here].is_compute:
            link = next(link for link in entering[here] if left[link])
            if link in path:  # messages that go round among switches
                path = path[path.index(link) :]
                break
            path.append(link)
            here = links[link].source
        amount = min(left[link] for link in path)
        for link in path:
            left[link] -= amount
        if links[path[0]].target == node:
            shares.append((amount, (here, *(links[link].target for link in reversed(path)))))
    return shares


def _ends(shares: Sequence[Share]) -> list[Fraction]:
    ends, end = [], Fraction(0)
    for amount, _ in shares:
        end += amount
        ends.append(end)
    return ends


def _route_at(shares: Sequence[Share], place: Fraction) -> tuple[int, ...]:
    """Return the route of the message at `place`."""
    return next(route for end, (_, route) in zip(_ends(shares), shares, strict=True) if place < end)
