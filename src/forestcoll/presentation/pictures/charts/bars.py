"""Charts of horizontal bars: shares of a bound, and amounts next to the least amount."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forestcoll.presentation.pictures.charts.parts import chart, horizontal_axis, label, striped
from forestcoll.presentation.pictures.charts.scales import Linear, round_ticks
from forestcoll.presentation.pictures.charts.style import (
    BOUND,
    FILL,
    INK,
    MUTED,
    SURFACE,
    TEXT,
    elided,
    line_style,
    names_width,
    text_width,
)
from forestcoll.presentation.pictures.svg import Element, element, number

_WIDTH = 760.0
_NAMES = 190.0
"""The least width for the names of the bars; longer names make the chart wider."""
_ROW, _BAR = 26.0, 16.0
_TOP = 30.0
_LONGEST = 3


@dataclass(frozen=True)
class Bar:
    """A bar of a chart.

    Attributes:
        name: its name.
        value: its length, which is not negative.
        text: the value as text.
        is_own: whether the bar is that of the schedule that the others are compared with.
        key: the key of what the bar shows, for the script of a page.
    """

    name: str
    value: float
    text: str
    is_own: bool = False
    key: str = ""


def bar_chart(
    title: str, axis: str, bars: Sequence[Bar], mark: tuple[float, str], *, longest: float = _LONGEST
) -> Element:
    """Return a chart of horizontal bars with a vertical line at a value that matters for all of them.

    The part of a bar beyond the line has stripes. A longer bar than `longest` is cut, and ends in an arrow.

    Args:
        title: what the chart shows, for readers who cannot see it.
        axis: the name of the values.
        bars: the bars, from top to bottom.
        mark: the value of the vertical line, which is positive, with its text.
        longest: the longest bar, as a multiple of the value of the vertical line.

    Example:
        >>> from forestcoll.presentation.pictures.svg import text
        >>> made = bar_chart("data", "part of M", [Bar("ring", 0.94, "15/16 M")], (0.5, "must: 1/2 M"))
        >>> "15/16 M" in text(made)
        True
    """
    most = min(max(mark[0], *(bar.value for bar in bars)), longest * mark[0])
    texts = max(text_width(bar.text) for bar in bars)
    names = names_width((bar.name for bar in bars), _NAMES - 16) + 16
    width = _WIDTH + names - _NAMES
    scale = Linear(0, most, names, width - texts - 14)
    bottom = _TOP + _ROW * len(bars)
    ticks = [(value, f"{value:g}") for value in round_ticks(most)]
    content = [
        *horizontal_axis(ticks, scale, _TOP - 4, bottom),
        *(part for place, bar in enumerate(bars) for part in _row(bar, place, scale, mark[0])),
        *_mark(mark, scale, width, bottom),
        label(axis, (scale.begin + scale.end) / 2, bottom + 2 * TEXT + 12, text_anchor="middle", fill=MUTED),
    ]
    return chart(width, bottom + 44, title, content)


def _row(bar: Bar, place: int, scale: Linear, limit: float) -> Iterator[Element]:
    top = _TOP + _ROW * place + (_ROW - _BAR) / 2
    base = top + _BAR / 2 + TEXT / 3
    within, end = scale(min(bar.value, limit)), scale(min(bar.value, scale.high))
    colour = line_style(0).colour if bar.is_own else FILL
    boxes = [element("rect", x=scale.begin, y=top, width=within - scale.begin, height=_BAR, fill=colour)]
    if end > within:
        boxes += striped(within, end, top, _BAR)
    yield element(
        "g",
        element("title", f"{bar.name}: {bar.text}"),
        label(elided(bar.name, scale.begin - 16), scale.begin - 8, base, text_anchor="end"),
        *boxes,
        *([_arrow(end, top)] if bar.value > scale.high else []),
        label(bar.text, scale.end + 6, base, font_weight="600" if bar.is_own else None),
        class_="bar",
        data_rows=bar.key or None,
    )


def _arrow(end: float, top: float) -> Element:
    """Return the end of a bar that is longer than the axis."""
    path = f"M{number(end)} {number(top - 3)}h-12l8 {number(_BAR / 2 + 3)}l-8 {number(_BAR / 2 + 3)}h12Z"
    return element("path", d=path, fill=SURFACE)


def _mark(mark: tuple[float, str], scale: Linear, width: float, bottom: float) -> Iterator[Element]:
    x = scale(mark[0])
    yield element("line", x1=x, y1=_TOP - 8, x2=x, y2=bottom, stroke=BOUND, stroke_width=2)
    half = text_width(mark[1], TEXT + 1) / 2  # bold letters are wider
    place = min(max(x, half), width - half)
    yield label(mark[1], float(number(place)), _TOP - 14, text_anchor="middle", fill=INK, font_weight="600")
