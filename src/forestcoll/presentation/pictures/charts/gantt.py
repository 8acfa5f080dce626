"""A Gantt chart: bars over time in named rows. Bars of the same kind look alike."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forestcoll.presentation.pictures.charts.parts import chart, horizontal_axis, label, ruler
from forestcoll.presentation.pictures.charts.scales import Linear, round_ticks
from forestcoll.presentation.pictures.charts.style import (
    INK,
    MOST_NAMES,
    MUTED,
    SURFACE,
    TEXT,
    elided,
    line_style,
    text_width,
)
from forestcoll.presentation.pictures.svg import Element, element

_WIDTH, _RIGHT, _TOP = 960.0, 940.0, 14.0
_NAMED, _UNNAMED, _FEW = 20.0, 12.0, 80.0
"""The height of a row if each row has a name, and if several rows share one; and the least height of all rows."""
_SMALL = 11.0
"""The size of texts in bars."""

KINDS = 14
"""The number of kinds that look different: seven colours, filled and hollow."""


class Bar(NamedTuple):
    """A time interval in a row, with a text that is left out if the bar is too short for it."""

    row: int
    begin: float
    end: float
    kind: int
    text: str = ""


def gantt_chart(
    title: str, axis: tuple[str, float], rows: Sequence[tuple[str, int]], bars: Sequence[Bar], kinds: Sequence[str] = ()
) -> Element:
    """Return a Gantt chart.

    Args:
        title: what the chart shows, for readers who cannot see it.
        axis: the name and the unit of times, and the time at the end of the axis, which begins at 0.
        rows: the names from top to bottom, each with the number of rows that it stands for.
        bars: the bars.
        kinds: the name of each kind, for the legend; none for a chart without one.

    Example:
        >>> from forestcoll.presentation.pictures.svg import text
        >>> bars = [Bar(0, 0.0, 1.0, 0, "tree 0"), Bar(1, 0.5, 1.0, 1)]
        >>> text(gantt_chart("t", ("time", 1.0), [("a", 1), ("b", 1)], bars)).count('class="bar"')
        2
    """
    until = axis[1] or 1.0
    count = sum(number for _, number in rows)
    height = max(_NAMED if count == len(rows) else _UNNAMED, _FEW / count)
    left = min(MOST_NAMES, 24 + max(text_width(name) for name, _ in rows))
    legend = list(_legend(kinds, sorted({bar.kind for bar in bars}), left))
    top = _TOP + (float(legend[-1].get("y", "0")) if legend else 0.0)
    scale, bottom = Linear(0, until, left, _RIGHT), top + height * count
    content = [
        *legend,
        *horizontal_axis([(tick, f"{tick:g}") for tick in round_ticks(until, 11)], scale, top - 4, bottom),
        *_names(rows, top, height, left),
        *(part for bar in bars for part in _drawn(bar, top + height * bar.row, height, scale)),
        label(axis[0], (left + _RIGHT) / 2, bottom + 2 * TEXT + 12, text_anchor="middle", fill=MUTED),
    ]
    return chart(_WIDTH, bottom + 44, title, content)


def _legend(names: Sequence[str], kinds: Sequence[int], left: float) -> Iterator[Element]:
    """Yield a box and the name of each of the kinds, from left to right, in as many lines as they need."""
    x, y = left, 0.0
    for kind in kinds if names else ():
        width = 52 + text_width(names[kind])
        if x + width > _RIGHT and x > left:
            x, y = left, y + 20
        yield _box(kind, x, y + 2, 28, 12)
        yield label(names[kind], x + 34, y + 13, fill=MUTED)
        x += width


def _names(rows: Sequence[tuple[str, int]], top: float, height: float, left: float) -> Iterator[Element]:
    for name, number in rows:
        middle = top + height * number / 2
        yield ruler((left, top), (_RIGHT, top))
        yield label(elided(name, left - 14), left - 8, middle + TEXT / 3, text_anchor="end")
        top += height * number


def _drawn(bar: Bar, top: float, height: float, scale: Linear) -> Iterator[Element]:
    begin, end = scale(bar.begin), scale(bar.end)
    box = _box(bar.kind, begin, top + height * 0.1, max(end - begin - 0.5, 0.5), height * 0.8)
    box.set("class", "bar")
    yield box
    if bar.text and text_width(bar.text, _SMALL) < end - begin:
        middle, base = (begin + end) / 2, top + height / 2 + _SMALL / 3
        fill = INK if _is_hollow(bar.kind) else SURFACE
        yield label(bar.text, middle, base, text_anchor="middle", font_size=_SMALL, fill=fill)


def _box(kind: int, x: float, y: float, width: float, height: float) -> Element:
    colour = line_style(kind).colour
    fill, stroke = (SURFACE, colour) if _is_hollow(kind) else (colour, None)
    return element("rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, stroke_width=stroke and "2")


def _is_hollow(kind: int) -> bool:
    return kind % KINDS >= KINDS / 2
