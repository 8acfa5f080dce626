"""Well-known algorithms as schedules of trees, for the networks of `fabric_networks`; the engine can run them.

Rings, one for each NIC (NCCL): ring c enters each box at GPU c, passes its GPUs in cyclic order, and leaves it by the
NIC of the GPU before c. The tree of a root is the ring from there. Two-level forest (pipelined): the shard of a GPU
goes to the GPU of the same number in each other box, and each of these sends it to the others of its box.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from fabric_networks import CORE, Fabric, box_switch
from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import Demand
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.verification import verify

Path = tuple[int, ...]
"""A route: from a GPU over a switch to a GPU."""


def optimal(fabric: Fabric, collective: Collective) -> TreeSchedule:
    """Return the schedule that reaches the optimum."""
    made: TreeSchedule = generate(fabric.topology, Demand(collective, ranks=fabric.ranks))
    return made


def rings(fabric: Fabric, collective: Collective) -> TreeSchedule:
    """Return the rings."""
    return _schedule(fabric, collective, _ring_trees)


def two_level(fabric: Fabric, collective: Collective) -> TreeSchedule:
    """Return the two-level forest."""
    return _schedule(fabric, collective, _two_level_trees)


def _boxes(fabric: Fabric) -> list[list[int]]:
    """Return the GPUs that take part, box by box."""
    found: dict[object, list[int]] = {}
    for node in fabric.members:
        found.setdefault(fabric.topology.nodes[node].attributes["box"], []).append(node)
    return list(found.values())


def _hop(fabric: Fabric, source: int, target: int) -> Path:
    boxes = [fabric.topology.nodes[node].attributes["box"] for node in (source, target)]
    switch = box_switch(int(str(boxes[0]))) if boxes[0] == boxes[1] else CORE
    return source, fabric.topology.number(switch), target


def _ring_trees(fabric: Fabric) -> Iterator[tuple[int, list[Path]]]:
    boxes = _boxes(fabric)
    for ring in range(len(boxes[0])):
        order = [box[(ring + place) % len(box)] for box in boxes for place in range(len(box))]
        for begin, root in enumerate(order):
            turned = order[begin:] + order[:begin]
            yield root, [_hop(fabric, source, target) for source, target in pairwise(turned)]


def _two_level_trees(fabric: Fabric) -> Iterator[tuple[int, list[Path]]]:
    boxes = _boxes(fabric)
    for box in boxes:
        for place, root in enumerate(box):
            peers = [other[place] for other in boxes if other is not box]
            hops = [_hop(fabric, root, peer) for peer in peers]
            for sender, others in [(root, box), *zip(peers, (each for each in boxes if each is not box), strict=True)]:
                hops += [_hop(fabric, sender, mate) for mate in others if mate != sender]
            yield root, hops


def _schedule(
    fabric: Fabric, collective: Collective, trees_of: Callable[[Fabric], Iterator[tuple[int, list[Path]]]]
) -> TreeSchedule:
    """Return trees of equal shares as a schedule, with the proven bound of the network; the verifier checks it."""
    trees = list(trees_of(fabric))
    ops = {Collective.ALLGATHER: [PhaseOp.BROADCAST], Collective.REDUCE_SCATTER: [PhaseOp.REDUCE]}.get(
        collective, [PhaseOp.REDUCE, PhaseOp.BROADCAST]
    )
    routes: dict[Path, int] = {}
    phases = tuple(_phase(op, trees, routes) for op in ops)
    best = optimal(fabric, collective)
    made = TreeSchedule(
        topology=fabric.topology,
        collective=collective,
        routes=Rows.of([list(route) for route in routes]),
        phases=phases,
        algbw=_algbw(fabric, phases, list(routes)),
        bound=best.bound,
        ranks=best.ranks,
    )
    report = verify(made)
    if report.fault is not None:
        raise AssertionError(f"{fabric.name}: {report.fault.message}")
    return made


def _phase(op: PhaseOp, trees: Sequence[tuple[int, list[Path]]], routes: dict[Path, int]) -> Phase:
    rows = []
    for _, hops in trees:
        outward = hops if op is PhaseOp.BROADCAST else [hop[::-1] for hop in reversed(hops)]
        rows.append([routes.setdefault(hop, len(routes)) for hop in outward])
    share = Fraction(1, len(trees))
    return Phase(op, tuple(root for root, _ in trees), (share,) * len(trees), Rows.of(rows))


def _algbw(fabric: Fabric, phases: Sequence[Phase], routes: Sequence[Path]) -> Fraction:
    """Return 1 / the greatest load of a link."""
    loads: dict[tuple[int, int], Fraction] = {}
    for phase in phases:
        for tree in phase:
            for route in tree.routes:
                for link in pairwise(routes[route]):
                    loads[link] = loads.get(link, Fraction(0)) + tree.share
    bandwidth = {(link.source, link.target): link.bandwidth for link in fabric.topology.links}
    return 1 / max(load / bandwidth[link] for link, load in loads.items())


METHODS = {"forestcoll": optimal, "two-level": two_level, "nic-rings": rings}
"""The schedules that are measured, by name."""
