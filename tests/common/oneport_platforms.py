"""Platforms of the paper, random platforms, and slow reference programs with which small platforms are compared."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import lcm
from random import Random

from hypothesis import strategies as st

from forestcoll import Collective
from forestcoll.oneport import Platform, periodic_schedule, steady_optimum
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.series.document import from_document, text_of
from forestcoll.schedule.series.value import SeriesSchedule, SeriesTree
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.exact_simplex import packing_optimum
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.graph.overheads import without_overheads
from forestcoll.verification import verify
from networks import built

HALF = Fraction(1, 2)

Costs = Sequence[tuple[str, str, Fraction | int]]

FIGURE_1: Costs = [("s", "1", 1), ("s", "2", 1), ("1", "2", 1), ("2", "1", 1), ("1", "3", HALF), ("2", "4", HALF)]


def platform_of_costs(nodes: str, costs: Costs, *, switches: str = "") -> Topology:
    """Return the one-port network with these costs of links."""
    builder = TopologyBuilder("platform", port_model="one-port")
    for node in nodes:
        builder.add_compute(node)
    for node in switches:
        builder.add_switch(node)
    for source, target, cost in costs:
        builder.add_link(source, target, 1 / Fraction(cost))
    return builder.build()


def figure_1() -> Topology:
    """The platform of Figure 1."""
    return platform_of_costs("s1234", FIGURE_1)


_UNIT = st.just(Fraction(1))
_SMALL = st.integers(1, 6).map(Fraction)
_RATIONAL = st.builds(Fraction, st.integers(1, 30), st.integers(1, 12))
_SKEWED = st.sampled_from([Fraction(1), Fraction(10**6), Fraction(1, 977)])


@st.composite
def random_platforms(
    draw: st.DrawFn,
    most: int = 6,
    *,
    switches: int = 0,
    duplex: bool = False,
    skewed: bool = False,
    port_models: Sequence[str] = ("one-port",),
) -> Topology:
    """Draw platforms whose node 0 reaches every compute node. With `duplex`, every node reaches every other."""
    bandwidths = draw(st.sampled_from([_UNIT, _SMALL, _RATIONAL] + [_SKEWED] * skewed))
    compute = draw(st.integers(2, most))
    port_model = None if duplex else draw(st.sampled_from(port_models))
    builder = TopologyBuilder("random", port_model=port_model)
    for node in range(compute):
        builder.add_compute(node)
    count = compute + draw(st.integers(0, switches))
    for node in range(compute, count):
        builder.add_switch(node)
    order = [0, *draw(st.permutations(range(1, count)))]
    ends = {(order[draw(st.integers(0, place - 1))], order[place]) for place in range(1, count)}
    every = [(one, other) for one in range(count) for other in range(count) if one != other]
    sides = {0: 0}
    for one, other in sorted(ends, key=lambda each: order.index(each[1])):
        sides[other] = 1 - sides[one]
    ends |= set(draw(st.lists(st.sampled_from(every), max_size=3 * count)))
    if port_model == "half-duplex":
        ends = {each for each in ends if sides[each[0]] != sides[each[1]]}
    for one, other in sorted(ends):
        if duplex:
            builder.add_duplex(one, other, draw(bandwidths))
        else:
            builder.add_link(one, other, draw(bandwidths))
    return builder.build()


BOUNDED = "bounded-multi-port"
HALF_DUPLEX = "half-duplex"
SENDING = {"one-port", "one-port-send", HALF_DUPLEX}
"""The models in which a node sends to one neighbour at a time."""
RECEIVING = {"one-port", "one-port-receive", HALF_DUPLEX}

_LIMITS = st.sampled_from([None, None, 1, 2, "7/2", "1/3"])
_OVERHEADS = st.sampled_from([None, None, 1, 2, "1/3", "5/2"])


def _with_attributes(
    draw: st.DrawFn, network: Topology, names: tuple[str, str], values: st.SearchStrategy[object]
) -> Topology:
    nodes = list(network.nodes)
    for node in network.compute:
        drawn = {name: draw(values) for name in names}
        attributes = {name: value for name, value in drawn.items() if value is not None}
        nodes[node] = replace(nodes[node], attributes=attributes)
    return replace(network, nodes=tuple(nodes))


@st.composite
def bounded_platforms(draw: st.DrawFn, most: int = 4, switches: int = 0) -> Topology:
    """Draw platforms on which some nodes have limits to send or to receive."""
    network = draw(random_platforms(most, switches=switches))
    names = "send_bandwidth", "receive_bandwidth"
    return replace(_with_attributes(draw, network, names, _LIMITS), port_model=BOUNDED)


@st.composite
def overhead_platforms(draw: st.DrawFn, most: int = 4, *, models: Sequence[str | None]) -> Topology:
    """Draw platforms on which some nodes have overheads."""
    model = draw(st.sampled_from(models))
    network = draw(random_platforms(most, switches=1, port_models=(model or "one-port",)))
    names = "send_overhead", "receive_overhead"
    return replace(_with_attributes(draw, network, names, _OVERHEADS), port_model=model)


@st.composite
def half_duplex_platforms(draw: st.DrawFn, most: int = 4) -> Topology:
    """Draw half-duplex platforms without switches, with cycles of all lengths."""
    return replace(draw(random_platforms(most)), port_model=HALF_DUPLEX)


def optimum_by_definition(topology: Topology) -> Fraction:
    """Return the optimum of node 0 over all spanning trees, from what port models, limits and overheads mean."""
    bare = replace(
        topology, nodes=tuple(replace(node, attributes={}) for node in topology.nodes), port_model="one-port"
    )
    platform = Platform.of(bare, 0)
    rows: dict[object, int] = {}
    columns = []
    for routes in every_tree(platform):
        column: dict[int, Fraction] = {}
        for link in (link for route in routes for link in platform.links_of(route)):
            for port, time in _times(topology, link).items():
                row = rows.setdefault(port, len(rows))
                column[row] = column.get(row, Fraction(0)) + time
        columns.append(column)
    values, prices = packing_optimum(columns, len(rows))
    assert sum(values) == sum(prices)
    assert min(values) >= 0
    assert min(prices) >= 0
    assert all(sum(prices[row] * time for row, time in column.items()) >= 1 for column in columns)
    for row in rows.values():
        assert sum(column.get(row, 0) * value for column, value in zip(columns, values, strict=True)) <= 1
    return sum(values, Fraction(0))


@st.composite
def two_way_platforms(draw: st.DrawFn, most: int = 4) -> Topology:
    """Draw platforms on which every node reaches every other, of all port models that odd sets do not limit."""
    network = draw(random_platforms(most, switches=1, duplex=True))
    model = draw(st.sampled_from([None, "one-port", "one-port-send", "one-port-receive", BOUNDED]))
    if model == BOUNDED:
        network = _with_attributes(draw, network, ("send_bandwidth", "receive_bandwidth"), _LIMITS)
    elif draw(st.booleans()):
        network = _with_attributes(draw, network, ("send_overhead", "receive_overhead"), _OVERHEADS)
    return replace(network, port_model=model)


def series_by_definition(topology: Topology, collective: Collective) -> Fraction:
    """Return the optimum of a series over all trees and paths of all its messages; the root is node 0."""
    columns: list[tuple[int, dict[object, Fraction]]] = []
    for owner, edges in _messages(topology, collective):
        times: dict[object, Fraction] = {}
        for ends in edges:
            for port, time in _times(topology, topology.link_numbers[ends]).items():
                times[port] = times.get(port, Fraction(0)) + time
        columns.append((owner, times))
    program = LinearProgram([1] + [0] * len(columns))
    for port in dict.fromkeys(port for _, times in columns for port in times):
        used = {1 + place: times[port] for place, (_, times) in enumerate(columns) if port in times}
        scale = lcm(*(time.denominator for time in used.values()))
        program.add(Constraint({column: int(time * scale) for column, time in used.items()}, None, scale))
    for owner in sorted({owner for owner, _ in columns}):
        program.add(
            Constraint({1 + place: 1 for place, (each, _) in enumerate(columns) if each == owner} | {0: -1}, 0, 0)
        )
    exact = program.proven(program.attempt())
    assert exact is not None
    return exact[0][0]


def _messages(topology: Topology, collective: Collective) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield every way of every message: the node that the message belongs to, and the links of a tree or a path."""
    bare = replace(
        topology, nodes=tuple(replace(node, attributes={}) for node in topology.nodes), port_model="one-port"
    )
    inwards = collective.flows_to_roots
    directed = bare.transposed() if inwards else bare
    if collective.is_personalised:
        ways = [(path[-1], [path]) for path in _paths_from(directed, (0,))]
    else:
        roots = [0] if collective.has_root else directed.compute
        ways = [(root, list(routes)) for root in roots for routes in every_tree(Platform.of(directed, root))]
    for owner, routes in ways:
        edges = [ends for route in routes for ends in pairwise(route)]
        yield owner, [ends[::-1] for ends in edges] if inwards else edges


