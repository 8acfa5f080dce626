"""RCCL's rings for boxes of MI250 and MI300X, which are fixed orders, not the result of a search.

RCCL compares a box with models of known boxes. A model lists one order of the GPUs for each channel; all channels carry
equal parts. Between boxes, the last GPU of a channel sends to the first GPU of the channel in the next box.

Source: RCCL, `src/graph/rome_models.cc` of October 2024, models 56 (MI250, one box), 59 and 65 (MI250, two boxes or
more), 79 (MI300X, one box), 81 (MI300X, two boxes or more). GPU i of the models of MI250 is GPU i XOR 4 of the builder
`mi250`. Model 81 has eight distinct orders, each of which it repeats; they use every link of the box once.

Where it loses: as NCCL's rings, they take (N-1)/N of the data into every box, although (B-1)/B would do for B boxes. In
one box of MI250, six rings do not use all links.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Ring, around, rings, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.nccl_ring import RingChannel, ring_of
from forestcoll.algorithms.ring_orders import Passage
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.machines.mi250 import FABRIC_LINKS

_MI250_ONE_BOX = """
    013267feab98cd54 012376dc89abfe54 02376efba89dc451 45dc89baef762310 45efba98cd673210 154cd98abfe67320
"""
"""Model 56: for each ring, the GPUs of RCCL as hexadecimal digits."""

_MI250_BOXES = """
    98cd54013267feab 3267feab98cd5401 76231045dc89baef feab98cd54013267 baef76231045dc89 1045dc89baef7623
    67321045efba98cd efba98cd67321045 54012376dc89abfe dc89abfe54012376 89dc45102376efba abfe67320154cd98
    cd98abfe67320154 45102376efba89dc 2376efba89dc4510 0154cd98abfe6732 ab98cd54013267fe 67feab98cd540132
    231045dc89baef76 ef76231045dc89ba 012376dc89abfe54 89abfe54012376dc 76dc89abfe540123 321045efba98cd67
    cd67321045efba98 45efba98cd673210 102376efba89dc45 dc45102376efba89 ba89dc45102376ef 54cd98abfe673201
    fe67320154cd98ab 98abfe67320154cd
"""
"""Models 59 and 65, which have the same rings."""

_MI300X_ONE_BOX = """
    01234567 01234576 02413657 02461735 03152746 03516274 04173625 76543210 67543210 75631420 53716420
    64725130 47261530 52637140
"""
"""Model 79."""

_MI300X_BOXES = """
    01234567 10243576 25036174 37042165 46273051 54713260 63140752 72064153
"""
"""Model 81."""

_MI250_LINKS = {pair: Fraction(count) for pair, count in FABRIC_LINKS.items()}

_MI300X_LINKS = dict.fromkeys(combinations(range(8), 2), Fraction(1))


@baseline(
    "rccl-ring",
    Family.TREES,
    UNROOTED,
    title="RCCL's rings",
    summary="The default of AMD's library: its fixed rings for this kind of box",
    by_size=False,
)
def rccl_ring(problem: Problem) -> TreeSchedule:
    """Return the rings of RCCL for a problem.

    Raises:
        DoesNotApplyError: a box is not like those for which RCCL has fixed rings.
    """
    problem.require_boxes()
    return schedule_of(problem, lambda each: rings(each, _rings(each)))


def _rings(problem: Problem) -> list[Ring]:
    boxes = problem.boxes.members
    orders = [_orders(problem, box, alone=len(boxes) == 1) for box in boxes]
    part = Fraction(1, len(orders[0]))
    if len(boxes) == 1:
        return [(part, around(order)) for order in orders[0]]
    if len({len(each) for each in orders}) > 1:
        raise DoesNotApplyError("some boxes are those of MI250, others those of MI300X")
    crossings = Crossings(problem)
    by_box = [[_passage(crossings, part, order) for order in each] for each in orders]
    return [ring_of(problem, RingChannel(part, passages)) for passages in zip(*by_box, strict=True)]


def _orders(problem: Problem, box: Sequence[int], *, alone: bool) -> list[tuple[int, ...]]:
    """Return the orders of the model that a box is like."""
    counts = _counts(problem, box)
    if len(box) == 16 and counts == _MI250_LINKS:
        text, mask = (_MI250_ONE_BOX if alone else _MI250_BOXES), 4
    elif len(box) == 8 and counts == _MI300X_LINKS:
        text, mask = (_MI300X_ONE_BOX if alone else _MI300X_BOXES), 0
    else:
        raise DoesNotApplyError(
            "RCCL has fixed rings for full boxes of MI250 and MI300X, and the links of a box are not like these"
        )
    return [tuple(box[int(digit, 16) ^ mask] for digit in order) for order in text.split()]


def _counts(problem: Problem, box: Sequence[int]) -> dict[tuple[int, int], Fraction] | None:
    """Return the direct links of a box in multiples of the slowest, by places; None if they are not duplex."""
    places = {node: place for place, node in enumerate(box)}
    links = {
        (places[source], places[target]): bandwidth
        for (source, target), bandwidth in problem.routes.bandwidths.items()
        if source in places and target in places
    }
    if any(links.get((target, source)) != bandwidth for (source, target), bandwidth in links.items()):
        return None
    unit = min(links.values(), default=Fraction(1))
    return {pair: bandwidth / unit for pair, bandwidth in links.items() if pair[0] < pair[1]}


def _passage(crossings: Crossings, part: Fraction, order: tuple[int, ...]) -> Passage:
    arrival, departure = crossings.arrivals.get(order[0]), crossings.departures.get(order[-1])
    if arrival is None or departure is None:
        raise DoesNotApplyError("RCCL's rings need a NIC at every compute node, and some have none")
    return Passage(part, order, arrival, departure)
