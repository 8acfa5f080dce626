"""The view of a network or a schedule: one picture, or a page that explains itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from forestcoll.errors import InputError, shown
from forestcoll.files import write_bytes, write_text
from forestcoll.pictures.layout import layout_of
from forestcoll.pictures.network.picture import load_picture, network_picture
from forestcoll.pictures.raster import check_png, png_of
from forestcoll.pictures.sends.player import Player
from forestcoll.pictures.sends.stories import stories_of
from forestcoll.pictures.svg import text
from forestcoll.presentation.explanations import explain
from forestcoll.presentation.tables import Page
from forestcoll.presentation.text import bandwidth, printable
from forestcoll.presentation.view.html import Figure, Section, html_page
from forestcoll.presentation.view.sentences import network_sentence, schedule_sentence
from forestcoll.proof import Bound
from forestcoll.proof.cut import CutProof
from forestcoll.request import Demand
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology

FORMATS = (".html", ".svg", ".png")
_MOST_STORIES = 120


@dataclass(frozen=True)
class View:
    """What a picture or a page shows.

    Attributes:
        topology: the network.
        schedule: a verified schedule on the network; None if only the network is shown.
        bound: a bound with its proof; None if none is known.
        demand: the collective that the bound is for.
    """

    topology: Topology
    schedule: Schedule | None
    bound: Bound | None
    demand: Demand

    @property
    def title(self) -> str:
        """What the view shows, in one line."""
        name = printable(self.topology.name)
        return name if self.schedule is None else f"{self.schedule.collective.value} on {name}"

    def svg(self) -> str:
        """Return one picture: the network, or its loads under the schedule, with the cut of the bound."""
        if self.schedule is None:
            return text(network_picture(self.topology, bound=self.bound, title=self.title))
        return text(load_picture(self.schedule, bound=self.bound, title=f"{self.title}: loads of the links"))

    def html(self) -> str:
        """Return a page with all pictures, which needs no other file."""
        return html_page(self.title, list(self._sections()))

    def _sections(self) -> Iterator[Section]:
        schedule, topology = self.schedule, self.topology
        layout = layout_of(topology)
        network = network_picture(
            topology, bound=self.bound, title=f"The network {printable(topology.name)}", layout=layout
        )
        yield Section("The network", (network_sentence(topology),), Figure(network, _network_caption(self.bound)))
        if self.bound is not None:
            yield Section("The bound", tuple(self._bound_lines()))
        if schedule is None:
            return
        loads = load_picture(schedule, title=f"{self.title}: loads of the links", layout=layout)
        caption = "The colour of a link is the part of the time that it is busy, for large data."
        yield Section("The loads of the links", (schedule_sentence(schedule),), Figure(loads, caption))
        stories = tuple(islice(stories_of(schedule), _MOST_STORIES + 1))
        if stories:
            player = Player(topology, layout, stories[:_MOST_STORIES])
            caption = "Choose a part of the schedule, or play its sends one after the other."
            more = f" Only the first {_MOST_STORIES} are listed." if len(stories) > _MOST_STORIES else ""
            yield Section("The sends", (caption + more,), Figure(player.picture(), "", player.data()))

    def _bound_lines(self) -> Iterator[str]:
        if self.bound is None:
            return
        unit = printable(self.topology.bandwidth_unit)
        kind = " along trees" if self.bound.proof.trees_only else ""
        yield f"No {self.bound.collective.value}{kind} on this network exceeds {bandwidth(self.bound.algbw, unit)}."
        yield from explain(self.bound, self.topology, self.demand)


def _network_caption(bound: Bound | None) -> str:
    widths = "The width of a line grows with the bandwidth of the link."
    if bound is None or not isinstance(bound.proof, CutProof):
        return widths
    return f"{widths} Marked links leave the bottleneck cut: all data that must leave it crosses them."


def view_of(shown_value: Topology | Schedule) -> View:
    """Return the view of a network or a schedule.

    Args:
        shown_value: a network, or a schedule that `verify` accepts. For a network, the bound is that of an allgather.

    Example:
        >>> from forestcoll import build_topology
        >>> view_of(build_topology("ring:nodes=4")).title
        'ring:nodes=4'
    """
    if isinstance(shown_value, Schedule):
        return View(shown_value.topology, shown_value, shown_value.bound, shown_value.demand)
    return View(shown_value, None, _bound_of(shown_value), Demand())


def _bound_of(topology: Topology) -> Bound | None:
    """Return the bound of an allgather, or None if there is none."""
    from forestcoll.errors import ForestcollError
    from forestcoll.solver.optimum import optimum

    try:
        return optimum(topology).bound
    except ForestcollError:
        return None


def check_output(path: Path) -> None:
    """Check before the work that a view can be written to this file.

    Raises:
        InputError: the name does not end in one of `FORMATS`, or a PNG is requested and its library is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        endings = ", ".join(FORMATS)
        raise InputError(f"{path}: the file name must end in one of {endings}, not {shown(path.suffix)}")
    if path.suffix.lower() == ".png":
        check_png()


def write_view(view: View, path: Path) -> None:
    """Write a view to a file: a page, or one picture, by the end of its name.

    Raises:
        InputError: as for `check_output`, or the file cannot be written.
    """
    check_output(path)
    kind = path.suffix.lower()
    if kind == ".png":
        write_bytes(path, [png_of(view.svg())])
    else:
        write_text(path, [view.html() if kind == ".html" else view.svg() + "\n"])


def view_page(view: View, path: Path) -> Page:
    """Return the page that the command line prints about a written view."""
    sentences = [network_sentence(view.topology)]
    if view.schedule is not None:
        sentences.append(schedule_sentence(view.schedule))
    return Page(f"{view.title}: written to {path}", tuple(sentences))


def view_document(view: View, path: Path) -> dict[str, object]:
    """Return the JSON object about a written view."""
    return {
        "topology": view.topology.name,
        "schedule": None if view.schedule is None else view.schedule.kind,
        "compute_nodes": len(view.topology.compute),
        "output": str(path),
        "bytes": path.stat().st_size if path.is_file() else None,
    }
