"""The layout of a network: marks, which stand for one node or for several, and the frames around them."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property


@dataclass(frozen=True)
class Mark:
    """A drawn shape that stands for one node, or for several nodes of equal structure.

    Attributes:
        nodes: the numbers of the nodes.
        x: the horizontal centre.
        y: the vertical centre.
        width: the width.
        height: the height.
        label: the text on the mark, which may be shortened; no text if empty.
        name: the complete name.
        is_compute: whether all of its nodes are compute nodes.
    """

    nodes: tuple[int, ...]
    x: float
    y: float
    width: float
    height: float
    label: str
    name: str
    is_compute: bool

    @property
    def is_stack(self) -> bool:
        """Whether the mark stands for several nodes."""
        return len(self.nodes) > 1

    def moved(self, x: float, y: float) -> "Mark":
        """Return the mark at another place, `x` further right and `y` further down."""
        return replace(self, x=self.x + x, y=self.y + y)


@dataclass(frozen=True)
class Frame:
    """A rectangle around marks, such as a box.

    Attributes:
        x: the left side.
        y: the upper side.
        width: the width.
        height: the height.
        label: the text in its lower left corner.
    """

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True)
class NetworkLayout:
    """The places of all nodes of a network in a picture.

    Attributes:
        width: the width of the picture.
        height: the height of the picture.
        marks: the drawn shapes. Each node belongs to exactly one.
        frames: rectangles behind the marks.
        notes: what the picture shows differently from the network, in sentences.
        undrawn: the numbers of marks whose links are not drawn.
        stubs: pairs of marks whose links are drawn as two short ends, because they close a line of a torus.
    """

    width: float
    height: float
    marks: tuple[Mark, ...]
    frames: tuple[Frame, ...] = ()
    notes: tuple[str, ...] = ()
    stubs: frozenset[tuple[int, int]] = frozenset()
    undrawn: frozenset[int] = frozenset()

    def centred(self, width: float) -> "NetworkLayout":
        """Return the layout in the middle of a picture that has at least this `width`."""
        if self.width >= width:
            return self
        right = (width - self.width) / 2
        marks = tuple(mark.moved(right, 0) for mark in self.marks)
        frames = tuple(replace(frame, x=frame.x + right) for frame in self.frames)
        return replace(self, width=width, marks=marks, frames=frames)

    def is_stub(self, one: int, other: int) -> bool:
        """Return whether the links between two marks are drawn as two short ends."""
        return (min(one, other), max(one, other)) in self.stubs

    @cached_property
    def _rows(self) -> Mapping[float, list[float]]:
        rows: dict[float, list[float]] = {}
        for mark in self.marks:
            rows.setdefault(round(mark.y, 1), []).append(mark.x)
        return {y: sorted(places) for y, places in rows.items()}

    def is_blocked(self, one: Mark, other: Mark) -> bool:
        """Return whether a third mark is between two marks of the same row."""
        if round(one.y, 1) != round(other.y, 1):
            return False
        places = self._rows[round(one.y, 1)]
        left, right = sorted((one.x, other.x))
        return bisect_left(places, right) - bisect_right(places, left) > 0

    @cached_property
    def of_node(self) -> Mapping[int, int]:
        """For each node, the number of its mark."""
        return {node: number for number, mark in enumerate(self.marks) for node in mark.nodes}
