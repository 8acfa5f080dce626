"""Why a schedule is slower than the optimum, in one sentence.

If more data enters a box than must, or leaves the cut that bounds the collective, and if the links there are among the
busiest, that is the reason. After it, the sentence says which links are always busy, and how busy the others are.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from forestcoll.baselines.boxes import Boxes
from forestcoll.collective import Collective
from forestcoll.comparison.link_loads import link_classes, link_loads
from forestcoll.proof import Bound, CutProof
from forestcoll.request import Demand
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Link, Topology

_MOST_CLASSES = 4
"""The most classes of links that a sentence names."""

TIE = "a tie: it reaches the bound, so no schedule is faster"
"""The sentence for a schedule that reaches the bound."""

_NEARLY = Fraction(99, 100)
"""From this part of the time of the busiest link on, a link limits the schedule, too."""

_LARGEST = 10_000
"""The greatest denominator of a fraction that is printed exactly."""


def reason_for(schedule: Schedule, algbw: Fraction, bound: Bound, demand: Demand) -> str:
    """Return the sentence for a schedule that `verify` accepts, without a period.

    Args:
        schedule: the schedule.
        algbw: its algbw.
        bound: the bound of the collective.
        demand: the collective and its parameters.
    """
    if algbw == bound.algbw:
        return TIE
    topology, loads = schedule.topology, link_loads(schedule)
    boxes = Boxes(topology, demand.members(topology))
    excess = _into_boxes(topology, boxes, loads, demand) or _over_cut(topology, loads, bound, demand)
    return "; ".join((*excess, _busy(topology, boxes, loads)))


def _into_boxes(topology: Topology, boxes: Boxes, loads: Sequence[Fraction], demand: Demand) -> list[str]:
    """Say how much data enters the box with the greatest excess, if it is more than must enter."""
    needed = needed_in_boxes(topology, boxes, demand)
    if not needed:
        return []
    entering, crossing = [Fraction(0)] * len(needed), []
    places = {boxes.of[box[0]]: place for place, box in enumerate(boxes.members)}
    for link, load in zip(topology.links, loads, strict=True):
        place = places.get(boxes.of.get(_inner(link, demand), -1))
        if place is not None and boxes.of.get(link.source) != boxes.of.get(link.target):
            entering[place] += load
            crossing.append(load / link.bandwidth)
    excess, worst = max(
        (amount / enough, place) for place, (amount, enough) in enumerate(zip(entering, needed, strict=True))
    )
    if excess <= 1 or not _are_limit(crossing, topology, loads):
        return []
    each = "each box" if len(set(entering)) == len(set(needed)) == 1 else "a box"
    verb = "leaves" if demand.collective is Collective.REDUCE_SCATTER else "enters"
    amounts = f"{_amount(entering[worst])} where {_amount(needed[worst])} would do"
    return [f"data {verb} {each} {float(excess):.3g} times: {amounts}"]


def needed_in_boxes(topology: Topology, boxes: Boxes, demand: Demand) -> list[Fraction]:
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
    parts = dict(zip(demand.members(topology), demand.parts(topology), strict=True))
    return [1 - sum((parts[node] for node in box), Fraction(0)) for box in boxes.members]


def _inner(link: Link, demand: Demand) -> int:
    """Return the end of a link that is inside the box that data enters over it or, in a reduce-scatter, leaves."""
    return link.source if demand.collective is Collective.REDUCE_SCATTER else link.target


def _over_cut(topology: Topology, loads: Sequence[Fraction], bound: Bound, demand: Demand) -> list[str]:
    """Say how much data leaves the bottleneck cut, if it is more than must leave."""
    if not isinstance(bound.proof, CutProof):
        return []
    inside = set(bound.proof.inside)
    pairs = zip(topology.links, loads, strict=True)
    cut = [(link, load) for link, load in pairs if link.source in inside and link.target not in inside]
    leaving = sum((load for _, load in cut), Fraction(0))
    needed = bound.proof.must_leave(topology, demand)
    if leaving <= needed or not _are_limit([load / link.bandwidth for link, load in cut], topology, loads):
        return []
    return [f"{_amount(leaving)} leaves the bottleneck cut, where {_amount(needed)} would do"]


def _are_limit(times: Sequence[Fraction], topology: Topology, loads: Sequence[Fraction]) -> bool:
    """Return whether one of these times of links is nearly the greatest of all links."""
    most = max(load / link.bandwidth for load, link in zip(loads, topology.links, strict=True))
    return max(times) >= _NEARLY * most


def _busy(topology: Topology, boxes: Boxes, loads: Sequence[Fraction]) -> str:
    """Say how busy the busiest link of each class is."""
    times = [load / link.bandwidth for load, link in zip(loads, topology.links, strict=True)]
    classes = link_classes(topology, boxes).items()
    busiest = sorted(((max(times[link] for link in links), name) for name, links in classes), key=lambda each: -each[0])
    most = busiest[0][0]
    named = list(_words(busiest, most))
    rest = len(named) - _MOST_CLASSES
    return ", ".join(named[:_MOST_CLASSES]) + (f", {rest} other classes less" if rest > 0 else "")


def _words(busiest: Sequence[tuple[Fraction, str]], most: Fraction) -> Iterator[str]:
    for place, (time, name) in enumerate(busiest):
        yield f"{name} {int(100 * time / most)}%{' busy' if place == 0 else ''}"


def _amount(part: Fraction) -> str:
    return f"{part} M" if part.denominator < _LARGEST else f"{float(part):.4g} M"
