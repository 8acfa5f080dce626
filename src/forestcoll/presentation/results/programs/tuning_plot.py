"""The plot of a tuning: time over message size, of the best programs, of each candidate, and the lower bound."""

from forestcoll.presentation.pictures.charts.lines import Axes, Line, line_chart
from forestcoll.presentation.pictures.charts.scales import size_ticks
from forestcoll.presentation.pictures.svg import text
from forestcoll.tuning.value import Tuning

OURS = "tuned"
BOUND = "lower bound"

_MOST_LINES = 14
"""The most candidates that are drawn: those with the least times at the sizes that all of them have."""


def time_plot(tuning: Tuning) -> str:
    """Return the plot as SVG."""
    sizes = [float(size) for size in tuning.sizes]
    lines = [_line(OURS, sizes, tuning.microseconds, 0), _line(BOUND, sizes, tuning.bounds, 1)]
    for place, curve in enumerate(tuning.curves[:_MOST_LINES], start=2):
        lines.append(_line(curve.name, sizes, curve.microseconds, place))
    axes = Axes("size of M", "time (µs)", size_ticks(tuning.sizes))
    title = f"Lines: the time of {tuning.collective.value} on {tuning.topology.name} over the size of M"
    return text(line_chart(title, axes, lines)) + "\n"


def _line(name: str, sizes: list[float], times: tuple[float | None, ...] | tuple[float, ...], place: int) -> Line:
    values = tuple((size, time) for size, time in zip(sizes, times, strict=True) if time is not None)
    return Line(name, values, tuple(sizes) if place == 0 else (), place)
