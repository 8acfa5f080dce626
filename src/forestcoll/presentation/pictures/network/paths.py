"""The lines of a picture as paths of SVG: straight, beside each other for two directions, or bent around marks."""

import math

from forestcoll.presentation.pictures.layout import Mark, NetworkLayout
from forestcoll.presentation.pictures.network.wires import Point, ends_of
from forestcoll.presentation.pictures.svg import Element, element, number

_STUB = 11.0


def path_of(layout: NetworkLayout, source: int, target: int, shift: float = 0.0) -> str:
    """Return the path of the line from one mark to another.

    Args:
        layout: the places of the marks.
        source: the number of the first mark.
        target: the number of the second mark.
        shift: the distance of the line from the straight line, to the right as seen from the source.
    """
    ends = ends_of(layout.marks[source], layout.marks[target])
    if layout.is_stub(source, target):
        return _stub(layout.marks[source], *ends, shift) + _stub(layout.marks[target], *ends[::-1], shift)
    (x, y), (u, v) = _shifted(*ends, shift)
    bend = _bend(layout, source, target)
    if not bend:
        return f"M{number(x)} {number(y)}L{number(u)} {number(v)}"
    (mx, my), _ = _middle(ends, bend)
    return f"M{number(x)} {number(y)}Q{number(mx)} {number(my + shift)} {number(u)} {number(v)}"


def middle_of(layout: NetworkLayout, source: int, target: int, shift: float = 0.0, part: float = 0.5) -> Point:
    """Return the point of the line at this `part` of its length from the source, for a label."""
    ends = ends_of(layout.marks[source], layout.marks[target])
    (x, y), (u, v) = _shifted(*ends, shift)
    if layout.is_stub(source, target):
        return _stub_end(layout.marks[source], (x, y), (u, v))
    bend = _bend(layout, source, target)
    if not bend:
        return x + (u - x) * part, y + (v - y) * part
    return _middle(ends, bend)[1]


def head(layout: NetworkLayout, ends: tuple[int, int], shift: float, *, kind: str, scale: str | None = None) -> Element:
    """Return the head of an arrow, at two thirds of a line.

    Args:
        layout: the places of the marks.
        ends: the numbers of the marks, the source first.
        shift: the distance of the line from the straight line, as in `path_of`.
        kind: the classes of the head.
        scale: its scale of colours, for a script.
    """
    x, y = middle_of(layout, *ends, shift, 0.66)
    u, v = middle_of(layout, *ends, shift, 0.7)
    one, other = layout.marks[ends[0]], layout.marks[ends[1]]
    if (u, v) == (x, y):
        ahead = -1 if layout.is_stub(*ends) else 1
        u, v = x + ahead * (other.x - one.x) / 50, y + ahead * (other.y - one.y) / 50
    length = max(((u - x) ** 2 + (v - y) ** 2) ** 0.5, 1e-9)
    right, down = (u - x) / length, (v - y) / length
    points = [
        (x + 7 * right, y + 7 * down),
        (x - 4 * right - 5.5 * down, y - 4 * down + 5.5 * right),
        (x - 4 * right + 5.5 * down, y - 4 * down - 5.5 * right),
    ]
    listed = " ".join(f"{number(a)},{number(b)}" for a, b in points)
    return element("polygon", points=listed, class_=kind, data_scale=scale, stroke_width=0.8)


def _middle(ends: tuple[Point, Point], bend: float) -> tuple[Point, Point]:
    """Return the control point of a bent line, and its middle."""
    (x, y), (u, v) = ends
    control = (x + u) / 2, (y + v) / 2 - 2 * bend
    return control, ((x + u) / 2, (y + v) / 2 - bend)


def _bend(layout: NetworkLayout, source: int, target: int) -> float:
    """Return how far a line is bent upwards: it is if other marks lie on it in the same row."""
    one, other = layout.marks[source], layout.marks[target]
    return 14 + 0.07 * abs(one.x - other.x) if layout.is_blocked(one, other) else 0.0


def _shifted(one: Point, other: Point, shift: float) -> tuple[Point, Point]:
    length = math.dist(one, other) or 1.0
    right, down = -(other[1] - one[1]) / length * shift, (other[0] - one[0]) / length * shift
    return (one[0] + right, one[1] + down), (other[0] + right, other[1] + down)


def _stub(mark: Mark, one: Point, other: Point, shift: float) -> str:
    """Return a short line that leaves a mark on the side that is not towards the other mark."""
    one, other = _shifted(one, other, shift)
    x, y = _stub_end(mark, one, other)
    return f"M{number(one[0])} {number(one[1])}L{number(x)} {number(y)}"


def _stub_end(mark: Mark, one: Point, other: Point) -> Point:
    length = math.dist(one, other) or 1.0
    right, down = (one[0] - other[0]) / length, (one[1] - other[1]) / length
    reach = abs(right) * mark.width / 2 + abs(down) * mark.height / 2 + _STUB
    return one[0] + right * reach, one[1] + down * reach
