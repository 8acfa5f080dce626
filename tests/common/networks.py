"""Random networks for hypothesis. They are small enough to try every cut, and include unusual cases.

The incoming and outgoing bandwidths of each switch are equal. Those of compute nodes may differ, in
`one_way_networks(unbalanced=True)`.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.topology import NodeId, Topology, TopologyBuilder

MOST_NODES = 8

SMALL = st.integers(1, 10).map(Fraction)
"""Bandwidths with small numbers, so that rounding to a number of trees matters."""

_UNIT = st.just(Fraction(1))
_RATIONAL = st.builds(Fraction, st.integers(1, 60), st.integers(1, 12))
_SKEWED = st.sampled_from([Fraction(1), Fraction(10**12)])
_LARGE = st.integers(1, 10**12).map(Fraction)
_ODD = st.sampled_from([Fraction(1), Fraction(25, 3), Fraction(16), Fraction(50), Fraction(1, 7), Fraction(10**12)])

KINDS_OF_BANDWIDTH: tuple[st.SearchStrategy[Fraction], ...] = (_UNIT, SMALL, _RATIONAL, _SKEWED, _LARGE, _ODD)

ANY_KIND = st.sampled_from(KINDS_OF_BANDWIDTH)


ALL_EXAMPLES = "FORESTCOLL_ALL_EXAMPLES"
"""The environment variable with which tests try all their examples; `make test-all` sets it."""

MANY = 20
"""A test with more examples tries a fifth of them in the fast suite, but not fewer than this."""


def examples(count: int) -> settings:
    """Return settings for `count` examples, the same on every run; fewer in the fast suite if there are `MANY`."""
    fewer = count if ALL_EXAMPLES in os.environ else min(count, max(MANY, count // 5))
    return settings(
        max_examples=fewer,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


@st.composite
def _nodes(draw: st.DrawFn, most: int, *, switches: bool) -> tuple[TopologyBuilder, list[int], list[int]]:
    """Add nodes 0, 1, … of both kinds in any order. Some of the switches will have no links.

    Return the builder, the compute nodes, and all nodes that can have links.
    """
    compute = draw(st.integers(2, most))
    linked = draw(st.integers(0, min(3, most - compute))) if switches else 0
    isolated = draw(st.integers(0, min(1, most - compute - linked))) if switches else 0
    kinds = draw(st.permutations("c" * compute + "s" * linked + "i" * isolated))
    builder = TopologyBuilder("random")
    for number, kind in enumerate(kinds):
        if kind == "c":
            builder.add_compute(number)
        else:
            builder.add_switch(number)
    computes = [number for number, kind in enumerate(kinds) if kind == "c"]
    return builder, computes, [number for number, kind in enumerate(kinds) if kind != "i"]


@st.composite
def duplex_networks(
    draw: st.DrawFn,
    *,
    most: int = MOST_NODES,
    switches: bool = True,
    kinds: st.SearchStrategy[st.SearchStrategy[Fraction]] = ANY_KIND,
) -> Topology:
    """A random tree of full-duplex links and a few more links, some of them parallel."""
    builder, _, nodes = draw(_nodes(most, switches=switches))
    bandwidths = draw(kinds)
    nodes = draw(st.permutations(nodes))
    for place in range(1, len(nodes)):
        parent = nodes[draw(st.integers(0, place - 1))]
        builder.add_duplex(nodes[place], parent, draw(bandwidths))
    pair = st.lists(st.sampled_from(nodes), min_size=2, max_size=2, unique=True)
    for one, other in draw(st.lists(pair, max_size=2 * len(nodes))):
        builder.add_duplex(one, other, draw(bandwidths))
    return builder.build()


def _add_walk(builder: TopologyBuilder, walk: list[int], bandwidth: Fraction) -> None:
    for source, target in pairwise(walk):
        if source != target:
            builder.add_link(source, target, bandwidth)


@st.composite
def one_way_networks(
    draw: st.DrawFn,
    *,
    most: int = MOST_NODES,
    switches: bool = True,
    unbalanced: bool = True,
    kinds: st.SearchStrategy[st.SearchStrategy[Fraction]] = ANY_KIND,
) -> Topology:
    """A union of one-way walks: a closed walk through all compute nodes, and others, which may be open if `unbalanced`.

    Open walks begin and end on compute nodes, so that every switch is balanced but compute nodes are not.
    """
    builder, compute, nodes = draw(_nodes(most, switches=switches))
    bandwidths = draw(kinds)
    around = [*draw(st.permutations(compute))]
    for node in draw(st.lists(st.sampled_from(nodes), max_size=len(nodes))):
        around.insert(draw(st.integers(0, len(around))), node)
    _add_walk(builder, [*around, around[0]], draw(bandwidths))
    for walk in draw(st.lists(st.lists(st.sampled_from(nodes), min_size=2, max_size=5), max_size=5)):
        _add_walk(builder, [*walk, walk[0]], draw(bandwidths))
    if unbalanced:
        ends = st.tuples(
            st.sampled_from(compute), st.lists(st.sampled_from(nodes), max_size=3), st.sampled_from(compute)
        )
        for start, through, end in draw(st.lists(ends, max_size=4)):
            _add_walk(builder, [start, *through, end], draw(bandwidths))
    return builder.build()


def networks(
    *,
    most: int = MOST_NODES,
    switches: bool = True,
    kinds: st.SearchStrategy[st.SearchStrategy[Fraction]] = ANY_KIND,
) -> st.SearchStrategy[Topology]:
    """Return a strategy for balanced and unbalanced networks of full-duplex or one-way links."""
    return st.one_of(
        duplex_networks(most=most, switches=switches, kinds=kinds),
        one_way_networks(most=most, switches=switches, unbalanced=False, kinds=kinds),
        one_way_networks(most=most, switches=switches, unbalanced=True, kinds=kinds),
    )


@st.composite
def uneven_networks(
    draw: st.DrawFn, *, most: int = 7, kinds: st.SearchStrategy[st.SearchStrategy[Fraction]] = ANY_KIND
) -> Topology:
    """Networks of one-way links between any nodes. Switches may be unbalanced or dead ends.

    Compute nodes reach each other.
    """
    builder, compute, nodes = draw(_nodes(most, switches=True))
    bandwidths = draw(kinds)
    around = [*draw(st.permutations(compute))]
    for node in draw(st.lists(st.sampled_from(nodes), max_size=len(nodes))):
        around.insert(draw(st.integers(0, len(around))), node)
    for source, target in pairwise([*around, around[0]]):
        if source != target:
            builder.add_link(source, target, draw(bandwidths))
    pair = st.lists(st.sampled_from(nodes), min_size=2, max_size=2, unique=True)
    for source, target in draw(st.lists(pair, max_size=3 * len(nodes))):
        builder.add_link(source, target, draw(bandwidths))
    return builder.build()


@st.composite
def ranks_for(draw: st.DrawFn, topology: Topology) -> tuple[int, ...]:
    """Two or more ranks of a random network, as indices into its compute nodes."""
    count = len(topology.compute)
    return tuple(sorted(draw(st.permutations(range(count)))[: draw(st.integers(2, count))]))


@st.composite
def shards_for(draw: st.DrawFn, nodes: Sequence[int]) -> dict[int, Fraction]:
    """Shards of any size, including 0, for some nodes of a random network, by id."""
    counts = draw(st.lists(st.integers(0, 6), min_size=len(nodes), max_size=len(nodes)))
    counts[draw(st.integers(0, len(counts) - 1))] += 1
    return {node: Fraction(count, sum(counts)) for node, count in zip(nodes, counts, strict=True)}


def with_abilities(topology: Topology, abilities: Iterable[tuple[bool, bool]]) -> Topology:
    """Return the topology with `multicast` and `aggregation` of each switch in order, as far as `abilities` go."""
    nodes = list(topology.nodes)
    for switch, (multicast, aggregation) in zip(topology.switches, abilities, strict=False):
        nodes[switch] = replace(nodes[switch], multicast=multicast, aggregation=aggregation)
    return replace(topology, nodes=tuple(nodes))


def demand_for(topology: Topology, collective: Collective, place: int = 0) -> Demand:
    """Return a collective, with a root if it needs one: the compute node with the index `place`."""
    root = topology.nodes[topology.compute[place % len(topology.compute)]].id
    return Demand(collective, root=root if collective.has_root else None)


def linked(
    compute: str,
    links: str,
    *,
    switches: str = "",
    able: bool = False,
    connected: bool = True,
    name: str = "network",
    **options: Any,
) -> Topology:
    """Return the network of these nodes, in this order, and links: `a>b:5` leads one way, `a=b:1/2` both, `a>b` has 1.

    `able` switches copy and add up. `a>b:5@3` has a latency of 3 us. The `options` are those of a `TopologyBuilder`.
    """
    builder = TopologyBuilder(name, **options)
    for node in compute.split():
        builder.add_compute(node)
    for node in switches.split():
        builder.add_switch(node, multicast=able, aggregation=able)
    for link in links.split():
        ends, _, speed = link.partition(":")
        bandwidth, _, latency = speed.partition("@")
        add = builder.add_duplex if "=" in ends else builder.add_link
        source, target = ends.replace("=", ">").split(">")
        add(source, target, bandwidth or 1, latency_us=latency or None)
    return builder.build(connected=connected)


def built(
    nodes: Iterable[NodeId],
    duplex: Iterable[tuple[Any, ...]] = (),
    one_way: Iterable[tuple[Any, ...]] = (),
    *,
    switches: Collection[NodeId] = (),
    able: bool = False,
    name: str = "network",
    **options: Any,
) -> Topology:
    """Return the network of these nodes, in this order, of which some are switches, and of these links.

    A link is its two ends, its bandwidth and, if it has one, its latency. The `options` are those of a
    `TopologyBuilder`, and `able` switches copy and add up.
    """
    builder = TopologyBuilder(name, **options)
    for node in nodes:
        if node in switches:
            builder.add_switch(node, multicast=able, aggregation=able)
        else:
            builder.add_compute(node)
    for links, add in ((duplex, builder.add_duplex), (one_way, builder.add_link)):
        for one, other, bandwidth, *latency in links:
            add(one, other, bandwidth, latency_us=latency[0] if latency else None)
    return builder.build()


def rails() -> Topology:
    """Return two boxes of four GPUs on a switch; a switch of its own joins each GPU to that of the other box."""
    builder = TopologyBuilder("rails")
    for box in range(2):
        switch = builder.add_switch(f"b{box}/switch", box=box)
        for gpu in range(4):
            builder.add_duplex(builder.add_compute(f"b{box}/gpu{gpu}", box=box), switch, 100)
    for gpu in range(4):
        rail = builder.add_switch(f"rail{gpu}")
        for box in range(2):
            builder.add_duplex(f"b{box}/gpu{gpu}", rail, 10)
    return builder.build()


def seeds(fast: int, many: int) -> list[Any]:
    """Return the seeds of a test that tries `many` networks, and only the first of them in the fast suite."""
    return [*range(fast), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(fast, many))]


def drawn_network(seed: int, *, nodes: int, kinds: str, one_way: bool) -> Topology:
    """Return a connected network; its first three nodes are compute nodes.

    Args:
        seed: the same seed gives the same network.
        nodes: the number of nodes.
        kinds: what the other nodes are drawn from: `c` compute node, `a` switch that copies and adds up, `m` switch
            that copies, `s` switch that only forwards.
        one_way: whether links lead in one direction only.
    """
    random = Random(seed)  # noqa: S311 (a test)
    builder = TopologyBuilder("drawn")
    for node in range(nodes):
        kind = "c" if node < 3 else random.choice(kinds)
        if kind == "c":
            builder.add_compute(node)
        else:
            builder.add_switch(node, multicast=kind in "am", aggregation=kind == "a")
    pairs = {(node, (node + 1) % nodes) for node in range(nodes)}
    pairs |= set(random.sample(list(combinations(range(nodes), 2)), nodes // 2))
    add = builder.add_link if one_way else builder.add_duplex
    for one, other in sorted(pairs if one_way else {(min(pair), max(pair)) for pair in pairs}):
        add(one, other, random.randint(1, 4))
    return builder.build()
