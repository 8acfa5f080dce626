"""Broadcasts restricted to a directed acyclic graph (§4): the linear program SSBPDAG, and its trees.

In a DAG every node except the source must receive all messages, and any earlier node can send them, because earlier
nodes have all messages too. So the program needs no flows:

    maximise TP,   each node: sum of n over the links into it = TP,   each port: sum of n * c over its links <= 1,

where n is the number of messages that a link carries per unit of time. With switches, the DAG is over the compute
nodes only. The data that a node receives through switches is a separate flow from earlier nodes: n has a column for
each pair of a link at a switch and a compute node behind the switch.

If the bandwidths differ too much for floating point, the program over trees (`optimum`) is solved instead. There each
node takes the cheapest route from an earlier node.

The trees follow from the solution. Every node divides the messages of a unit of time, in their order, into one interval
for each route on which it receives (§4.3). Between two ends of intervals, all messages take the same tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from forestcoll.base.errors import InputError, NoSolutionError, shown
from forestcoll.oneport.platform.logical import logical_arcs
from forestcoll.oneport.platform.odd_sets import violated_odd_sets
from forestcoll.oneport.platform.packing import rates_of
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.optimum import optimum_by_prices
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.topology import NodeId

if TYPE_CHECKING:
    from forestcoll.schedule.proof.prices import Port


Commodity = tuple[int, int]
"""A link, and the compute node for which the data on the link is."""

Share = tuple[Fraction, tuple[int, ...]]
"""A number of messages, and the route from a compute node on which they arrive."""


@dataclass(frozen=True)
class DagOptimum:
    """The optimum of a series of broadcasts along links that lead forward in an order of the nodes.

    Attributes:
        order: the numbers of all compute nodes, the source first.
        throughput: messages per unit of time, exact.
        rates: the messages that each link carries per unit of time (n).
        trees: trees that carry these messages.
    """

    order: tuple[int, ...]
    throughput: Fraction
    rates: tuple[Fraction, ...]
    trees: tuple[SeriesTree, ...]


def dag_order(platform: Platform, ids: Sequence[NodeId]) -> tuple[int, ...]:
    """Return the numbers of the compute nodes with these `ids`, in the same order.

    Raises:
        InputError: the source is not first, or a node is unknown, is a switch, is missing or occurs twice.
    """
    topology = platform.topology
    order = tuple(topology.named(each) for each in ids)
    for place, node in enumerate(order):
        if node in order[:place]:
            raise InputError(f"{topology.name}: the order has node {shown(topology.nodes[node].id)} twice; remove one")
        if not topology.nodes[node].is_compute:
            raise InputError(f"{topology.name}: the order has switch {shown(topology.nodes[node].id)}; leave it out")
    missing = [node for node in topology.compute if node not in set(order)]
    if missing:
        raise InputError(f"{topology.name}: the order lacks node {shown(topology.nodes[missing[0]].id)}; add it")
    if order[0] != platform.source:
        source = shown(topology.nodes[platform.source].id)
        raise InputError(f"{topology.name}: the order must start with the source, {source}")
    return order


def dag_optimum(platform: Platform, order: Sequence[int]) -> DagOptimum:
    """Return the optimum over the links that lead forward in `order` (SSBPDAG).

    Args:
        platform: the network with its source.
        order: the numbers of all compute nodes, the source first.

    Raises:
        NoSolutionError: a compute node cannot receive from any earlier node.
    """
    best = _ordered_optimum(platform, order)
    while found := violated_odd_sets(platform, best.trees):
        platform = platform.with_odd_sets(found)
        best = _ordered_optimum(platform, order)
    return best


def _ordered_optimum(platform: Platform, order: Sequence[int]) -> DagOptimum:
    forward = replace(platform, order=tuple(order))
    _check_reachable(forward)
    commodities = forward_commodities(platform, order)
    program = dag_program(platform, commodities)
    exact = program.proven(program.attempt())
    if exact is None:  # the bandwidths differ too much for floating point
        best = optimum_by_prices(forward)
        return DagOptimum(forward.order, best.throughput, tuple(rates_of(platform, best.trees)), best.trees)
    values, unit = exact[0], min(platform.costs)
    throughput = values[0] / unit
    carried = {commodity: values[1 + place] / unit for place, commodity in enumerate(commodities) if values[1 + place]}
    rates = [Fraction(0)] * len(platform.topology.links)
    for (link, _), amount in carried.items():
        rates[link] += amount
    return DagOptimum(forward.order, throughput, tuple(rates), _trees(platform, order, carried, throughput))


def _check_reachable(platform: Platform) -> None:
    """Check that each compute node can receive from an earlier node in the order."""
    fed = {head for _, head in logical_arcs(platform, platform.costs).arcs}
    unfed = next((node for node in platform.order[1:] if node not in fed), None)
    if unfed is not None:
        name = shown(platform.topology.nodes[unfed].id)
        raise NoSolutionError(
            f"{platform.topology.name}: node {name} has no link from an earlier node of the order; move it back"
        )


def forward_commodities(platform: Platform, order: Sequence[int]) -> list[Commodity]:
    """Return each pair of a link and a compute node such that the link can carry messages for the node.

    The messages come from nodes before that node in `order`.
    """
    return list(_commodities(platform, {node: number for number, node in enumerate(order)}))


def _commodities(platform: Platform, place: Mapping[int, int]) -> Iterator[Commodity]:
    for number, link in enumerate(platform.topology.links):
        for node in [link.target] if link.target in place else platform.destinations:
            if node != platform.source and (link.source not in place or place[link.source] < place[node]):
                yield number, node


def dag_program(platform: Platform, commodities: Sequence[Commodity]) -> LinearProgram:
    """Return SSBPDAG. Columns: the throughput, the messages of each of `commodities`, and the time of each link.

    Costs are scaled so that the least cost is 1, which gives numbers of similar size.
    """
    topology, unit = platform.topology, min(platform.costs)
    links = sorted({link for link, _ in commodities})
    time_of = {link: 1 + len(commodities) + place for place, link in enumerate(links)}
    program = LinearProgram([1] + [0] * (len(commodities) + len(links)))
    sums: dict[int, dict[int, int]] = {link: {} for link in links}
    kept: dict[tuple[int, int], dict[int, int]] = {}
    for place, (link, node) in enumerate(commodities):
        sums[link][1 + place] = (platform.costs[link] / unit).numerator
        ends = topology.links[link]
        kept.setdefault((ends.target, node), {})[1 + place] = 1
        if not topology.nodes[ends.source].is_compute:
            kept.setdefault((ends.source, node), {})[1 + place] = -1
    ports: dict[Port, dict[int, Fraction]] = {}
    for link in links:
        program.add(Constraint(sums[link] | {time_of[link]: -(platform.costs[link] / unit).denominator}, 0, 0))
        for port, part in platform.uses[link]:
            ports.setdefault(port, {})[time_of[link]] = part
    for port in sorted(ports):
        scale = lcm(*(part.denominator for part in ports[port].values()))
        program.add(Constraint({column: int(part * scale) for column, part in ports[port].items()}, None, scale))
    for node in platform.destinations:
        program.add(Constraint(kept.pop((node, node), {}) | {0: -1}, 0, 0))
    for switched in sorted(kept):
        program.add(Constraint(kept[switched], 0, 0))
    return program


def _trees(
    platform: Platform, order: Sequence[int], carried: Mapping[Commodity, Fraction], throughput: Fraction
) -> tuple[SeriesTree, ...]:
    """Return trees that carry the amounts `carried`, in the order of their messages."""
    received = {node: _shares(platform, node, carried) for node in order[1:]}
    cuts = sorted({cut for shares in received.values() for cut in _ends(shares)} | {throughput})
    trees = []
    begin = Fraction(0)
    for cut in cuts:
        routes = tuple(_route_at(received[node], begin) for node in order[1:])
        trees.append(SeriesTree(cut - begin, routes))
        begin = cut
    return tuple(trees)


def _shares(platform: Platform, node: int, carried: Mapping[Commodity, Fraction]) -> list[Share]:
    """Return the routes on which `node` receives: the flow for the node, divided into paths from its end."""
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
            if link in path:  # a cycle among switches
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
    """Return the route of the message at position `place`."""
    return next(route for end, (_, route) in zip(_ends(shares), shares, strict=True) if place < end)
