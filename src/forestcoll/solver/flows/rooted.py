"""Gather and scatter: one node sends to, or receives from, all others, so that a max-flow and a cut decide.

Let the root send w(t) units to each node t at rate f. A set S with the root inside has an exit bandwidth b(S), and the
units of the nodes outside, w(S), must leave it: f <= b(S) / w(S). Starting at some cut, the search sends all units at
the rate of this cut by a max-flow. If they do not fit, the least cut of the max-flow has a smaller rate, which is tried
next (W. Dinkelbach, 1967). At the end, the flow reaches the rate of the cut (max-flow min-cut theorem). Rates fall in
every step, and so does the number of units outside the cut; a few steps are enough. A gather is a scatter on the
transposed network.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from forestcoll.base.progress import SILENT, Progress
from forestcoll.solver.flows.max_flow import MaxFlow
from forestcoll.solver.flows.paths import NodePath, whole_paths
from forestcoll.topology import Topology


@dataclass(frozen=True)
class RootedFlow:
    """The fastest flow from one root.

    Attributes:
        rate: the rate at which M is sent, in the unit of the topology.
        inside: the nodes of a cut that proves the rate, with the root inside.
        paths: paths from the root, each with the part of M that it carries.
    """

    rate: Fraction
    inside: tuple[int, ...]
    paths: list[tuple[NodePath, Fraction]]


def rooted_flow(
    topology: Topology, root: int, parts: Mapping[int, Fraction], progress: Progress = SILENT
) -> RootedFlow:
    """Return the fastest flow that sends `parts` of M from `root` to their targets.

    Args:
        topology: the network; the root reaches all targets.
        root: the number of the root.
        parts: the part of M of each target.
        progress: receives the stages of the work.
    """
    progress.begin("finding the least cut")
    whole = lcm(*(part.denominator for part in parts.values()))
    units = {node: int(part * whole) for node, part in parts.items()}
    scale = lcm(*(link.bandwidth.denominator for link in topology.links))
    capacities = [int(link.bandwidth * scale) for link in topology.links]
    inside = {root}
    while True:
        exits = sum(
            capacity
            for capacity, link in zip(capacities, topology.links, strict=True)
            if link.source in inside and link.target not in inside
        )
        outside = sum(need for node, need in units.items() if node not in inside)
        common = gcd(exits, outside)
        flow = _flow_at(topology, capacities, units, root, (exits // common, outside // common))
        if flow.value == sum(units.values()) * (exits // common):
            break
        inside = flow.inside
    needs = {node: need * (exits // common) for node, need in units.items()}
    amount = whole * (exits // common)
    found = whole_paths(topology, flow.flow[: len(capacities)], root, needs)
    paths = [(nodes, Fraction(each, amount)) for nodes, each in found]
    return RootedFlow(Fraction(exits * whole, outside * scale), tuple(sorted(inside)), paths)


def _flow_at(
    topology: Topology, capacities: list[int], units: Mapping[int, int], root: int, rate: tuple[int, int]
) -> MaxFlow:
    """Return the max-flow in which each target takes its units at a rate, a numerator and a denominator."""
    sink = len(topology.nodes)
    arcs = [
        (link.source, link.target, capacity * rate[1])
        for link, capacity in zip(topology.links, capacities, strict=True)
    ]
    arcs += [(node, sink, need * rate[0]) for node, need in units.items()]
    return MaxFlow(sink + 1, arcs, root, sink)
