"""The answer of a comparison in sentences, for pages and notebooks: how fast, how much faster, why, where else."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.algorithms.baseline import LIBRARIES, OWN, title_of
from forestcoll.comparison import Comparison, Row
from forestcoll.comparison.busy import LinkClassLoad
from forestcoll.comparison.by_boxes import BoxCount
from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import counted, noun
from forestcoll.presentation.text import capitalized, percent

_PERCENT = Fraction(3, 2)
"""Below this ratio, an advantage is given in percent."""

_LARGEST = 10_000
"""The greatest denominator of a fraction that is printed exactly."""


def question(found: Comparison) -> str:
    """Return the question that the comparison answers."""
    topology, demand = found.topology, found.demand
    what = f"{demand.collective.with_article} of {_members(found)}"
    return f"How fast can {what} run on {topology.name}, and how fast do well-known algorithms run it?"


def _members(found: Comparison) -> str:
    topology, ranks = found.topology, found.demand.ranks
    what = noun(topology, ranks)
    return counted(topology, ranks) if what != "GPU" else f"{len(topology.compute)} GPUs"


def rival_of(found: Comparison) -> Row | None:
    """Return the fastest algorithm of NCCL and RCCL, or the fastest other row if there is none."""
    rows = [row for row in found.rows if row.name != OWN and row.schedule is not None]
    libraries = [row for row in rows if row.name in LIBRARIES]
    order = {name: place for place, name in enumerate(LIBRARIES)}
    fastest = max(libraries, key=lambda row: (row.algbw, -order[row.name]), default=None)
    return fastest or max(rows, key=lambda row: row.algbw, default=None)


def answer(found: Comparison) -> str:
    """Return the answer in one sentence.

    Example:
        >>> from forestcoll import compare
        >>> "is 1.62 times as fast as NCCL's rings" in answer(compare("dgx-a100:boxes=2", baselines=["nccl-ring"]))
        True
    """
    own, rival = found.row(OWN), rival_of(found)
    limit = f"No {_kind(found)} exceeds {speed(found, found.bound.algbw)}"
    reached = "reaches it" if own.share == 1 else f"reaches {percent(own.share)} of it"
    start = f"{limit}; for large data, forestcoll's schedule {reached}"
    if rival is None:
        return f"{start}."
    return f"{start} and is {_times(own, rival)}, which {_reach(rival)} {speed(found, rival.algbw)}."


def _reach(row: Row) -> str:
    return "reach" if title_of(row.name).endswith("s") else "reaches"


def _kind(found: Comparison) -> str:
    return "schedule along trees" if found.bound.proof.trees_only else "schedule"


def _times(own: Row, rival: Row) -> str:
    words = faster(own.algbw, rival.algbw)
    return f"{words} {'than' if words.endswith('faster') else 'as'} {title_of(rival.name)}"


def faster(value: Fraction, other: Fraction) -> str:
    """Return how much faster a schedule is than another one that is at most as fast.

    Example:
        >>> faster(Fraction(1040, 3), Fraction(640, 3)), faster(Fraction(1280, 3), Fraction(51200, 127))
        ('1.62 times as fast', '5.8% faster')
        >>> faster(Fraction(4), Fraction(4))
        'as fast'
    """
    if value == other:
        return "as fast"
    if value < other * _PERCENT:
        return f"{_gain(value / other - 1)} faster"
    return f"{float(value / other):.3g} times as fast"


def speed(found: Comparison, value: Fraction) -> str:
    """Return a bandwidth with at most two decimals and its unit."""
    return f"{decimal(value)} {found.topology.bandwidth_unit}"


def decimal(value: Fraction) -> str:
    """Return a number with at most two decimals, or with three digits if it is less than 10.

    Example:
        >>> decimal(Fraction(1040, 3)), decimal(Fraction(50)), decimal(Fraction(64, 15))
        ('346.67', '50', '4.27')
    """
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def best_other(found: Comparison) -> str | None:
    """Return a sentence about the fastest other schedule; None if there is none, or if it is slower than the rival."""
    others, rival = [row for row in found.rows if row.name != OWN and row.valid], rival_of(found)
    if not others or rival is None or others[0].algbw == rival.algbw:
        return None
    best = [row.name for row in others if row.algbw == others[0].algbw]
    names, is_one = listed(best), len(best) == 1
    if others[0].share == found.row(OWN).share:
        return f"A tie: {names} {'reaches' if is_one else 'reach'} the same algbw as forestcoll's schedule."
    what = "schedule is" if is_one else "schedules are"
    return f"The fastest other {what} {names}, with {percent(others[0].share)} of the bound."


def listed(names: Sequence[str]) -> str:
    """Return names with commas and an "and" before the last one.

    Example:
        >>> listed(["a"]), listed(["a", "b", "c"])
        ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def why(found: Comparison, classes: Sequence[LinkClassLoad]) -> list[str]:
    """Return sentences that say why the fastest algorithm of a library is slower, and which links are the reason.

    Args:
        found: the comparison.
        classes: the classes of links.
    """
    rival = rival_of(found)
    if rival is None or rival.share == found.row(OWN).share:
        return []
    return [*_why_boxes(found, rival), *_why_links(rival.name, classes)]


