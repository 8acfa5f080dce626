"""The optimum of an all-to-all: how fast every compute node can send to every other at once.

(Zhao et al., *Efficient Direct-Connect Topologies for Collective Communications*, appendix A.5.) A rate f between every
two compute nodes at once is a multi-commodity flow. Commodities of one source are one flow: y(s, e) is what of the data
of source s goes over link e, and at each other node f of it stays:

    maximise f,  where  sum over s of y(s, e) <= b(e)   for each link e,
                        y(s, in) - y(s, out) >= f       at each compute node but s,   >= 0 at each switch.

The data is personal, so copying does not help. Where a symmetry of the network moves compute nodes, only the sources
that stand for an orbit need a flow: the flows of the others are its images.

The dual: any lengths l(e) >= 0 of the links prove

    f <= (sum over links of b(e) l(e)) / (sum over pairs of compute nodes of the distance between them),

as f between two nodes uses up at least f times their distance. HiGHS suggests lengths; they are rounded to integers,
and what they prove is computed exactly, by shortest paths. The bound is therefore exact whatever the solver did; it is
the optimum if a flow in fractions, checked, reaches it.

Where the program is too large (a thousand nodes without symmetry make four million columns), the core spreads whole
units over paths, and its lengths make a bound: both are exact, and what is between them is stated.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.errors import InputError
from forestcoll.exact_lp.linear_program import LinearProgram, Row, Solution
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.progress import SILENT, Progress
from forestcoll.topology import Topology
from forestcoll.topology.orbits import Orbits

MOST_COLUMNS = 60_000
"""The most columns that the program may have: one for each link and each orbit of compute nodes."""

MOST_SPREAD = 2048
"""The most compute nodes of a network whose paths are searched where the program is too large."""

MOST_ROUNDS = 64
"""The most rounds of that search: the bound is then within two percent of what is reached, as a rule."""

DEFAULT_GAP = 0.02
"""How near to what is reached a bound has to be there."""

_FINE = (1, 12, 720, 10**6, 10**9)
"""Denominators that lengths, taken relative to the longest, are rounded to."""

_LONGEST = 10**200
"""The greatest length that is tried: unrelated denominators multiply."""


@dataclass(frozen=True)
class AllToAllOptimum:
    """How fast every compute node can send to every other at once.

    Attributes:
        pair_rate: f, which no schedule can beat; in the topology's unit, exact.
        lengths: of each link a length that proves it.
        flow: what of each of `sources` goes over each link, at `pair_rate`, checked; empty if none was found in
            fractions.
        sources: the compute nodes whose flows are listed, one of each orbit of a symmetry of the network.
        residual: if there is no flow, by how much of it `pair_rate` is above what the solver reached.
        reached: a rate that a flow was found for, in fractions; `pair_rate` where that is the optimum, or None.
    """

    pair_rate: Fraction
    lengths: tuple[int, ...]
    flow: tuple[tuple[Fraction, ...], ...]
    sources: tuple[int, ...]
    residual: float = 0.0
    reached: Fraction | None = None

    @property
    def exact(self) -> bool:
        """Whether a flow reaches the bound, so that it is the optimum."""
        return self.reached == self.pair_rate


def columns_needed(topology: Topology, orbits: Orbits) -> int:
    """Return how many columns the program of `topology` has."""
    return 1 + len(orbits.first_compute(topology)) * len(topology.links)


def rate_by_lengths(topology: Topology, lengths: Sequence[int], orbits: Orbits | None = None) -> Fraction | None:
    """Return the rate of each pair that link lengths prove no schedule can beat, or None if they prove nothing.

    Lengths are 0 or more, and with `orbits` equal on the links of an orbit; then one source an orbit is asked.
    """
    if len(lengths) != len(topology.links) or min(lengths, default=-1) < 0:
        return None
    used = sum((link.bandwidth * length for link, length in zip(topology.links, lengths, strict=True)), Fraction(0))
    sources = topology.compute if orbits is None else orbits.first_compute(topology)
    sizes = [1 if orbits is None else orbits.node_sizes[orbits.of_node[source]] for source in sources]
    apart = sum(size * _distances(topology, lengths, source) for source, size in zip(sources, sizes, strict=True))
    return used / apart if apart else None


def _distances(topology: Topology, lengths: Sequence[int], source: int) -> int:
    """Return the distances from `source` to all compute nodes, added up (Dijkstra)."""
    arcs: list[list[tuple[int, int]]] = [[] for _ in topology.nodes]
    for link, length in zip(topology.links, lengths, strict=True):
        arcs[link.source].append((link.target, length))
    distance = {source: 0}
    heap = [(0, source)]
    while heap:
        far, node = heapq.heappop(heap)
        if far > distance[node]:
            continue
        for target, length in arcs[node]:
            if far + length < distance.get(target, far + length + 1):
                distance[target] = far + length
                heapq.heappush(heap, (far + length, target))
    return sum(distance[node] for node in topology.compute)


def flow_fault(
    topology: Topology, flow: Sequence[Sequence[Fraction]], sources: Sequence[int], rate: Fraction, orbits: Orbits
) -> str | None:
    """Return what is wrong with a flow at `rate`, in words, or None; each flow stands for its images as well."""
    if tuple(sources) != orbits.first_compute(topology):
        return "there must be one source of each orbit"
    load = [Fraction(0)] * len(orbits.link_sizes)
    for source, each in zip(sources, flow, strict=True):
        if min(each) < 0:
            return "a flow is negative"
        if not _is_delivered(topology, each, source, rate):
            return f"not everybody receives from {topology.nodes[source].id!r}"
        images = orbits.node_sizes[orbits.of_node[source]]
        for orbit, amount in zip(orbits.of_link, each, strict=True):
            load[orbit] += amount * images / orbits.link_sizes[orbit]
    if any(load[orbit] > topology.links[link].bandwidth for orbit, link in enumerate(orbits.first_links)):
        return "a link is used more than it can be"
    return None


def _is_delivered(topology: Topology, flow: Sequence[Fraction], source: int, rate: Fraction) -> bool:
    kept = [Fraction(0)] * len(topology.nodes)
    for link, amount in zip(topology.links, flow, strict=True):
        kept[link.target] += amount
        kept[link.source] -= amount
    wanted = (rate if node.is_compute else 0 for node in topology.nodes)
    return all(number == source or has >= wants for number, (has, wants) in enumerate(zip(kept, wanted, strict=True)))


def all_to_all_rate(
    topology: Topology, *, orbits: Orbits | None = None, gap: float = DEFAULT_GAP, progress: Progress = SILENT
) -> AllToAllOptimum:
    """Return the optimum of an all-to-all on `topology` or, where its program is too large, a bound near it.

    The bound is then at most about 1 + `gap` times what a flow reaches; `residual` says how near it is.

    Raises:
        InputError: the program is too large, and there are more than `MOST_SPREAD` compute nodes.
    """
    orbits = orbits or Orbits.of(topology)
    if columns_needed(topology, orbits) <= MOST_COLUMNS:
        return all_to_all_optimum(topology, orbits=orbits, progress=progress)
    if len(topology.compute) > MOST_SPREAD:
        raise InputError(
            f"{topology.name}: {len(topology.compute)} compute nodes and too little symmetry; an all-to-all is bounded "
            f"for {MOST_SPREAD} of them at most"
        )
    return all_to_all_nearly(topology, gap=gap, progress=progress)


def all_to_all_nearly(
    topology: Topology, *, gap: float = DEFAULT_GAP, rounds: int = MOST_ROUNDS, progress: Progress = SILENT
) -> AllToAllOptimum:
    """Return a bound on an all-to-all on `topology` and a rate that a flow reaches, both exact, near to each other.

    Args:
        topology: the network.
        gap: the search ends when the bound is at most 1 + `gap` times the rate.
        rounds: or after so many rounds, in each of which every node has its paths once anew.
        progress: is told how far the work is.
    """
    progress.begin("spreading an all-to-all over paths")
    scaled = ScaledTopology.of(topology)
    nodes, capacities = len(topology.compute), scaled.capacities
    core, problem = scaled.problem(capacities, nodes**2 * max(capacities))
    units, loads, lengths = core.spread_all_to_all(problem, rounds, gap, progress.advance)
    slowest = min(Fraction(each, load) for each, load in zip(capacities, loads, strict=True) if load)
    used = sum(each * length for each, length in zip(capacities, lengths, strict=True))
    core, problem = scaled.problem(capacities, 4 * nodes**2 * sum(lengths))
    bound = scaled.unit * Fraction(used, core.distance_sum(problem, lengths, progress.advance))
    reached = units * scaled.unit * slowest
    return AllToAllOptimum(bound, tuple(lengths), (), topology.compute, float(bound / reached) - 1, reached)


def all_to_all_optimum(
    topology: Topology, *, orbits: Orbits | None = None, progress: Progress = SILENT
) -> AllToAllOptimum:
    """Return the optimum of an all-to-all on `topology`, by linear programming made exact.

    Raises:
        InternalError: a defect.
    """
    progress.begin("solving the linear program of all-to-all")
    orbits = orbits or Orbits.of(topology)
    scaled = ScaledTopology.of(topology)
    sources = orbits.first_compute(topology)
    program = _program(scaled, orbits, sources)
    solution = program.solve()
    exact = program.exact(solution)
    rate, lengths = _best_lengths(topology, orbits, solution, exact[1] if exact else ())
    flow = _checked_flow(scaled, orbits, exact[0], rate) if exact else ()
    reached = float(solution.values[0]) * max(scaled.capacities) * float(scaled.unit)
    residual = 0.0 if flow else float(rate) / reached - 1
    return AllToAllOptimum(rate, lengths, flow, sources, residual, rate if flow else None)


def _program(scaled: ScaledTopology, orbits: Orbits, sources: Sequence[int]) -> LinearProgram:
    """Return the program. Columns: the rate, then each source's flow over each link. Rows: orbits of links first."""
    topology = scaled.topology
    links = len(topology.links)
    program = LinearProgram([1] + [0] * (links * len(sources)), scale=max(scaled.capacities))
    members: list[list[int]] = [[] for _ in orbits.link_sizes]
    for number, orbit in enumerate(orbits.of_link):
        members[orbit].append(number)
    for orbit, first in enumerate(orbits.first_links):
        _add_load(program, scaled, orbits, sources, members[orbit], scaled.capacities[first])
    for place, source in enumerate(sources):
        kept: list[dict[int, int]] = [{} for _ in topology.nodes]
        for number, link in enumerate(topology.links):
            column = 1 + place * links + number
            kept[link.target][column] = 1
            kept[link.source][column] = -1
        for number, node in enumerate(topology.nodes):
            if number != source and kept[number]:
                program.add(Row(kept[number] | ({0: -1} if node.is_compute else {}), 0, None))
    return program


