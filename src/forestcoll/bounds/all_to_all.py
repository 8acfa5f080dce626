"""The optimum of an all-to-all: the greatest rate at which every compute node can send to every other at the same time.

(Zhao et al., *Efficient Direct-Connect Topologies for Collective Communications*, appendix A.5.) A rate f between every
two compute nodes at the same time is a multi-commodity flow. All commodities of one source are combined into one flow:
y(s, e) is the flow of source s over link e, and f of this flow stays at each other compute node:

    maximise f,  where  sum over s of y(s, e) <= b(e)   for each link e,
                        y(s, in) - y(s, out) >= f       at each compute node but s,   >= 0 at each switch.

Each pair of nodes has different data, so copying does not help. If a symmetry of the network moves compute nodes, only
one source of each orbit needs a flow; the flows of the other sources are its images.

The dual: any lengths l(e) >= 0 of the links prove

    f <= (sum over links of b(e) l(e)) / (sum over pairs of compute nodes of the distance between them),

because a flow f between two nodes uses at least f times their distance. HiGHS proposes lengths. They are rounded to
integers, and the bound that they prove is computed exactly, by shortest paths. So the bound is valid even if the solver
is inaccurate. It is the optimum if a flow in fractions, which is checked, reaches it.

If the program is too large (a thousand nodes without symmetry need four million columns), the core sends integer units
along paths, and lengths that it computes prove a bound. The rate of the flow and the bound are both exact, and the gap
between them is stated.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.errors import InputError
from forestcoll.exact_lp.linear_program import LinearProgram, Row, Solution
from forestcoll.forest_optimum.scaling import ScaledTopology
from forestcoll.progress import SILENT, Progress
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.orbits import Orbits
from forestcoll.topology.registry import load_topology

MOST_COLUMNS = 60_000
"""The most columns of the program: one for each pair of a link and an orbit of compute nodes."""

MOST_SPREAD = 2048
"""The most compute nodes for which paths are searched if the program is too large."""

MOST_ROUNDS = 64
"""The most rounds of that search. The bound is then usually within two percent of the reached rate."""

DEFAULT_GAP = 0.02
"""The relative gap between the bound and the reached rate at which the search for paths ends."""

_FINE = (1, 12, 720, 10**6, 10**9)
"""The denominators to which lengths, relative to the greatest length, are rounded."""

_LONGEST = 10**200
"""The greatest length that is tried; the product of many denominators can be greater."""


@dataclass(frozen=True)
class AllToAllOptimum:
    """The greatest rate at which every compute node can send to every other at the same time.

    Attributes:
        pair_rate: f, the rate of each pair of nodes that no schedule exceeds, in the unit of the topology, exact.
        lengths: a length for each link; together they prove `pair_rate`.
        flow: the flow of each of `sources` over each link at `pair_rate`, checked; empty if no exact flow was found.
        sources: the compute nodes whose flows are listed, one for each orbit of a symmetry of the network.
        residual: without a flow, the relative amount by which `pair_rate` exceeds the rate that was reached.
        reached: the rate of an exact flow, equal to `pair_rate` if that is the optimum; None if there is no exact flow.

    Example:
        >>> from forestcoll import all_to_all_optimum, load_topology
        >>> ring = load_topology("ring:nodes=3")
        >>> best = all_to_all_optimum(ring)
        >>> str(best.pair_rate), best.reached == best.pair_rate, len(best.lengths) == len(ring.links)
        ('1', True, True)
    """

    pair_rate: Fraction
    lengths: tuple[int, ...]
    flow: tuple[tuple[Fraction, ...], ...]
    sources: tuple[int, ...]
    residual: float = 0.0
    reached: Fraction | None = None

    @property
    def exact(self) -> bool:
        """Whether a flow reaches the bound. Then the bound is the optimum."""
        return self.reached == self.pair_rate


def columns_needed(topology: Topology, orbits: Orbits) -> int:
    """Return the number of columns of the program for `topology`."""
    return 1 + len(orbits.first_compute(topology)) * len(topology.links)


def rate_by_lengths(topology: Topology, lengths: Sequence[int], orbits: Orbits | None = None) -> Fraction | None:
    """Return the bound on the rate of each pair that link lengths prove, or None if they prove nothing.

    Lengths are 0 or more. With `orbits`, they must be equal on the links of an orbit; then distances are computed from
    one source of each orbit.
    """
    if len(lengths) != len(topology.links) or min(lengths, default=-1) < 0:
        return None
    used = sum((link.bandwidth * length for link, length in zip(topology.links, lengths, strict=True)), Fraction(0))
    sources = topology.compute if orbits is None else orbits.first_compute(topology)
    sizes = [1 if orbits is None else orbits.node_sizes[orbits.of_node[source]] for source in sources]
    apart = sum(size * _distances(topology, lengths, source) for source, size in zip(sources, sizes, strict=True))
    return used / apart if apart else None


def _distances(topology: Topology, lengths: Sequence[int], source: int) -> int:
    """Return the sum of the distances from `source` to all compute nodes (Dijkstra)."""
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
    """Return, in words, why a flow is not a solution with `rate`, or None. Each flow also represents its images."""
    if tuple(sources) != orbits.first_compute(topology):
        return "there must be one source of each orbit"
    load = [Fraction(0)] * len(orbits.link_sizes)
    for source, each in zip(sources, flow, strict=True):
        if min(each) < 0:
            return "a flow is negative"
        if not _is_delivered(topology, each, source, rate):
            return f"a node receives less than the rate from {topology.nodes[source].id!r}"
        images = orbits.node_sizes[orbits.of_node[source]]
        for orbit, amount in zip(orbits.of_link, each, strict=True):
            load[orbit] += amount * images / orbits.link_sizes[orbit]
    if any(load[orbit] > topology.links[link].bandwidth for orbit, link in enumerate(orbits.first_links)):
        return "a link is used beyond its bandwidth"
    return None


def _is_delivered(topology: Topology, flow: Sequence[Fraction], source: int, rate: Fraction) -> bool:
    kept = [Fraction(0)] * len(topology.nodes)
    for link, amount in zip(topology.links, flow, strict=True):
        kept[link.target] += amount
        kept[link.source] -= amount
    wanted = (rate if node.is_compute else 0 for node in topology.nodes)
    return all(number == source or has >= wants for number, (has, wants) in enumerate(zip(kept, wanted, strict=True)))


def all_to_all_rate(
    topology: TopologyLike, *, orbits: Orbits | None = None, gap: float = DEFAULT_GAP, progress: Progress = SILENT
) -> AllToAllOptimum:
    """Return the optimum of an all-to-all on `topology` or, if its linear program is too large, a bound near it.

    Args:
        topology: the network.
        orbits: the orbits of a group of symmetries, if they are known already.
        gap: if the program is too large, the search ends when the bound is at most 1 + `gap` times the reached rate.
            `residual` of the result is the gap reached.
        progress: receives the stages of the work.

    Returns:
        The optimum or the bound, as a rate of each pair of nodes in the unit of the topology.

    Raises:
        InputError: the program is too large, and there are more than `MOST_SPREAD` compute nodes.

    Example:
        >>> from forestcoll import all_to_all_rate, load_topology
        >>> best = all_to_all_rate(load_topology("ring:nodes=4"))
        >>> str(best.pair_rate), best.exact
        ('1/2', True)
    """
    topology = load_topology(topology)
    orbits = orbits or Orbits.of(topology)
    if columns_needed(topology, orbits) <= MOST_COLUMNS:
        return all_to_all_optimum(topology, orbits=orbits, progress=progress)
    if len(topology.compute) > MOST_SPREAD:
        raise InputError(
            f"{topology.name}: {len(topology.compute)} compute nodes and too little symmetry; the bound of an "
            f"all-to-all is computed for at most {MOST_SPREAD}"
        )
    return approximate_all_to_all(topology, gap=gap, progress=progress)


def approximate_all_to_all(
    topology: Topology, *, gap: float = DEFAULT_GAP, rounds: int = MOST_ROUNDS, progress: Progress = SILENT
) -> AllToAllOptimum:
    """Return a bound of an all-to-all on `topology`, and a rate near it that a flow reaches. Both are exact.

    Args:
        topology: the network.
        gap: the search ends when the bound is at most 1 + `gap` times the rate.
        rounds: the most rounds; in each round the paths of every node are computed once.
        progress: receives the progress of the work.
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
    topology: TopologyLike, *, orbits: Orbits | None = None, progress: Progress = SILENT
) -> AllToAllOptimum:
    """Return the optimum of an all-to-all on `topology`, by an exact linear program of any size.

    Args:
        topology: the network.
        orbits: the orbits of a group of symmetries, if they are known already.
        progress: receives the stages of the work.

    Returns:
        The optimum, as a rate of each pair of nodes in the unit of the topology, with its proof.

    Raises:
        InternalError: a defect of forestcoll.

    Example:
        >>> from forestcoll import all_to_all_optimum, load_topology
        >>> str(all_to_all_optimum(load_topology("ring:nodes=6")).pair_rate)
        '2/9'
    """
    topology = load_topology(topology)
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
    """Return the program. Columns: the rate, then the flow of each source over each link. First rows: link loads."""
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
    """Add the row that limits the load of an orbit of links to its capacity, with integer coefficients."""
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
    """Return the best bound with its lengths, from the exact prices of links, if given, and from rounded ones."""
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
    """Return the flows that the values of the columns describe if they reach `rate`, else an empty tuple."""
    topology = scaled.topology
    links, sources = len(topology.links), orbits.first_compute(topology)
    amounts = [each * scaled.unit for each in values[1:]]
    flow = tuple(tuple(amounts[place * links : (place + 1) * links]) for place in range(len(sources)))
    return flow if flow_fault(topology, flow, sources, rate, orbits) is None else ()
