"""Parts of charts: texts, straight lines, axes, markers and bars with stripes."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TypeAlias

from forestcoll.base.display import printable
from forestcoll.presentation.pictures.charts.scales import Scale
from forestcoll.presentation.pictures.charts.style import (
    EXCESS,
    FONT,
    GRID,
    INK,
    MUTED,
    SURFACE,
    TEXT,
    LineStyle,
    text_width,
)
from forestcoll.presentation.pictures.svg import Element, element, number, picture

Point: TypeAlias = tuple[float, float]
_Attributes: TypeAlias = dict[str, str | float | None]

_MARKERS = {
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    "square": "M-4 -4H4V4H-4Z",
    "triangle": "M0 -5L5 4H-5Z",
    "diamond": "M0 -5L5 0L0 5L-5 0Z",
    "cross": "M-5 -3L-3 -5L0 -2L3 -5L5 -3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z",
    "bar": "M-1.5 -6H1.5V6H-1.5Z",
}
"""The outline of each form of marker around the origin."""


def label(text: str, x: float, y: float, **attributes: str | float | None) -> Element:
    """Return a text whose base line begins at (x, y) or, with `text_anchor`, ends or has its middle there."""
    looks: _Attributes = {"fill": INK, "font_size": TEXT, **attributes}
    return element("text", text, x=x, y=y, **looks)


def ruler(begin: Point, end: Point, **attributes: str | float | None) -> Element:
    """Return a straight line, thin and in the colour of the grid unless `attributes` say otherwise."""
    looks: _Attributes = {"stroke": GRID, **attributes}
    return element("line", x1=begin[0], y1=begin[1], x2=end[0], y2=end[1], **looks)


def chart(width: float, height: float, title: str, content: Sequence[Element]) -> Element:
    """Return a chart with this content, from back to front; `title` says what it shows."""
    paper = element("rect", width=width, height=height, fill=SURFACE)
    return picture(width, height, title, paper, element("g", *content, font_family=FONT))


def headed(lines: Sequence[str], *charts: Element) -> Element:
    """Return charts below each other, under lines of text, of which the first is the title."""
    width = max(float(each.get("width", "0")) for each in charts)
    most, first = int(width / text_width("x", TEXT + 1)), lines[0]
    wrapped = [(part, "600" if line is first else None) for line in lines for part in wrap(printable(line), most)]
    texts = [
        label(part, 4, 24 + 19 * place, font_size=TEXT + 1, font_weight=weight)
        for place, (part, weight) in enumerate(wrapped)
    ]
    top = 24.0 + 19 * len(wrapped)
    for each in charts:
        each.set("y", number(top))
        top += float(each.get("height", "0"))
    return chart(width, top, ": ".join(lines), [*texts, *charts])


def vertical_axis(ticks: Sequence[tuple[float, str]], scale: Scale, left: float, right: float) -> Iterator[Element]:
    """Yield horizontal grid lines from `left` to `right`, with their texts to the left."""
    for value, text in ticks:
        y = scale(value)
        yield ruler((left, y), (right, y))
        yield label(text, left - 8, y + TEXT / 3, text_anchor="end", fill=MUTED)


def horizontal_axis(ticks: Sequence[tuple[float, str]], scale: Scale, top: float, bottom: float) -> Iterator[Element]:
    """Yield vertical grid lines from `top` to `bottom`, with their texts below."""
    for value, text in ticks:
        x = scale(value)
        yield ruler((x, top), (x, bottom))
        yield label(text, x, bottom + TEXT + 5, text_anchor="middle", fill=MUTED)


def marker(style: LineStyle, x: float, y: float) -> Element:
    """Return the marker of a line at (x, y)."""
    place = f"translate({number(x)} {number(y)})"
    return element("path", d=_MARKERS[style.marker], transform=place, fill=style.colour)


def striped(begin: float, end: float, top: float, height: float) -> Iterator[Element]:
    """Yield a bar from `begin` to `end` with stripes, so that it also differs without colours."""
    yield element("rect", x=begin, y=top, width=end - begin, height=height, fill=EXCESS)
    path = f"M{number(begin)} {number(top + height / 2)}H{number(end)}"
    yield element("path", d=path, stroke=SURFACE, stroke_width=height, stroke_dasharray="1.5 5")


def corners(places: Sequence[Point]) -> str:
    """Return the corners of a line as text."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)
