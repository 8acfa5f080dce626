"""The search for the optimum of an all-to-all, a gather or a scatter, and the checks of its result.

Paths and proof are checked against the network and the demand before they are returned: the loads of all links are
added up, and the lengths or the cut prove the bound by `Proof.algbw`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from forestcoll.base.errors import InputError, InternalError
from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.resources import ResourceEstimate, announce
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.proof.lengths.lengths import LengthsProof, distance_sum
from forestcoll.solver.flows import spreading
from forestcoll.solver.flows.classes import MOST_CELLS, FlowClasses
from forestcoll.solver.flows.paths import exact_paths, rounded_paths
from forestcoll.solver.flows.program import FlowProgram, ProgramResult
from forestcoll.solver.flows.rooted import rooted_flow
from forestcoll.solver.flows.value import FlowOptimum, FlowPath
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.graph.part import usable_part, widened
from forestcoll.topology.symmetry.hanging import hanging_orbits
from forestcoll.topology.symmetry.orbits import Orbits

MOST_COLUMNS = 60_000
"""The most columns of a linear program."""

_OF_COLUMN = ResourceEstimate(1e-3, 10_000)
"""What a linear program takes; 1,800 to 30,000 columns of meshes and Kautz graphs took 0.3 to 1.5 ms each."""

_Shares = list[tuple[tuple[int, ...], Fraction]]


def flow_search(  # noqa: PLR0913 (what is asked, and what is known already)
    topology: Topology,
    demand: NodeDemand,
    progress: Progress = SILENT,
    orbits: Orbits | None = None,
    *,
    most_columns: int | None = None,
    paths: bool = True,
) -> FlowOptimum:
    """Return the optimum of an all-to-all, a gather or a scatter.

    Args:
        topology: the network.
        demand: the demand.
        progress: receives the stages of the work.
        orbits: the orbits of the usable part of the network, if they are known already.
        most_columns: the most columns of a linear program that is solved; `MOST_COLUMNS` if None.
        paths: whether the paths are needed, of which a network of 1,000 compute nodes has more than a million. Without
            them, the flows of the linear program are the proof that the algbw can be reached, if they are exact.

    Raises:
        InputError: the linear program is too large.
        InternalError: a defect of forestcoll.
    """
    if demand.root is not None:
        return _rooted(topology, demand, demand.root, progress)
    most_columns = MOST_COLUMNS if most_columns is None else most_columns
    return _all_pairs(topology, demand, progress, orbits, most_columns, needs_paths=paths)


def _rooted(topology: Topology, demand: NodeDemand, root: int, progress: Progress) -> FlowOptimum:
    members = demand.members(topology)
    part = usable_part(topology, members)
    sent = dict(zip(members, demand.sent(topology), strict=True))
    inward = demand.collective is Collective.GATHER
    if inward:
        parts = {node: targets[root] for node, targets in sent.items() if targets}
        found = rooted_flow(part.transposed(), root, parts, progress)
        inside = tuple(node for node in range(len(topology.nodes)) if node not in found.inside)
    else:
        found = rooted_flow(part, root, sent[root], progress)
        inside = found.inside
    proof = CutProof(widened(topology, members, inside))
    paths = tuple(FlowPath(nodes[::-1] if inward else nodes, share) for nodes, share in found.paths)
    alone = Orbits.of(topology, Symmetry(()))
    algbw = 1 / _greatest_time(topology, paths, alone)
    bound = Bound(demand.collective, proof.algbw(topology, demand), proof)
    return _checked(FlowOptimum(topology, algbw, bound, demand, paths, alone.symmetry))


def _all_pairs(  # noqa: PLR0913 (what `flow_search` takes)
    topology: Topology,
    demand: NodeDemand,
    progress: Progress,
    orbits: Orbits | None,
    most_columns: int,
    *,
    needs_paths: bool,
) -> FlowOptimum:
    part = usable_part(topology, demand.members(topology))
    if demand.matrix is not None:
        orbits = Orbits.of(part, Symmetry(()))
    elif orbits is None:
        progress.begin("looking for a symmetry")
        orbits = Orbits.of(part)
    sent = dict(zip(demand.members(topology), demand.sent(topology), strict=True))
    sources = sum(bool(sent.get(node)) for node in orbits.first_nodes)
    if sources * len(part.links) > MOST_CELLS:
        return _spread(topology, part, demand, progress)
    progress.begin("dividing flows into classes")
    only_bound = not needs_paths and demand.matrix is None and not orbits.symmetry.shifts
    classes = FlowClasses.few(part, sent, hanging_orbits(part) if only_bound else orbits, most_columns)
    if classes is None:
        return _spread(topology, part, demand, progress)
    needs = [sent[source] for source in classes.sources]
    work = f"{topology.name}: a linear program of {classes.columns:,} columns"
    announce(work, _OF_COLUMN * classes.columns, progress)
    progress.begin("solving the linear program of flows")
    found = FlowProgram(classes, needs).solve()
    if not needs_paths and found.algbw is not None:
        bound = _best_bound(demand, classes, found, found.algbw)
        if bound.algbw == found.algbw:
            return FlowOptimum(topology, found.algbw, bound, demand, (), orbits.symmetry)
    progress.begin("dividing flows into paths")
    if only_bound:
        classes = FlowClasses.of(part, sent, orbits)  # the same classes, with a row for each source
    paths = tuple(
        FlowPath(*each) for place in range(len(classes.sources)) for each in _paths(classes, place, needs[place], found)
    )
    algbw = 1 / _greatest_time(part, paths, orbits)
    progress.begin("checking the proof")
    bound = _best_bound(demand, classes, found, algbw)
    return _checked(FlowOptimum(topology, algbw, bound, demand, paths, orbits.symmetry))


def _spread(topology: Topology, part: Topology, demand: NodeDemand, progress: Progress) -> FlowOptimum:
    """Return a bound of a large all-to-all and a rate near it, without paths.

    Raises:
        InputError: there is a demand matrix, or there are too many nodes.
    """
    nodes = len(part.compute)
    if demand.matrix is not None or nodes > spreading.MOST_NODES:
        more = "" if demand.matrix is not None else f", and the network more than {spreading.MOST_NODES} compute nodes"
        raise InputError(
            f"{topology.name}: its linear program has more than {MOST_COLUMNS:,} columns{more}; so many cannot be "
            "solved within minutes; use a network with more symmetry, or fewer ranks"
        )
    algbw, lengths = spreading.spread_all_to_all(part, progress=progress)
    proof = LengthsProof.of(part, lengths)
    bound = Bound(demand.collective, proof.algbw(topology, demand), proof)
    return FlowOptimum(topology, algbw, bound, demand, (), Symmetry(()), is_reached=False)


def _best_bound(demand: NodeDemand, classes: FlowClasses, found: ProgramResult, reached: Fraction) -> Bound:
    """Return the least bound that one of the candidates for lengths proves; a bound that is reached is the least.

    Lengths are equal on the links of an orbit, so the distances from one source of each orbit are enough.
    """
    part, best, times = classes.topology, None, dict(zip(classes.sources, classes.times.tolist(), strict=True))
    for lengths in found.lengths:
        proof = LengthsProof.of(part, lengths)
        used = sum((link.bandwidth * each for link, each in zip(part.links, lengths, strict=True)), Fraction(0))
        apart = distance_sum(part, demand, lengths, times)
        if not apart:
            continue
        value = used / apart
        if best is None or value < best.algbw:
            best = Bound(demand.collective, value, proof)
        if value == reached:
            break
    if best is None:
        raise InternalError("a linear program of flows has no prices")
    return best


def _paths(classes: FlowClasses, place: int, needs: Mapping[int, Fraction], found: ProgramResult) -> _Shares:
    """Return the paths of one source."""
    source = classes.sources[place]
    if found.values is not None:
        return exact_paths(classes.topology, classes.flow(place, found.values), source, needs)
    columns = classes.of_pair[place].tolist()
    guess = [as_float(found.guess[column]) if column >= 0 else 0.0 for column in columns]
    return rounded_paths(classes.topology, guess, source, needs)


def _greatest_time(topology: Topology, paths: Sequence[FlowPath], orbits: Orbits) -> Fraction:
    """Return the time of the busiest link for one unit of M, with the images of `paths` under the symmetry."""
    places = topology.link_numbers
    numbers: dict[Fraction, int] = {}  # of shares: the hash of a fraction takes long
    used = [dict[int, int]() for _ in orbits.link_sizes]
    for path in paths:
        number = numbers.setdefault(path.share, len(numbers))
        for ends in pairwise(path.nodes):
            counts = used[orbits.of_link[places[ends]]]
            counts[number] = counts.get(number, 0) + 1
    shares = list(numbers)
    times = [
        sum((shares[number] * count for number, count in counts.items()), Fraction(0))
        * Fraction(orbits.symmetry.order, size)
        / topology.links[first].bandwidth
        for counts, size, first in zip(used, orbits.link_sizes, orbits.first_links, strict=True)
    ]
    return max(times)


def _checked(optimum: FlowOptimum) -> FlowOptimum:
    """Return the optimum after a check of its paths.

    Raises:
        InternalError: the paths of the listed sources do not deliver what these sources send, or beat the bound.
    """
    topology, demand = optimum.topology, optimum.demand
    sent = dict(zip(demand.members(topology), demand.sent(topology), strict=True))
    totals: dict[tuple[int, int], Fraction] = {}
    for path in optimum.paths:
        ends = path.nodes[0], path.nodes[-1]
        totals[ends] = totals[ends] + path.share if ends in totals else path.share
    sources = {source for source, _ in totals}
    needed = {(source, target): part for source in sources for target, part in sent[source].items()}
    if totals != needed:
        raise InternalError("the paths of a flow do not deliver what its sources send")
    if optimum.algbw > optimum.bound.algbw:
        raise InternalError(f"the paths of a flow reach {optimum.algbw}, more than the bound {optimum.bound.algbw}")
    return optimum