def _add_load(  # noqa: PLR0913, PLR0917 (what a row is made of)
    program: LinearProgram,
    scaled: ScaledTopology,
    orbits: Orbits,
    sources: Sequence[int],
    members: Sequence[int],
    capacity: int,
) -> None:
    """Add the row that keeps the load of an orbit of links within its capacity; in whole numbers."""
    links = len(scaled.topology.links)
    row = {}
    for place, source in enumerate(sources):
        images = orbits.node_sizes[orbits.of_node[source]]
        for link in members:
            row[1 + place * links + link] = images
    program.add(Row(row, None, capacity * len(members)))


def _best_lengths(
    topology: Topology, orbits: Orbits, solution: Solution, prices: Sequence[Fraction]
) -> tuple[Fraction, tuple[int, ...]]:
    """Return the best bound with its lengths: of the exact prices of links, if there are any, or of rounded ones."""
    count = len(orbits.link_sizes)
    suggested = np.maximum(solution.prices[:count], 0.0)
    relative = [float(each) for each in suggested / suggested.max()]
    candidates = [[max(each, Fraction(0)) for each in prices[:count]]] if prices else []
    candidates += [[Fraction(each).limit_denominator(most) for each in relative] for most in _FINE]
    candidates += [[Fraction(round(each * most), most) for each in relative] for most in _FINE]
    found = []
    for candidate in candidates:
        common = lcm(*(each.denominator for each in candidate))
        if common <= _LONGEST:
            whole = [int(each * common) for each in candidate]
            lengths = tuple(whole[orbit] for orbit in orbits.of_link)
            rate = rate_by_lengths(topology, lengths, orbits)
            found += [] if rate is None else [(rate, lengths)]
    return min(found, key=lambda each: each[0])


def _checked_flow(
    scaled: ScaledTopology, orbits: Orbits, values: Sequence[Fraction], rate: Fraction
) -> tuple[tuple[Fraction, ...], ...]:
    """Return the flows that the columns' values stand for if they reach `rate`, else none."""
    topology = scaled.topology
    links, sources = len(topology.links), orbits.first_compute(topology)
    amounts = [each * scaled.unit for each in values[1:]]
    flow = tuple(tuple(amounts[place * links : (place + 1) * links]) for place in range(len(sources)))
    return flow if flow_fault(topology, flow, sources, rate, orbits) is None else ()