def _why_links(rival: str, classes: Sequence[LinkClassLoad]) -> list[str]:
    """Say which links limit the other schedule, and how busy the others are."""
    if len(classes) == 1:
        busy = (f"{busy_percent(classes[0].busy[name].mean)} under {title_of(name)}" for name in (rival, OWN))
        return [f"The busiest links limit a schedule. On average, the links are busy {' and '.join(busy)}."]
    limits = " and ".join(each.name for each in classes if each.busy[rival].most == 1)
    less = [
        f"the {each.name} at most {busy_percent(each.busy[rival].most)}"
        for each in classes
        if each.busy[rival].most < 1
    ]
    rest = f", and {', '.join(less)} of it" if less else ""
    first = f"The {limits} limit {title_of(rival)}: the busiest of them are busy all the time{rest}."
    is_full = all(each.busy[OWN].most == 1 for each in classes)
    return [first + f" {capitalized(title_of(OWN))} keeps links of all classes busy all the time." * is_full]


_CAUSES = {
    Collective.ALLGATHER: ("enters", "because the other boxes have that part of the data, and this box needs it"),
    Collective.REDUCE_SCATTER: ("leaves", "because the other boxes need what this box adds to their sums"),
    Collective.ALLREDUCE: ("enters", "as partial sums and results of the other boxes"),
}
"""For each collective, the direction in which data crosses the links of a box, and why it must."""


def _why_boxes(found: Comparison, rival: Row) -> list[str]:
    cuts = {each.cut: each for each in rival.cuts}
    own = {each.cut: each.crosses for each in found.row(OWN).cuts}
    name = next((name for name in cuts if "box" in name), None)
    if name is None or cuts[name].crosses <= max(cuts[name].needed, own[name]):
        return []
    verb, cause = _CAUSES[found.demand.collective]
    least = f"M is the total data. At least {amount(cuts[name].needed)} {verb} each box, {cause}."
    more = f"Under {title_of(rival.name)}, {amount(cuts[name].crosses)} {verb} a box over its NIC links."
    relief = f" {RELIEF}" if own[name] > cuts[name].needed else ""
    return [f"{least} {more} Under {title_of(OWN)}, it is {amount(own[name])}.{relief}"]


RELIEF = (
    "forestcoll's schedule sends more than needed over links that have bandwidth to spare, which relieves the other "
    "links."
)
"""Why a schedule that reaches the optimum may send data that it need not send."""


def amount(part: Fraction) -> str:
    """Return a part of M as text.

    Example:
        >>> amount(Fraction(15, 16)), amount(Fraction(1)), amount(Fraction(12345, 23456))
        ('15/16 M', 'M', '0.526 M')
    """
    if part == 1:
        return "M"
    return f"{part} M" if part.denominator < _LARGEST else f"{float(part):.3g} M"


def busy_percent(part: Fraction) -> str:
    """Return a part of the time in whole percent, rounded down, so that 100% means always.

    Example:
        >>> busy_percent(Fraction(999, 1000))
        '99%'
    """
    return f"{100 * part.numerator // part.denominator}%"


def growth(counts: Sequence[BoxCount]) -> list[str]:
    """Return sentences that say how the advantage over rings changes with the number of boxes.

    Args:
        counts: the algbw for each number of boxes.
    """
    name = next((name for name in ("rccl-ring", "nccl-ring") if any(name in each.algbw for each in counts)), None)
    if name is None:
        return []
    gains = [(each.boxes, each.optimal_algbw / each.algbw[name] - 1) for each in counts if name in each.algbw]
    parts = [f"{_gain(gain)} on {boxes} box{'es' * (boxes > 1)}" for boxes, gain in gains]
    who = title_of(name)
    return [f"The optimum is faster than {who} by {listed(parts)}."] if len(parts) > 1 else []


def _gain(gain: Fraction) -> str:
    return f"{float(100 * gain):.1f}%" if gain else "0%"
