"""The charts of a report."""

from collections.abc import Iterator, Mapping, Sequence

from forestcoll.algorithms.baseline import OWN
from forestcoll.base.units import size_name
from forestcoll.comparison import Comparison
from forestcoll.comparison.by_boxes import BoxCount
from forestcoll.comparison.curves import curve_of
from forestcoll.presentation.pictures.charts.bars import Bar, bar_chart
from forestcoll.presentation.pictures.charts.lines import Axes, Line, line_chart
from forestcoll.presentation.pictures.charts.scales import round_ticks, thinned
from forestcoll.presentation.pictures.svg import Element
from forestcoll.presentation.results.comparisons.answers import amount, speed
from forestcoll.presentation.results.comparisons.comparison_notebook import keys_of
from forestcoll.simulation import Point

_SIZES = tuple(2**power for power in range(14, 33))
"""The sizes of the curves, in addition to those of the comparison: 16 KiB to 4 GiB."""


def cut_bars(found: Comparison, cut: str) -> Element:
    """Return the chart of the data that crosses a cut under each schedule, next to what must cross it."""
    keys = keys_of(found)
    traffic = {row.name: each for row in found.rows for each in row.cuts if each.cut == cut}
    bars = [
        Bar(name, float(each.crosses), amount(each.crosses), name == OWN, keys[name]) for name, each in traffic.items()
    ]
    needed = max(each.needed for each in traffic.values())
    listed = ", ".join(f"{bar.name} {bar.text}" for bar in bars)
    title = f"Bars: the data {cut} under each schedule: {listed}"
    return bar_chart(title, "parts of M", bars, (float(needed), f"must cross: {amount(needed)}"))


def size_lines(found: Comparison) -> Element:
    """Return the chart of the algbw of each schedule over the size of M."""
    own = [point.size for point in found.row(OWN).times]
    sizes = sorted({*_SIZES, *own})
    curves = {row.name: curve_of(row, sizes) for row in found.rows if row.times}
    lines = list(_joined(found, curves, tuple(map(float, own))))
    ticks = [(float(size), size_name(size)) for size in thinned([size for size in sizes if size & (size - 1) == 0], 6)]
    best = float(found.bound.algbw)
    unit = found.topology.bandwidth_unit
    axes = Axes("size of M", f"algbw ({unit})", ticks, [(value, f"{value:g}") for value in round_ticks(best)])
    limit = f"bound: {speed(found, found.bound.algbw)}"
    title = f"Lines: the simulated algbw of each schedule over the size of M; {limit}"
    return line_chart(title, axes, lines, (best, limit))


def _joined(found: Comparison, curves: Mapping[str, Sequence[Point]], marks: tuple[float, ...]) -> Iterator[Line]:
    """Yield one line for all rows that have the same curve."""
    keys = keys_of(found)
    names: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for name, curve in curves.items():
        values = tuple((float(point.size), float(f"{point.algbw:.4g}")) for point in curve)
        names.setdefault(values, []).append(name)
    for place, (values, alike) in enumerate(names.items()):
        shown = alike[0] if len(alike) == 1 else f"{alike[0]} and {len(alike) - 1} more"
        yield Line(shown, values, marks, place, " ".join(keys[name] for name in alike))


def box_lines(found: Comparison, counts: Sequence[BoxCount]) -> Element:
    """Return the chart of the part of the optimum that rings and two levels reach, over the number of boxes."""
    names = list(dict.fromkeys(name for each in counts for name in each.algbw))
    keys = keys_of(found)
    lines = [
        Line(name, values, tuple(x for x, _ in values), place, keys[name])
        for place, name in enumerate(names, start=1)
        if (values := tuple(_shares(counts, name)))
    ]
    ticks = [(float(each.boxes), str(each.boxes)) for each in counts]
    axes = Axes("boxes", "% of the optimum", ticks, [(value, f"{value}") for value in range(0, 101, 20)])
    return line_chart("Lines: the part of the optimum over the number of boxes", axes, lines, (100, "optimum"))


def _shares(counts: Sequence[BoxCount], name: str) -> Iterator[tuple[float, float]]:
    for each in counts:
        if name in each.algbw:
            yield float(each.boxes), 100 * float(each.algbw[name] / each.optimal_algbw)