def _paths_from(topology: Topology, path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if len(path) > 1 and topology.nodes[path[-1]].is_compute:
        yield path
    for target in topology.targets[path[-1]]:
        if target not in path:
            yield from _paths_from(topology, (*path, target))


def _times(topology: Topology, number: int) -> dict[object, Fraction]:
    """Return for how long a message over a link keeps each port busy; a limit is a port, too."""
    link = topology.links[number]
    cost, times = 1 / link.bandwidth, dict[object, Fraction]()
    times["link", number] = cost
    for place, name, models in ((link.source, "send", SENDING), (link.target, "receive", RECEIVING)):
        node = topology.nodes[place]
        busy = Fraction(str(node.attributes.get(f"{name}_overhead", 0)))
        if node.is_compute and topology.port_model in models:
            busy += cost
        if busy:
            port = ("port" if topology.port_model == HALF_DUPLEX else name, place)
            times[port] = times.get(port, Fraction(0)) + busy
        if f"{name}_bandwidth" in node.attributes:
            times[f"{name} limit", place] = 1 / Fraction(str(node.attributes[f"{name}_bandwidth"]))
    return times


def broken(schedule: SeriesSchedule) -> tuple[str, str]:
    """Return the rule that a schedule breaks, and the message."""
    fault = verify(schedule).fault
    assert fault is not None
    return fault.rule, fault.message


def busiest_time(platform: Platform, trees: Sequence[SeriesTree]) -> Fraction:
    """Return the part of the time for which the busiest port works."""
    loads: dict[object, Fraction] = {}
    for tree in trees:
        for ends in tree.edges:
            link = platform.topology.link_numbers[ends]
            for port in platform.ports[link]:
                loads[port] = loads.get(port, Fraction(0)) + tree.weight * platform.costs[link]
    return max(loads.values())


def every_tree(platform: Platform) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every spanning tree from the source, as routes through switches."""
    entering = {node: list(_routes_into(platform, node)) for node in platform.destinations}
    for routes in product(*entering.values()):
        parents = {route[-1]: route[0] for route in routes}
        if all(_leads_to(parents, node, platform.source) for node in parents):
            yield routes


def _routes_into(platform: Platform, target: int) -> Iterator[tuple[int, ...]]:
    routes: list[tuple[int, ...]] = [(link.source, target) for link in platform.topology.links if link.target == target]
    while routes:
        route = routes.pop()
        if platform.topology.nodes[route[0]].is_compute:
            yield route
            continue
        before = [link.source for link in platform.topology.links if link.target == route[0]]
        routes += [(node, *route) for node in before if node not in route]


def _leads_to(parents: dict[int, int], node: int, source: int) -> bool:
    for _ in parents:
        node = parents.get(node, source)
    return node == source


def optimal_series(topology: Topology) -> SeriesSchedule:
    """Return the schedule of node 0 as it is read from its file: it reaches the optimum, which its proof confirms."""
    best = steady_optimum(Platform.of(without_overheads(topology), 0))
    bound = Bound(Collective.BROADCAST, best.throughput, best.certificate)
    schedule = periodic_schedule(best.platform, best.trees, bound)
    read = from_document(json.loads("".join(text_of(schedule))), "file")
    report = verify(read)
    assert report.optimal, report.fault
    assert read.throughput == best.throughput
    return read


HARDEST = (100, 600, 99, 101)
"""The arguments of `one_port_platform` for the platform that takes the longest."""


def one_port_platform(nodes: int, links: int, slowest: int, fastest: int, seed: int = 1) -> Topology:
    """Return a random one-port platform with `links` one-way links, most of them between near nodes."""
    draws = Random(seed)  # noqa: S311 (not for security)
    pairs = {(draws.randrange(max(0, node - 8), node), node) for node in range(1, nodes)}
    while len(pairs) < links // 2:
        one, other = sorted(draws.sample(range(nodes), 2))
        if other - one < 15 or draws.random() < 0.2:
            pairs.add((one, other))
    both_ways = [ends for one, other in sorted(pairs) for ends in ((one, other), (other, one))]
    one_way = [(*ends, draws.randint(slowest, fastest)) for ends in both_ways]
    name = f"{nodes} nodes, {links} links, {slowest} to {fastest}"
    return built(range(nodes), one_way=one_way, name=name, port_model="one-port")
