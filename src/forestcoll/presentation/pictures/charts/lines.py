"""A chart of lines over a logarithmic axis. Each line has its name at its right end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestcoll.presentation.pictures.charts.parts import (
    chart,
    corners,
    horizontal_axis,
    label,
    marker,
    ruler,
    vertical_axis,
)
from forestcoll.presentation.pictures.charts.scales import Linear, Logarithmic, Scale, log_ticks, spread
from forestcoll.presentation.pictures.charts.style import (
    BOUND,
    MOST_NAMES,
    MUTED,
    TEXT,
    LineStyle,
    elided,
    line_style,
    names_width,
)
from forestcoll.presentation.pictures.svg import Element, element

_HEIGHT = 380.0
_LEFT, _TOP, _BOTTOM = 56.0, 34.0, 328.0
_PLOT, _NAMES = 545.0, 171.0
"""The right end of the axes, and the least width for the names of the lines; longer names make the chart wider."""
_GAP = 17.0
"""The least distance of two names."""


@dataclass(frozen=True)
class Line:
    """A line of a chart.

    Attributes:
        name: its name.
        values: the points (x, y), x in ascending order.
        marks: the values of x with a marker.
        place: its place in the list of styles (`line_style`).
        keys: the keys of what the line shows, separated by spaces, for the script of a page.
    """

    name: str
    values: tuple[tuple[float, float], ...]
    marks: tuple[float, ...]
    place: int
    keys: str = ""

    @property
    def style(self) -> LineStyle:
        """The style of the line."""
        return line_style(self.place)


@dataclass(frozen=True)
class Axes:
    """The axes of a chart.

    Attributes:
        x_title: the name of the values on the horizontal axis, which is logarithmic.
        y_title: the name and the unit of the values on the vertical axis.
        x_ticks: values of x, with their texts.
        y_ticks: values of y, with their texts; the first is 0. None for a logarithmic axis, with its own ticks.
    """

    x_title: str
    y_title: str
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]] | None = None


def line_chart(title: str, axes: Axes, lines: Sequence[Line], limit: tuple[float, str] | None = None) -> Element:
    """Return a chart of lines.

    Args:
        title: what the chart shows, for readers who cannot see it.
        axes: the axes.
        lines: the lines, from front to back; each has one point at least. On a logarithmic axis, y is positive.
        limit: a value of y that the lines are compared with, and its text; None if there is none.

    Example:
        >>> from forestcoll.presentation.pictures.svg import text
        >>> axes = Axes("size", "GB/s", [(1, "1")], [(0, "0")])
        >>> made = line_chart("speed", axes, [Line("ring", ((1, 2.0), (2, 3.0)), (1,), 0)], (4, "bound"))
        >>> "ring</text>" in text(made)
        True
    """
    height = max(_HEIGHT, _TOP + _GAP * (len(lines) + 4))
    bottom, right = height - (_HEIGHT - _BOTTOM), _PLOT
    xs, ys = ([point[axis] for line in lines for point in line.values] for axis in (0, 1))
    x_scale = Logarithmic(min(xs), max(xs), _LEFT, right)
    y_ticks, y_scale = _vertical(axes, [*ys, *([] if limit is None else [limit[0]])], bottom)
    content = [
        *vertical_axis(y_ticks, y_scale, _LEFT, right),
        *horizontal_axis(axes.x_ticks, x_scale, _TOP, bottom),
        label(axes.y_title, 4, 16, fill=MUTED),
        label(axes.x_title, (_LEFT + right) / 2, bottom + 2 * TEXT + 12, text_anchor="middle", fill=MUTED),
        *([] if limit is None else _limit(limit, y_scale, right, is_least=limit[0] <= min(ys))),
        *(_drawn(line, x_scale, y_scale) for line in reversed(lines)),
        *_names(lines, y_scale, right, bottom),
    ]
    return chart(right + 44 + names_width((line.name for line in lines), _NAMES), height, title, content)


def _vertical(axes: Axes, values: Sequence[float], bottom: float) -> tuple[Sequence[tuple[float, str]], Scale]:
    """Return the ticks and the scale of the vertical axis for these values."""
    if axes.y_ticks is not None:
        return axes.y_ticks, Linear(0, max(*values, *(tick for tick, _ in axes.y_ticks)) * 1.04, bottom, _TOP)
    ticks = log_ticks(min(values), max(values))
    return [(tick, f"{tick:g}") for tick in ticks], Logarithmic(ticks[0], ticks[-1], bottom, _TOP)


def _limit(limit: tuple[float, str], scale: Scale, right: float, *, is_least: bool) -> Iterator[Element]:
    y = scale(limit[0])
    yield ruler((_LEFT, y), (right, y), stroke=BOUND, stroke_width=2)
    below = y + TEXT + 4
    base = below if is_least and below < scale.begin else y - 5  # on the side without lines, and above the axis
    yield label(limit[1], _LEFT + 6, base, fill=BOUND, font_weight="600")


def _drawn(line: Line, x_scale: Logarithmic, y_scale: Scale) -> Element:
    """Return a line with its markers."""
    style = line.style
    return element(
        "g",
        element("title", line.name),
        element(
            "polyline",
            points=corners([(x_scale(x), y_scale(y)) for x, y in line.values]),
            fill="none",
            stroke=style.colour,
            stroke_width=2.4,
            stroke_dasharray=style.dash,
            stroke_linejoin="round",
        ),
        *(marker(style, x_scale(x), y_scale(y)) for x, y in line.values if x in line.marks),
        class_="line",
        data_rows=line.keys or None,
    )


def _names(lines: Sequence[Line], scale: Scale, right: float, bottom: float) -> Iterator[Element]:
    ends = [scale(line.values[-1][1]) for line in lines]
    for line, end, y in zip(lines, ends, spread(ends, _GAP, _TOP, bottom), strict=True):
        style = line.style
        text = elided(line.name, MOST_NAMES)
        yield element(
            "g",
            element("title", line.name),
            element("path", d=f"M{right + 4:.1f} {end:.1f}L{right + 14:.1f} {y:.1f}", stroke=MUTED, fill="none"),
            element(
                "path",
                d=f"M{right + 14:.1f} {y:.1f}h24",
                stroke=style.colour,
                stroke_width=2.4,
                stroke_dasharray=style.dash,
            ),
            marker(style, right + 26, y),
            label(text, right + 42, y + TEXT / 3),
            class_="line",
            data_rows=line.keys or None,
        )
