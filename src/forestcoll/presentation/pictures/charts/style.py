"""Colours, dashes and markers of charts.

A colour is a CSS variable with a fallback. A page sets the variables for light and dark backgrounds. A picture in its
own file uses the fallbacks, which are for a light background. Lines also differ by dash and marker, and bars by
stripes, because a reader may not see colours.
"""

from collections.abc import Iterable
from typing import NamedTuple

INK = "var(--ink, #1f2328)"
MUTED = "var(--muted, #59636e)"
GRID = "var(--grid, #d1d9e0)"
SURFACE = "var(--surface, #ffffff)"
BOUND = "var(--bound, #1f2328)"
FILL = "var(--fill, #9fb4c8)"
EXCESS = "var(--excess, #c4601d)"

FONT = "system-ui, sans-serif"
TEXT = 13.0
"""The size of text in pixels."""

MOST_NAMES = 400.0
"""The greatest width of a column of names."""

_WIDTH = 0.6
"""The width of a letter as a part of the size of the text, estimated for the widest common font."""

_COLOURS = ("#0b5cad", "#b3470f", "#00735c", "#8a3d78", "#7a6000", "#4a5560", "#1b7fa6")
_DASHES = ("", "8 3", "2 3", "9 3 2 3", "5 2")
_MARKERS = ("circle", "square", "triangle", "diamond", "cross", "bar")


class LineStyle(NamedTuple):
    """How the line of one schedule is drawn.

    Attributes:
        colour: its colour.
        dash: the lengths of its dashes and gaps; None for a solid line.
        marker: the form of its markers: circle, square, triangle, diamond, cross or bar.
    """

    colour: str
    dash: str | None
    marker: str


def line_style(place: int) -> LineStyle:
    """Return the style of the line at this place of a list; the first 210 styles differ.

    Example:
        >>> line_style(0)
        LineStyle(colour='var(--line-0, #0b5cad)', dash=None, marker='circle')
        >>> len({line_style(place) for place in range(210)})
        210
    """
    colour = place % len(_COLOURS)
    dash = _DASHES[place % len(_DASHES)] or None
    return LineStyle(f"var(--line-{colour}, {_COLOURS[colour]})", dash, _MARKERS[place % len(_MARKERS)])


def text_width(text: str, size: float = TEXT) -> float:
    """Return an upper estimate of the width of `text` in pixels.

    Example:
        >>> round(text_width("forestcoll"))
        78
    """
    return len(text) * size * _WIDTH


def elided(text: str, width: float, size: float = TEXT) -> str:
    """Return `text`, or as much of its ends as fits into `width` pixels: names often differ at their ends.

    Example:
        >>> elided("multitree-remaining", 100)
        'multit…ining'
    """
    most = max(1, int(width / (size * _WIDTH)))
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def names_width(names: Iterable[str], least: float) -> float:
    """Return the width of a column for names: `least` or more, and not so much that a chart has no room.

    Example:
        >>> names_width(["ring"], 190), names_width(["x" * 99], 190)
        (190, 400.0)
    """
    return max(least, min(MOST_NAMES, max(map(text_width, names), default=0.0)))
