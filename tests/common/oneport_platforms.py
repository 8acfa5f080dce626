"""Platforms of the paper, random platforms, and slow reference programs with which small platforms are compared."""

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from random import Random

from hypothesis import strategies as st

from forestcoll import Collective
from forestcoll.oneport import Platform, periodic_schedule, steady_optimum
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.series.document import from_document, text_of
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.solver.exact_lp.exact_packing import packing_optimum
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.exact_lp.row import Row
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.verification import verify

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


def optimum_by_cuts(platform: Platform) -> Fraction:
    """Return the optimum of SSB(G) by a program over all cuts, with a constraint for each set of nodes.

    By max-flow and min-cut, flows of TP to every destination exist within the rates of the links if and only if at
    least TP enters every set that contains a compute node and does not contain the source.
    """
    topology = platform.topology
    links = range(len(topology.links))
    unit = min(platform.costs)
    program = LinearProgram([1] + [0] * (2 * len(links)))
    ports: dict[object, dict[int, int]] = {}
    for link in links:
        cost = platform.costs[link] / unit
        program.add(Row({1 + link: cost.numerator, 1 + len(links) + link: -cost.denominator}, 0, 0))
        for port in platform.ports[link]:
            ports.setdefault(port, {})[1 + len(links) + link] = 1
    for row in ports.values():
        program.add(Row(row, None, 1))
    for switch in topology.switches:
        balance = {1 + link: 1 for link in links if topology.links[link].target == switch}
        balance |= {1 + link: -1 for link in links if topology.links[link].source == switch}
        if balance:
            program.add(Row(balance, 0, 0))
    others = [node for node in range(len(topology.nodes)) if node != platform.source]
    for inside in chain.from_iterable(combinations(others, size) for size in range(1, len(others) + 1)):
        if set(inside) & set(topology.compute):
            entering = {
                1 + link: 1
                for link in links
                if topology.links[link].target in inside and topology.links[link].source not in inside
            }
            program.add(Row(entering | {0: -1}, 0, None))
    exact = program.exact(program.solve())
    assert exact is not None
    assert program.proves(*exact)
    return exact[0][0] / unit


def optimum_by_trees(platform: Platform) -> Fraction:
    """Return the optimum over all spanning trees, without floating point."""
    ports = {port: place for place, port in enumerate(platform.all_ports)}
    columns = []
    for routes in every_tree(platform):
        column: dict[int, Fraction] = {}
        for route in routes:
            for link in platform.links_of(route):
                for port in platform.ports[link]:
                    column[ports[port]] = column.get(ports[port], Fraction(0)) + platform.costs[link]
        columns.append(column)
    values, prices = packing_optimum(columns, len(ports))
    assert sum(values) == sum(prices)
    assert min(values) >= 0
    assert min(prices) >= 0
    assert all(sum(prices[row] * time for row, time in column.items()) >= 1 for column in columns)
    return sum(values, Fraction(0))


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
    best = steady_optimum(Platform.of(topology, 0))
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
    network = TopologyBuilder(f"{nodes} nodes, {links} links, {slowest} to {fastest}", port_model="one-port")
    for node in range(nodes):
        network.add_compute(node)
    for one, other in sorted(pairs):
        network.add_link(one, other, draws.randint(slowest, fastest))
        network.add_link(other, one, draws.randint(slowest, fastest))
    return network.build()
