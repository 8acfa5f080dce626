"""The ring algorithm: each shard is divided over the rings, and each part is sent once around its ring.

A ring is a directed cycle through all nodes. The rings share no link. A bidirectional ring is two rings. Shifted rings
(TopoOpt) are four rings or more, two for each offset. T_L = N - 1. T_B is optimal if the rings use all links.

Source: P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (JPDC 2009);
for shifted rings, W. Wang et al., "TopoOpt" (NSDI 2023).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np

from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfers
from forestcoll.solver.generation.bfb.allgather import require_direct
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Link, Topology


@dataclass(frozen=True)
class _Ring:
    """A directed cycle through all nodes: the node numbers in order, and the least bandwidth of its links."""

    nodes: tuple[int, ...]
    bandwidth: Fraction


def ring_schedule(topology: Topology, collective: Collective) -> StepSchedule:
    """Return the ring algorithm for `collective`. The part of each ring is proportional to its bandwidth.

    Raises:
        InputError: the links are not a union of rings through all nodes, or there is a switch.
    """
    require_direct(topology)
    return from_allgathers(topology, collective, _allgather)


def _allgather(topology: Topology) -> StepSchedule:
    rings = rings_of(topology)
    total = sum((ring.bandwidth for ring in rings), Fraction(0))
    points = [Fraction(0)]
    for ring in rings:
        points.append(points[-1] + ring.bandwidth / total)
    nodes, steps = len(topology.nodes), len(topology.nodes) - 1
    # at step t the node at position i of a ring sends the shard of the node at position i - t
    places, times = np.meshgrid(np.arange(nodes), np.arange(steps))
    columns = []
    for ring in rings:
        order = np.array(ring.nodes, dtype=np.int32)
        columns.append(
            [order[(places - times) % nodes].ravel(), order[places].ravel(), order[(places + 1) % nodes].ravel()]
        )
    shards, sources, targets = (np.concatenate(column) for column in zip(*columns, strict=True))
    lows = np.repeat(np.arange(len(rings), dtype=np.int32), nodes * steps)
    sent = Transfers.by_step(
        np.tile(times.ravel(), len(rings)),
        count=steps,
        shards=shards,
        sources=sources,
        targets=targets,
        lows=lows,
        highs=lows + 1,
        points=points,
    )
    return StepSchedule(topology, Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, sent),))


def rings_of(topology: Topology) -> tuple[_Ring, ...]:
    """Return rings through all nodes that together use every link once.

    Two cases are recognised. In a circulant graph, the links with the same difference of node numbers form a ring. A
    single ring, one-way or bidirectional, is found for any numbering of its nodes.

    Raises:
        InputError: the network is neither of them.
    """
    rings = _by_offset(topology) or _single(topology)
    if not rings:
        raise InputError(
            f"{topology.name}: the links are not rings through all {len(topology.nodes)} nodes; the ring algorithm "
            "needs a ring, shifted-ring, or a circulant whose offsets have no common divisor with the number of nodes"
        )
    return rings


def _by_offset(topology: Topology) -> tuple[_Ring, ...]:
    nodes = len(topology.nodes)
    classes: dict[int, list[Link]] = {}
    for link in topology.links:
        classes.setdefault((link.target - link.source) % nodes, []).append(link)
    if any(len(links) < nodes or gcd(offset, nodes) > 1 for offset, links in classes.items()):
        return ()
    return tuple(
        _Ring(tuple(place * offset % nodes for place in range(nodes)), min(link.bandwidth for link in links))
        for offset, links in sorted(classes.items())
    )


def _single(topology: Topology) -> tuple[_Ring, ...]:
    leaving = [[topology.links[number] for number in numbers] for numbers in topology.leaving]
    if {len(links) for links in leaving} not in ({1}, {2}):
        return ()
    walks = [_walk(leaving, first) for first in leaving[0]]
    rings = tuple(ring for ring in walks if len(ring.nodes) == len(topology.nodes))
    return rings if len(rings) == len(leaving[0]) else ()


def _walk(leaving: list[list[Link]], link: Link) -> _Ring:
    """Follow `link` without reversing until the walk returns to its start."""
    start, nodes, bandwidth = link.source, [link.source], link.bandwidth
    while link.target != start and len(nodes) < len(leaving):
        nodes.append(link.target)
        onward = [each for each in leaving[link.target] if each.target != link.source]
        if len(onward) != 1:
            return _Ring((), bandwidth)
        link = onward[0]
        bandwidth = min(bandwidth, link.bandwidth)
    return _Ring(tuple(nodes) if link.target == start else (), bandwidth)


@methods.add("ring", summary="Around rings of links, such as those of a ring or of shifted rings.", by_size=["ring"])
@dataclass(frozen=True)
class RingMethod(Method):
    """Around rings of links, such as those of a ring or of shifted rings."""

    def schedule(self, problem: Problem) -> StepSchedule:
        """Return the steps."""
        return ring_schedule(problem.topology, problem.collective)
