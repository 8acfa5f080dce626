"""Additions: what one new link, or one more cable next to a link, gains.

A new link helps only if it crosses every cut that limits the network now. The cut of the optimum and its images under
the symmetries of the network are such cuts, so most pairs of nodes are known to gain nothing without being computed.
"""

from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import numpy.typing as npt

from forestcoll.collective import Collective
from forestcoll.errors import InputError, shown
from forestcoll.files import PathLike
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.cut import CutProof
from forestcoll.ranks import RanksLike
from forestcoll.request import Demand, RequestLike
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.topology.automorphisms import find_symmetry
from forestcoll.topology.changes import Ends, link_name
from forestcoll.topology.part import relayed
from forestcoll.units import bandwidth_in
from forestcoll.what_if.change import Change
from forestcoll.what_if.classes import SetClass, Symmetries, classes_of_sets
from forestcoll.what_if.study import Row, Study, asked_of
from forestcoll.what_if.sweep import Sweep
from forestcoll.what_if.value import Value, value_of

_MOST_IMAGES = 4096
"""The most images of the cut that are compared."""

Masks = npt.NDArray[np.bool_]


def additions(  # noqa: PLR0913 (what is asked, and how it is done)
    topology: TopologyLike,
    collective: RequestLike = Collective.ALLGATHER,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    bandwidth: object | None = None,
    executor: Executor | None = None,
    checkpoint: PathLike | None = None,
    progress: Progress = SILENT,
) -> Study:
    """Return what one new full-duplex link between any two nodes gains, the best first.

    Where two nodes are linked already, the new link is a second cable. Pairs that are known to be symmetric are one
    row.

    Args:
        topology: as for `failures`.
        collective: as for `failures`.
        ranks: as for `failures`.
        root: as for `failures`.
        bandwidth: the bandwidth of the new link each way, in the unit of the topology or with a unit. If None, it is as
            fast as the fastest link that both ends have.
        executor: as for `failures`.
        checkpoint: as for `failures`.
        progress: receives the number of finished links.

    Returns:
        The study. The name of each change is `A--B=BANDWIDTH`, where BANDWIDTH is that of the new link.

    Raises:
        InputError: an argument is not valid, or there are too many pairs of nodes.
        NoSolutionError: as `optimum`.

    Example:
        >>> from forestcoll import additions
        >>> best = additions("mesh:dims=4").rows[0]
        >>> best.change.name, str(best.value.algbw)
        ('0--3=1', '8/3')
    """
    network, demand = asked_of(topology, collective, ranks, root)
    given = None if bandwidth is None else _bandwidth(network, bandwidth)
    base = value_of(network, demand, Change(""))
    progress.begin("looking for a symmetry")
    classes = classes_of_sets(len(network.nodes), 2, Symmetries.of(network, demand).images)
    changes = [_change(network, (each.first[0], each.first[1]), given) for each in classes]
    progress.begin("computing new links")
    proven = _proven(network, demand, base, classes)
    sweep = Sweep(executor, checkpoint, progress)
    unproven = [change for change, value in zip(changes, proven, strict=True) if value is None]
    values = iter(sweep.values(network, demand, unproven))
    rows = [
        _row(base, change, next(values) if value is None else value, each.count)
        for change, value, each in zip(changes, proven, classes, strict=True)
    ]
    return Study(network, demand, base, tuple(sorted(rows, key=lambda row: -row.ratio)))


def _bandwidth(network: Topology, value: object) -> Fraction:
    try:
        number = bandwidth_in(network.bandwidth_unit, value)
    except ValueError as error:
        raise InputError(f"bandwidth of the new link {shown(value)} {error}") from None
    if number <= 0:
        raise InputError(f"bandwidth of the new link is {shown(value)}; it must be greater than 0")
    return number


def _row(base: Value, change: Change, value: Value, count: int) -> Row:
    return Row(change, value, value.algbw / base.algbw, count)


def _change(network: Topology, ends: Ends, given: Fraction | None) -> Change:
    more = min(_fastest(network, end) for end in ends) if given is None else given
    now = {
        (link.source, link.target): link.bandwidth for link in network.links if {link.source, link.target} == {*ends}
    }
    ways = (ends, ends[::-1])
    faster = tuple((source, target, now.get((source, target), Fraction(0)) + more) for source, target in ways)
    return Change(f"{link_name(network, ends)}={more}", bandwidths=faster)


def _fastest(network: Topology, node: int) -> Fraction:
    return max(link.bandwidth for link in network.links if node in {link.source, link.target})


def _proven(network: Topology, demand: Demand, base: Value, classes: list[SetClass]) -> list[Value | None]:
    """Return, for each pair of nodes, the optimum with a link between them if a known cut proves it gains nothing."""
    if base.proof != CutProof.kind or not base.is_optimal:
        return [None] * len(classes)
    cuts = _cuts(network, demand, base)
    found: list[Value | None] = []
    for each in classes:
        one, other = each.first
        uncrossed = np.flatnonzero(cuts[:, one] == cuts[:, other])
        cut = tuple(np.flatnonzero(cuts[uncrossed[0]]).tolist()) if len(uncrossed) else None
        found.append(None if cut is None else replace(base, cut=cut))
    return found


def _cuts(network: Topology, demand: Demand, base: Value) -> Masks:
    """Return the cut of the optimum and its images, a row each."""
    inside = np.zeros(len(network.nodes), dtype=np.bool_)
    inside[list(base.cut)] = True
    if demand.root is not None:
        return inside[np.newaxis]
    symmetry = find_symmetry(relayed(network, demand.members(network)))
    return np.array([inside[image] for image in islice(symmetry.elements(len(inside)), _MOST_IMAGES)])
