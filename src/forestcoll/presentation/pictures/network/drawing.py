"""A network as elements of SVG: frames, links, nodes and labels, from back to front."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.presentation.pictures.colours import load_class
from forestcoll.presentation.pictures.layout import Frame, Mark, NetworkLayout
from forestcoll.presentation.pictures.layout.labels import FONT
from forestcoll.presentation.pictures.network.cut import DrawnCut, bandwidths
from forestcoll.presentation.pictures.network.paths import head, path_of
from forestcoll.presentation.pictures.network.wires import (
    Wire,
    names_of,
    paired,
    reference_bandwidth,
    width_of,
    wires_of,
)
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.topology import Topology


@dataclass(frozen=True)
class NetworkDrawing:
    """What a picture of a network shows.

    Attributes:
        topology: the network.
        layout: the places of its nodes.
        busy: for each link, the part of the time in which a schedule keeps it busy; None without a schedule.
        cut: the cut to mark; None if there is none.
        is_quiet: whether links are drawn thin and grey, because something else is drawn over them.
    """

    topology: Topology
    layout: NetworkLayout
    busy: Sequence[float] | None = None
    cut: DrawnCut | None = None
    is_quiet: bool = False

    def elements(self, sends: Sequence[Element] = ()) -> list[Element]:
        """Return the elements of the picture, from back to front, with `sends` over the links and under the nodes."""
        layout = self.layout
        return [
            element("rect", class_="paper", x=0.0, y=0.0, width=layout.width, height=layout.height),
            *(element("g", *_frame(frame)) for frame in layout.frames),
            element("g", *(part for wire in self._drawn() for part in self._wire(*wire)), class_="wires"),
            *sends,
            element("g", *map(self._mark, layout.marks), class_="marks"),
        ]

    @cached_property
    def most(self) -> Fraction:
        """The bandwidth whose line is widest."""
        return reference_bandwidth(self.topology) * (1 if self._has_labels else 4)

    @property
    def _has_labels(self) -> bool:
        return any(mark.is_compute and mark.label and not mark.is_stack for mark in self.layout.marks)

    def _drawn(self) -> list[tuple[Wire, Wire | None]]:
        """Return the lines of the picture; links with little load come first, under the others."""
        pairs = paired(self._wires)
        return sorted(pairs, key=lambda pair: (pair[0].load or 0.0, pair[0].bandwidth))

    def _wire(self, wire: Wire, back: Wire | None) -> list[Element]:
        width = 1.2 if self.is_quiet else width_of(wire.bandwidth, self.most)
        opposite = (wire.target, wire.source)
        is_alone = back is None and opposite in self._joined
        if is_alone:
            width = max(width / 2, 1.0)
        path = path_of(self.layout, wire.source, wire.target, width / 2 + 1.4 if is_alone else 0.0)
        links = wire.links if back is None else (*wire.links, *back.links)
        crossing = self.cut is not None and not self.cut.leaving.isdisjoint(links)
        title = element("title", self._words(wire, back))
        shown: list[Element] = []
        if crossing:
            shown.append(element("path", d=path, class_="crossing", stroke_width=width + 6))
            shown.append(element("path", d=path, class_="halo", stroke_width=width + 2.4))
        if wire.load is None or self.is_quiet:
            shown.append(element("path", title, d=path, class_="wire", stroke_width=width))
        else:
            shown.append(element("path", d=path, class_="casing", stroke_width=width + 1.2))
            shown.append(element("path", title, d=path, class_=f"{load_class(wire.load)} load", stroke_width=width))
        if back is None and not is_alone and not self.is_quiet:
            kind = "arrow" if wire.load is None else f"{load_class(wire.load)} head"
            shown.append(head(self.layout, (wire.source, wire.target), 0.0, kind=kind))
        return shown

    @property
    def has_one_way_links(self) -> bool:
        """Whether some line has an arrow, because there is no link in the other direction."""
        return not self.is_quiet and any((wire.target, wire.source) not in self._joined for wire in self._wires)

    @cached_property
    def _wires(self) -> tuple[Wire, ...]:
        return wires_of(self.topology, self.layout, self.busy)

    @cached_property
    def _joined(self) -> frozenset[tuple[int, int]]:
        """The pairs of marks with a wire from the first to the second."""
        return frozenset((wire.source, wire.target) for wire in self._wires)

    def _words(self, wire: Wire, back: Wire | None) -> str:
        """Return the title of a line: its ends, its bandwidth, and its load."""
        topology, marks = self.topology, self.layout.marks
        if len(wire.links) == 1:
            link = topology.links[wire.links[0]]
            names = names_of(topology, link)
            if back is not None:
                names = names.replace("→", "and")
        else:
            names = f"{marks[wire.source].name} → {marks[wire.target].name}"
        each = " in each direction" if back is not None else ""
        words = f"{names}: {bandwidths(topology, wire.links)}{each}"
        return words if wire.load is None or self.is_quiet else f"{words}, {busy_words(wire.least or 0.0, wire.load)}"

    def _mark_words(self, mark: Mark) -> str:
        """Return the title of a mark: its name, the bandwidth of its links, and their loads."""
        if mark.is_stack:
            return mark.name
        node = mark.nodes[0]
        out, unit = self.topology.egress[node], self.topology.bandwidth_unit
        words = f"{mark.name}: {'compute node' if mark.is_compute else 'switch'}, {out} {unit} out"
        loads = [] if self.busy is None or self.is_quiet else [self.busy[link] for link in self.topology.leaving[node]]
        return f"{words}, links out {busy_words(min(loads), max(loads))}" if loads else words

    def _mark(self, mark: Mark) -> Element:
        shaded = self.cut is not None and self.cut.shaded.issuperset(mark.nodes)
        kind = f"{'compute' if mark.is_compute else 'switch'}{' shaded' * shaded}"
        return element("g", *_shape(mark, kind, self._mark_words(mark)))


def busy_words(least: float, most: float) -> str:
    """Return a range of loads in words.

    Example:
        >>> busy_words(0.25, 0.5)
        'busy 25 to 50 % of the time'
    """
    low, high = f"{100 * least:.3g}", f"{100 * most:.3g}"
    return f"busy {high} % of the time" if low == high else f"busy {low} to {high} % of the time"


def _shape(mark: Mark, kind: str, title: str) -> list[Element]:
    """Return a mark with its label; several nodes are drawn as sheets behind each other."""
    sheets = [4.0, 2.0, 0.0] if mark.is_stack and mark.height > 8 else [0.0]
    rounding = mark.height / 2 if mark.is_compute else 3.0
    shown = [element("title", title)]
    shown += [
        element(
            "rect",
            x=mark.x - mark.width / 2 + sheet,
            y=mark.y - mark.height / 2 - sheet,
            width=mark.width,
            height=mark.height,
            rx=rounding,
            class_=kind,
            stroke_width=1.2,
        )
        for sheet in sheets
    ]
    if mark.label:
        label = element("text", mark.label, x=mark.x, y=mark.y + FONT * 0.36, font_size=FONT, text_anchor="middle")
        shown.append(label)
    return shown


def _frame(frame: Frame) -> list[Element]:
    return [
        element(
            "rect",
            x=frame.x,
            y=frame.y,
            width=frame.width,
            height=frame.height,
            rx=8,
            class_="frame",
            stroke_width=1,
            stroke_dasharray="5 3",
        ),
        element("text", frame.label, x=frame.x + 10, y=frame.y + frame.height - 9, font_size=12, class_="quiet"),
    ]
