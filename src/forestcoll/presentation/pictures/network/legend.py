"""The legend of a picture: widths and colours of links, kinds of nodes, in words and numbers."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.presentation.pictures.colours import load_class
from forestcoll.presentation.pictures.layout.labels import text_width
from forestcoll.presentation.pictures.network.wires import width_of
from forestcoll.presentation.pictures.svg import Element, element

_MOST_WIDTHS = 5
_STEP = 24.0
_GAP = 26.0


class Legend:
    """Rows of entries, which fill the width of the picture from left to right."""

    def __init__(self, width: float, top: float) -> None:
        """Start a legend below `top`, in a picture of this `width`."""
        self._width, self._x, self.bottom = width, 20.0, top
        self.elements: list[Element] = []

    def _place(self, width: float) -> tuple[float, float]:
        """Return the left end and the middle line of the next entry."""
        if self._x > 20.0 and self._x + width > self._width - 10:
            self.new_row()
        x, self._x = self._x, self._x + width + _GAP
        return x, self.bottom + _STEP / 2

    def new_row(self) -> None:
        """Begin the next row."""
        self._x, self.bottom = 20.0, self.bottom + _STEP

    def _text(self, x: float, y: float, words: str, kind: str = "quiet") -> None:
        self.elements.append(element("text", words, x=x, y=y + 4, font_size=12, class_=kind))

    def words(self, words: str, kind: str = "quiet") -> None:
        """Add a sentence."""
        for line in wrapped(words, self._width - 40):
            x, y = self._place(text_width(line, 12))
            self._text(x, y, line, kind)

    def line(self, words: str, width: float, kind: str = "wire") -> None:
        """Add a line of this width and class with its meaning."""
        x, y = self._place(40 + text_width(words, 12))
        self.elements.append(element("path", d=f"M{x:g} {y:g}h30", class_=kind, stroke_width=width))
        self._text(x + 38, y, words)

    def swatch(self, words: str, part: float) -> None:
        """Add a line with the colour of this `part` of the scale, with its meaning."""
        x, y = self._place(40 + text_width(words, 12))
        line = f"M{x:g} {y:g}h30"
        self.elements.append(element("path", d=line, class_="casing", stroke_width=4.6))
        self.elements.append(element("path", d=line, class_=f"{load_class(part)} load", stroke_width=3))
        self._text(x + 38, y, words)

    def box(self, words: str, kind: str) -> None:
        """Add a small shape of this class with its meaning."""
        x, y = self._place(32 + text_width(words, 12))
        rounding = 8.0 if kind == "compute" else 2.0
        self.elements.append(element("rect", x=x, y=y - 8, width=24, height=16, rx=rounding, class_=kind))
        self._text(x + 30, y, words)

    def scale(self, words: str) -> None:
        """Add the scale of loads."""
        parts = 20
        x, y = self._place(text_width(words, 12) + 224)
        self._text(x, y, words)
        x += text_width(words, 12) + 6
        self._text(x, y, "0 %")
        x += 28
        for part in range(parts):
            kind = load_class((part + 0.5) / parts)
            self.elements.append(
                element("rect", x=x + 7 * part, y=y - 6, width=7.2, height=12, class_=kind, stroke_width=0)
            )
        self.elements.append(element("rect", x=x, y=y - 6, width=7 * parts, height=12, class_="scale", stroke_width=1))
        self._text(x + 7 * parts + 8, y, "100 %")

    def widths(self, bandwidths: Sequence[Fraction], unit: str, most: Fraction) -> None:
        """Add the widths of lines for the greatest, the least and some other bandwidths."""
        distinct = sorted(set(bandwidths), reverse=True)
        for value in _spread(distinct):
            shown = str(value) if value.denominator == 1 else f"{float(value):.6g}"
            self.line(f"{shown} {unit}", width_of(value, most))
        if len(distinct) > _MOST_WIDTHS:
            self.words(f"and {len(distinct) - _MOST_WIDTHS:,} other bandwidths")


def _spread(values: Sequence[Fraction]) -> list[Fraction]:
    """Return all values if they are few, else the first, the last, and some at equal distances between them."""
    if len(values) <= _MOST_WIDTHS:
        return list(values)
    return [values[place * (len(values) - 1) // (_MOST_WIDTHS - 1)] for place in range(_MOST_WIDTHS)]


def wrapped(words: str, width: float) -> list[str]:
    """Return `words` in lines that fit into `width`."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if text_width(longer, 12) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
