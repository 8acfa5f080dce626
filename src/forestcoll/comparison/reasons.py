"""The verdict on a schedule: why it is slower than the optimum, in one sentence.

If more data crosses a cut than must (`cuts`), and if the links of the cut are among the busiest, that is the reason.
After it, the sentence says which links are always busy, and how busy the others are. For a schedule of steps, it also
says what the same sends could reach at most without barriers.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil

from forestcoll.algorithms.boxes import Boxes
from forestcoll.algorithms.method import Problem
from forestcoll.comparison.cuts import LoadedCut
from forestcoll.comparison.link_classes import link_classes
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import Bound
from forestcoll.topology import Topology

_MOST_CLASSES = 4
"""The most classes of links that a sentence names."""

_NEAR_TIE = Fraction(98, 100)
"""From this part of the bound on, a schedule nearly ties with the optimum."""

_NEARLY = Fraction(99, 100)
"""From this part of the time of the busiest link on, a link limits the schedule, too."""

_LARGEST = 10_000
"""The greatest denominator of a fraction that is printed exactly."""


def reaches(bound: Bound) -> str:
    """Return the sentence for a schedule that reaches a bound."""
    kind = "schedule of trees" if bound.proof.trees_only else "schedule"
    return f"it reaches the bound, so for large data no {kind} is faster"


def reason_for(
    problem: Problem,
    loads: Sequence[Fraction],
    cuts: Sequence[LoadedCut],
    share: Fraction,
    whole: Fraction | None = None,
) -> str:
    """Return the sentence for a schedule that is right but slower than the bound, without a period.

    Args:
        problem: the collective and the network.
        loads: the part of M that crosses each link.
        cuts: the cuts of the collective with the data that crosses them.
        share: the algbw of the schedule as a part of the bound; it is below the bound.
        whole: the time of the schedule for one unit of M, if it is longer than that of its busiest link because steps
            wait for each other; None if the busiest link is always busy.
    """
    links = problem.topology.links
    times = [load / link.bandwidth for load, link in zip(loads, links, strict=True)]
    near = [f"nearly a tie, within {_percent(1 - share)}% of the bound"] if share >= _NEAR_TIE else []
    limits = [each for each in cuts if each.busiest >= _NEARLY * max(times)]
    excess = next(
        (_excess(each, problem.collective) for each in limits if each.traffic.crosses > each.traffic.needed), None
    )
    busy = _busy(problem.topology, problem.boxes, times, whole or max(times))
    waits = whole is not None and whole > max(times)
    unit = problem.topology.bandwidth_unit
    without = [f"without barriers at most {_bandwidth(1 / max(times))} {unit}"] if waits else []
    return "; ".join((*near, *((excess,) if excess else ()), busy, *without))


def _bandwidth(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"


def _percent(part: Fraction) -> str:
    """Return a part in percent with two digits, rounded up, so that it is an upper limit."""
    hundredths = ceil(part * 10_000)
    return f"{ceil(hundredths / 10) / 10:g}" if hundredths >= 100 else f"{hundredths / 100:g}"


def _excess(cut: LoadedCut, collective: Collective) -> str:
    """Say how much data crosses a cut that must not."""
    traffic = cut.traffic
    amounts = f"{_amount(traffic.crosses)} where {_amount(traffic.needed)} would do"
    if "box" not in traffic.cut:
        return f"{_amount(traffic.crosses)} leaves the bottleneck cut, where {_amount(traffic.needed)} would do"
    each = "each box" if cut.in_each_box else "a box"
    verb = "leaves" if collective is Collective.REDUCE_SCATTER else "enters"
    return f"data {verb} {each} {float(traffic.crosses / traffic.needed):.3g} times: {amounts}"


def _busy(topology: Topology, boxes: Boxes, times: Sequence[Fraction], whole: Fraction) -> str:
    """Say how busy the busiest link of each class is in the time `whole`, and how many of the first class are idle."""
    classes = link_classes(topology, boxes).items()
    busiest = sorted(((max(times[link] for link in links), name) for name, links in classes), key=lambda each: -each[0])
    limiting = busiest[0][1]
    idle = sum(not times[link] for link in dict(classes)[limiting])
    named = list(_words(busiest, whole))
    rest = len(named) - _MOST_CLASSES
    named[0] += f" and {idle} of {len(dict(classes)[limiting])} idle" if idle else ""
    return ", ".join(named[:_MOST_CLASSES]) + (f", {rest} other classes less" if rest > 0 else "")


def _words(busiest: Sequence[tuple[Fraction, str]], whole: Fraction) -> Iterator[str]:
    for place, (time, name) in enumerate(busiest):
        yield f"{name} {int(100 * time / whole)}%{' busy' if place == 0 else ''}"


def _amount(part: Fraction) -> str:
    return f"{part} M" if part.denominator < _LARGEST else f"{float(part):.4g} M"
