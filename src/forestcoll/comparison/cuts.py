"""The data that crosses the cuts that limit a collective, next to the data that must cross them.

There are two such cuts: the one between a box and the rest of the network, and the one that proves the bound. For
boxes, the box with the greatest excess counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.algorithms.boxes import Boxes
from forestcoll.algorithms.method import Problem
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import Bound, CutProof
from forestcoll.topology import Link, Topology


@dataclass(frozen=True)
class CutTraffic:
    """The data that a schedule sends over a cut.

    Attributes:
        cut: the cut in words: `into a box`, `out of a box` or `out of the bottleneck cut`.
        crosses: the part of M that crosses it.
        needed: the part of M that must cross it in every schedule.

    Example:
        >>> from forestcoll import compare
        >>> found = compare("dgx-a100:boxes=2", baselines=["nccl-ring"])
        >>> [(each.cut, str(each.crosses), str(each.needed)) for each in found.row("nccl-ring").cuts]
        [('into a box', '15/16', '1/2'), ('out of the bottleneck cut', '15/16', '15/16')]
    """

    cut: str
    crosses: Fraction
    needed: Fraction


@dataclass(frozen=True)
class LoadedCut:
    """A cut with the links that data crosses it by.

    Attributes:
        traffic: the data that crosses the cut.
        busiest: the time of its busiest link for one unit of M.
        in_each_box: whether as much data crosses the same cut of all boxes.
    """

    traffic: CutTraffic
    busiest: Fraction
    in_each_box: bool = False


def loaded_cuts(problem: Problem, loads: Sequence[Fraction], bound: Bound) -> list[LoadedCut]:
    """Return the cuts of a collective with the data that crosses them.

    Args:
        problem: the collective and the network.
        loads: the part of M that crosses each link.
        bound: the bound of the collective.
    """
    found = (_of_boxes(problem, loads), _of_bound(problem, loads, bound))
    return [each for each in found if each is not None]


def _of_boxes(problem: Problem, loads: Sequence[Fraction]) -> LoadedCut | None:
    topology, boxes, demand = problem.topology, problem.boxes, problem.demand
    needed = _needed(topology, boxes, demand)
    if not needed:
        return None
    crossing: list[list[tuple[Link, Fraction]]] = [[] for _ in needed]
    places = {boxes.of[box[0]]: place for place, box in enumerate(boxes.members)}
    for link, load in zip(topology.links, loads, strict=True):
        place = places.get(boxes.of.get(_inner(link, demand), -1))
        if place is not None and boxes.of.get(link.source) != boxes.of.get(link.target):
            crossing[place].append((link, load))
    amounts = [sum((load for _, load in each), Fraction(0)) for each in crossing]
    _, worst = max((amount / enough, place) for place, (amount, enough) in enumerate(zip(amounts, needed, strict=True)))
    name = "out of a box" if demand.collective is Collective.REDUCE_SCATTER else "into a box"
    return LoadedCut(
        CutTraffic(name, amounts[worst], needed[worst]),
        max((load / link.bandwidth for each in crossing for link, load in each), default=Fraction(0)),
        in_each_box=len(set(amounts)) == len(set(needed)) == 1,
    )


def _needed(topology: Topology, boxes: Boxes, demand: NodeDemand) -> list[Fraction]:
    """Return the data that must enter each box or, in a reduce-scatter, leave it; none if this is not known.

    In an allreduce, the sums of the other boxes enter a box, and they enter all boxes 2(B - 1) times in total, unless
    a switch between the boxes copies data or adds it up.
    """
    count = len(boxes.members)
    if count < 2 or not boxes.is_complete:
        return []
    if demand.collective is Collective.ALLREDUCE:
        are_equal = len({len(box) for box in boxes.members}) == 1
        is_able = any(switch not in boxes.of for switch in topology.able_switches)
        return [Fraction(2 * (count - 1), count)] * count if are_equal and not is_able else []
    if demand.collective is Collective.ALL_TO_ALL:
        members = len(demand.members(topology))
        return [Fraction(len(box) * (members - len(box)), members) for box in boxes.members]
    parts = dict(zip(demand.members(topology), demand.parts(topology), strict=True))
    return [1 - sum((parts[node] for node in box), Fraction(0)) for box in boxes.members]


def _inner(link: Link, demand: NodeDemand) -> int:
    """Return the end of a link that is inside the box that data enters over it or, in a reduce-scatter, leaves."""
    return link.source if demand.collective is Collective.REDUCE_SCATTER else link.target


def _of_bound(problem: Problem, loads: Sequence[Fraction], bound: Bound) -> LoadedCut | None:
    """Return the cut that proves the bound; None if another proof does, or if it is the cut of a box."""
    topology, demand = problem.topology, problem.demand
    if not isinstance(bound.proof, CutProof) or _is_of_box(bound.proof, problem):
        return None
    inside = set(bound.proof.inside)
    pairs = zip(topology.links, loads, strict=True)
    cut = [(link, load) for link, load in pairs if link.source in inside and link.target not in inside]
    traffic = CutTraffic(
        "out of the bottleneck cut",
        sum((load for _, load in cut), Fraction(0)),
        bound.proof.must_leave(topology, demand),
    )
    return LoadedCut(traffic, max(load / link.bandwidth for link, load in cut))


def _is_of_box(proof: CutProof, problem: Problem) -> bool:
    """Return whether the data that leaves a cut is what enters a box or, in a reduce-scatter, what leaves it."""
    if not _needed(problem.topology, problem.boxes, problem.demand):
        return False
    is_reversed = problem.collective is Collective.REDUCE_SCATTER
    inside = set(proof.inside)
    side = tuple(node for node in problem.members if (node in inside) == is_reversed)
    return side in problem.boxes.members
