"""The view of a network or a schedule: one picture, or a page that explains itself."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, NoSolutionError, plural
from forestcoll.base.files import PathLike, as_path, write_text
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.version import __version__
from forestcoll.demand.demand import NodeDemand
from forestcoll.presentation.html import figure, page_text, paragraph, section
from forestcoll.presentation.pictures.layout import layout_of
from forestcoll.presentation.pictures.network.loads import algbw_of
from forestcoll.presentation.pictures.network.picture import load_picture, network_picture
from forestcoll.presentation.pictures.raster import FORMATS as PICTURES
from forestcoll.presentation.pictures.raster import check_picture, write_picture
from forestcoll.presentation.pictures.sends.player import Player
from forestcoll.presentation.pictures.sends.stories import selected_stories
from forestcoll.presentation.pictures.svg import Element, element, text
from forestcoll.presentation.results.networks.networks import network_sentence
from forestcoll.presentation.results.schedules.explanations import explain
from forestcoll.presentation.tables import Page, row
from forestcoll.presentation.text import bandwidth, capitalized
from forestcoll.presentation.view.pairs import pair_picture
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology
from forestcoll.verification.reading import require_right

FORMATS = (".html", *PICTURES)
_MOST_STORIES = 120
_HINT = "Point at a node or a link, or press Tab and the arrow keys, to see its name, bandwidth and load."
_PAIR = "The upper row shows the loads of the links, the lower row the way of a part of the data of one node."


@dataclass(frozen=True, repr=False)
class View(Displayed):
    """What a picture or a page shows.

    Attributes:
        topology: the network.
        schedule: a verified schedule on the network; None if only the network is shown.
        bound: a bound with its proof; None if none is known.
        demand: the collective that the bound is for.
        name: the name of the schedule next to another.
        beside: another schedule on the same network, and its name; None if there is none.

    Example:
        >>> from forestcoll import generate, view
        >>> view(generate("ring:nodes=4")).title
        'allgather on ring:nodes=4'
    """

    topology: Topology
    schedule: Schedule | None
    bound: Bound | None
    demand: NodeDemand
    name: str = "left"
    beside: tuple[Schedule, str] | None = None

    @property
    def title(self) -> str:
        """What the view shows, in one line."""
        name = self.topology.name
        return name if self.schedule is None else f"{self.schedule.operation} on {name}"

    def svg(self) -> str:
        """Return one picture as SVG.

        It shows the network, or its loads under the schedule, with the cut of the bound; or two schedules side by side.

        Raises:
            InputError: there is no picture of schedules of this kind.
        """
        return text(picture_of(self))

    def html(self) -> str:
        """Return a page with all pictures, which needs no other file.

        Raises:
            InputError: there is no picture of schedules of this kind.
        """
        hint = element("p", _HINT, id="details", role="status", aria_live="polite")
        footer = element("footer", f"Written by forestcoll {__version__}.")
        main = element("main", element("h1", self.title), *self._sections(), hint, footer)
        return page_text(self.title, [main], name="view/page")

    def _sections(self) -> Iterator[Element]:
        schedule, topology = self.schedule, self.topology
        layout = layout_of(topology)
        network = network_picture(topology, bound=self.bound, title=f"The network {topology.name}", layout=layout)
        shown = figure(network, _network_caption(self.bound))
        yield section("network", "The network", paragraph(network_sentence(topology)), shown)
        if self.bound is not None:
            yield section("bound", "The bound", *map(_line, self._bound_lines(self.bound)))
        if schedule is None:
            return
        loads = load_picture(schedule, title=f"{self.title}: loads of the links", layout=layout)
        shown = figure(loads, "The colour of a link is the part of the time that it is busy, for large data.")
        yield section("loads", "The loads of the links", paragraph(_schedule_sentence(schedule)), shown)
        stories, are_all = selected_stories(schedule, _MOST_STORIES)
        if stories:
            words = "Choose a part of the schedule, or play its sends one after the other."
            more = "" if are_all else f" The list has {len(stories)} parts; the others are left out."
            player = _player(Player(topology, layout, stories))
            yield section("sends", "The sends", paragraph(words + more), player)
        if (pair := _pair(self)) is not None:
            yield section("pair", "Side by side", paragraph(_PAIR), figure(pair, ""))

    def _bound_lines(self, bound: Bound) -> Iterator[str]:
        kind = " along trees" if bound.proof.trees_only else ""
        algbw = bandwidth(bound.algbw, self.topology.bandwidth_unit)
        yield f"No {bound.collective.value}{kind} on this network exceeds {algbw}."
        for line in explain(bound, self.topology, self.demand):
            yield line.replace("--json lists", "forestcoll optimum --json lists")


def picture_of(view: View) -> Element:
    """Return the picture of `View.svg`, which notebooks show."""
    if (pair := _pair(view)) is not None:
        return pair
    if view.schedule is None:
        return network_picture(view.topology, bound=view.bound, title=view.title)
    return load_picture(view.schedule, bound=view.bound, title=f"{view.title}: loads of the links")


def _pair(view: View) -> Element | None:
    if view.schedule is None or view.beside is None:
        return None
    other, name = view.beside
    return pair_picture(view.schedule, other, (view.name, name))


def _line(line: str) -> Element:
    return paragraph(line.strip(), class_="indented" if line.startswith(" ") else None)


def _player(player: Player) -> Element:
    """Return the picture of the sends with its controls, and what its script needs."""
    made = figure(player.picture(), "")
    made.set("class", "player")
    controls = element(
        "div",
        element("label", "Part of the schedule ", element("select", class_="story")),
        element("button", "◀ Back", type="button", class_="back", aria_label="Previous send"),
        element("button", "▶ Play", type="button", class_="play"),
        element("button", "Next ▶", type="button", class_="next", aria_label="Next send"),
        element("button", "All sends", type="button", class_="all"),
        element("output", class_="state", aria_live="polite"),
        class_="controls",
        hidden="",
    )
    made.insert(0, controls)
    made.append(element("script", player.data(), type="application/json"))
    return made


def _network_caption(bound: Bound | None) -> str:
    widths = "The width of a line grows with the bandwidth of the link."
    if bound is None or not isinstance(bound.proof, CutProof):
        return widths
    return f"{widths} Marked links leave the bottleneck cut: all data that must leave it crosses them."


def view(shown_value: TopologyLike | Schedule, *, progress: Progress = SILENT) -> View:
    """Return the view of a network or a schedule, from which pictures and a page are made.

    Args:
        shown_value: a network, or a schedule, which is verified first. The bound of a network is that of an allgather.
        progress: receives the stages, and why a network has no bound.

    Returns:
        The view: `view.svg()` is one picture, `view.html()` a page.

    Raises:
        InputError: the schedule breaks a rule, or the network is not valid.

    Example:
        >>> found = view("ring:nodes=4")
        >>> found.title, found.svg()[:4], found.html()[:15]
        ('ring:nodes=4', '<svg', '<!DOCTYPE html>')
    """
    if isinstance(shown_value, Schedule):
        require_right(shown_value)
        return View(shown_value.topology, shown_value, shown_value.bound, shown_value.demand)
    topology = load_topology(shown_value)
    return View(topology, None, _bound_of(topology, progress), NodeDemand())


def with_schedule(view: View, name: str, other: Schedule, other_name: str) -> View:
    """Return the view of a schedule with another schedule next to it.

    Args:
        view: the view of a schedule.
        name: its name.
        other: another schedule on the same network.
        other_name: the name of the other schedule.

    Raises:
        InputError: the view shows no schedule.
    """
    if view.schedule is None:
        raise InputError(f"{view.title}: a network is not compared with a schedule; name a schedule file first")
    return replace(view, name=name, beside=(other, other_name))


def _bound_of(topology: Topology, progress: Progress) -> Bound | None:
    """Return the bound of an allgather, or None if there is none; `progress` receives the reason."""
    from forestcoll.algorithms.generate import optimum

    try:
        return optimum(topology, progress=progress).bound
    except (InputError, NoSolutionError) as error:
        progress.remark(f"no bound: {error}")
        return None


def write_view(view: View, path: PathLike) -> None:
    """Write a view to a file: a page (.html) or one picture (.svg, .png), by the end of its name.

    Args:
        view: the view.
        path: the file. The same view gives the same bytes, except for a PNG with other versions of its libraries.

    Raises:
        InputError: the name ends differently, the library for PNG is not installed, the file cannot be written, or
            there is no picture of schedules of this kind.

    Example:
        >>> from pathlib import Path
        >>> from forestcoll.topology import build_topology
        >>> write_view(view(build_topology("ring:nodes=4")), "ring.svg")
        >>> Path("ring.svg").read_text()[:4]
        '<svg'
    """
    path = as_path(path)
    check_picture(path, FORMATS)
    if path.suffix.lower() == ".html":
        write_text(path, [view.html()])
    else:
        write_picture(view.svg(), path)


def view_page(view: View, path: Path | None = None) -> Page:
    """Return the page of a view, which was written to `path`."""
    schedule, nodes = view.schedule, len(view.topology.compute)
    kind = None if schedule is None else schedule.kind
    size = path.stat().st_size if path is not None and path.is_file() else None
    sentences = [network_sentence(view.topology), *([] if schedule is None else [_schedule_sentence(schedule)])]
    values = row(topology=view.topology.name, schedule=kind, compute_nodes=nodes, output=path, bytes=size)
    return Page(view.title if path is None else f"{view.title}: written to {path}", (*sentences, values))


def _schedule_sentence(schedule: Schedule) -> str:
    """Return what a schedule does and reaches, in one or two sentences."""
    unit = schedule.topology.bandwidth_unit
    root = "" if schedule.root is None else f", root {schedule.topology.nodes[schedule.root].id}"
    is_one = schedule.operation == schedule.collective.value
    words = capitalized(schedule.collective.with_article if is_one else schedule.operation)
    words = f"{words} between {len(schedule.members):,} compute nodes{root}: {_size(schedule)}."
    algbw = algbw_of(schedule)
    if algbw is None:
        return words
    words = f"{words} Its algorithmic bandwidth for large data is {bandwidth(algbw, unit)}"
    if schedule.bound is None:
        return f"{words}."
    if schedule.bound.algbw == algbw:
        kind = "schedule of trees" if schedule.bound.proof.trees_only else "schedule"
        return f"{words}, which is the bound: no {kind} is faster."
    return f"{words}, and the bound is {bandwidth(schedule.bound.algbw, unit)}."


def _size(schedule: Schedule) -> str:
    if not isinstance(schedule, TreeSchedule):
        return schedule.size
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    return plural(order * sum(map(len, schedule.phases)), "tree")
