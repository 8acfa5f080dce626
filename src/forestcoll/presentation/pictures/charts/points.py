"""A chart of points in two measures that are both to be small, with the frontier of each series as a staircase."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forestcoll.presentation.pictures.charts.parts import (
    Point,
    chart,
    corners,
    horizontal_axis,
    label,
    marker,
    ruler,
    vertical_axis,
)
from forestcoll.presentation.pictures.charts.scales import Logarithmic, Scale, SquareRoot, thinned
from forestcoll.presentation.pictures.charts.style import (
    BOUND,
    MOST_NAMES,
    MUTED,
    TEXT,
    elided,
    line_style,
    names_width,
)
from forestcoll.presentation.pictures.svg import Element, element

_LEAST_HEIGHT = 400.0
_LEFT, _TOP, _BELOW = 56.0, 34.0, 52.0
_RIGHT = 500.0
"""The right end of the axes; the names are beyond it."""
_LISTED, _NAMES = 44.0, 316.0
"""The distance of the names from the axes, and their least width; longer names make the chart wider."""
_FREE = 18.0
"""The free part of each axis at both ends."""
_GAP = 18.0
"""The distance of two names."""
_PERCENT = (0, 1, 5, 10, 20, 40, 60, 80, 100)


@dataclass(frozen=True)
class PointSeries:
    """Points of one kind.

    Attributes:
        name: its name.
        points: the points (x, y), x in descending and y in ascending order, so that they are a frontier.
        names: the name of each point.
    """

    name: str
    points: tuple[Point, ...]
    names: tuple[str, ...]


def point_chart(title: str, axes: tuple[str, str], series: Sequence[PointSeries], bound: tuple[float, str]) -> Element:
    """Return a chart of the points of each series, with their names on the right.

    Args:
        title: what the chart shows, for readers who cannot see it.
        axes: the names of the values on the horizontal and the vertical axis. The horizontal values are not negative,
            in percent; the vertical ones are positive integers.
        series: the series, from front to back; each has one point at least.
        bound: the least y that is possible, and a text for the lines at this y and at x = 0.

    Example:
        >>> from forestcoll.presentation.pictures.svg import text
        >>> made = point_chart("t", ("T_B", "T_L"), [PointSeries("all", ((32, 3), (0, 4)), ("a", "b"))], (3, "bound"))
        >>> "1: a" in text(made), "2: b" in text(made)
        (True, True)
    """
    bottom = max(_LEAST_HEIGHT - _BELOW, _TOP + _GAP * sum(len(each.points) + 2 for each in series))
    points = [point for each in series for point in each.points]
    most = max(bound[0] + 1, *(y for _, y in points))
    x_scale = SquareRoot(max(1.0, *(x for x, _ in points)), _LEFT + _FREE, _RIGHT - _FREE)
    y_scale = Logarithmic(bound[0], most, bottom - _FREE, _TOP + _FREE)
    x_ticks = [(x, f"+{x:g}%" if x else "0") for x in _PERCENT if x <= x_scale.high]
    y_ticks = [(float(y), str(y)) for y in thinned(range(int(bound[0]), int(most) + 1), 8)]
    content = [
        *vertical_axis(y_ticks, y_scale, _LEFT, _RIGHT),
        *horizontal_axis(x_ticks, x_scale, _TOP, bottom),
        label(axes[1], 4, 16, fill=MUTED),
        label(axes[0], (_LEFT + _RIGHT) / 2, bottom + 2 * TEXT + 12, text_anchor="middle", fill=MUTED),
        ruler((x_scale(0), _TOP), (x_scale(0), bottom), stroke=BOUND, stroke_width=2),
        ruler((_LEFT, y_scale(bound[0])), (_RIGHT, y_scale(bound[0])), stroke=BOUND, stroke_width=2),
        label(bound[1], _RIGHT, 16, text_anchor="end", fill=BOUND, font_weight="600"),
        *(part for place, each in reversed(list(enumerate(series))) for part in _drawn(each, place, x_scale, y_scale)),
        *_numbers(series, x_scale, y_scale),
        *_list(series),
    ]
    names = names_width((name for each in series for name in _numbered(each)), _NAMES)
    return chart(_RIGHT + _LISTED + names, bottom + _BELOW, title, content)


def _drawn(series: PointSeries, place: int, x_scale: Scale, y_scale: Scale) -> Iterator[Element]:
    """Yield the staircase of a series, and a marker for each point."""
    style = line_style(place)
    spots = [(x_scale(x), y_scale(y)) for x, y in series.points]
    steps = [spots[0]]
    for (x, _), spot in pairwise(spots):
        steps += [(x, spot[1]), spot]
    yield element(
        "polyline",
        points=corners(steps),
        fill="none",
        stroke=style.colour,
        stroke_width=2.0,
        stroke_dasharray=style.dash,
    )
    for name, spot in zip(_numbered(series), spots, strict=True):
        yield element("g", element("title", name), marker(style, *spot), class_="point")


def _numbers(series: Sequence[PointSeries], x_scale: Scale, y_scale: Scale) -> Iterator[Element]:
    """Yield the number of each point: above the points of the first series, and below those of the others."""
    for place, each in enumerate(series):
        away = -8.0 if place == 0 else TEXT + 4
        for number, (x, y) in enumerate(each.points, start=1):
            colour = line_style(place).colour
            yield label(str(number), x_scale(x) + 6, y_scale(y) + away, fill=colour, font_weight="600")


def _list(series: Sequence[PointSeries]) -> Iterator[Element]:
    """Yield the names of all series and points, one below the other."""
    left, row = _RIGHT + _LISTED, _TOP + TEXT
    for place, each in enumerate(series):
        style = line_style(place)
        yield marker(style, left - 14, row - TEXT / 3)
        yield label(each.name, left, row, font_weight="600")
        for name in _numbered(each):
            row += _GAP
            yield label(elided(name, MOST_NAMES), left, row)
        row += 2 * _GAP


def _numbered(series: PointSeries) -> list[str]:
    return [f"{number}: {name}" for number, name in enumerate(series.names, start=1)]
