"""Two schedules on the same network side by side: the loads of the links, and the way of one shard."""

from dataclasses import dataclass
from itertools import islice

from forestcoll.base.errors import InputError, times
from forestcoll.presentation.pictures.layout import NetworkLayout, layout_of
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.network.drawing import NetworkDrawing
from forestcoll.presentation.pictures.network.legend import Legend, wrapped
from forestcoll.presentation.pictures.network.loads import busy_parts
from forestcoll.presentation.pictures.network.picture import styled
from forestcoll.presentation.pictures.sends.drawing import arrows, badges
from forestcoll.presentation.pictures.sends.picture import READING
from forestcoll.presentation.pictures.sends.stories import stories_of
from forestcoll.presentation.pictures.sends.value import Story
from forestcoll.presentation.pictures.svg import Element, element, number
from forestcoll.schedule.schedule import Schedule

_GAP, _HEADING, _LINE = 28.0, 34.0, 20.0
_MOST_STORIES = 100_000


@dataclass(frozen=True)
class Side:
    """One of two schedules.

    Attributes:
        schedule: the schedule.
        heading: the heading of its column.
        words: a sentence below its loads.
    """

    schedule: Schedule
    heading: str
    words: str = ""


def side_by_side(left: Side, right: Side, *, title: str, shard: int | None = None) -> Element:
    """Return a picture of two schedules of one network: loads in the upper row, the way of a shard in the lower row.

    The way of a shard is the tree of its node that stands for most of its data. So it becomes visible how often the
    data enters a box.

    Args:
        left: the schedule on the left.
        right: the schedule on the right.
        title: what the picture shows.
        shard: the number of the node whose shard is followed; the first member of the collective if None.

    Raises:
        InputError: the networks differ, or schedules of this kind have no picture.
    """
    topology = left.schedule.topology
    other = right.schedule.topology
    if (other.nodes, other.links) != (topology.nodes, topology.links):
        raise InputError(f"{topology.name}: the schedules are for different networks; compare schedules of one network")
    node = left.schedule.members[0] if shard is None else shard
    layout = layout_of(topology, is_compact=True)
    columns = [_column(side, layout, node) for side in (left, right)]
    width = 2 * layout.width + _GAP
    height = _HEADING + 2 * (layout.height + 2 * _LINE)
    legend = _legend(left.schedule, layout, width, height)
    parts = [_moved(element("g", *each), place * (layout.width + _GAP), 0) for place, each in enumerate(columns)]
    background = element("rect", class_="paper", x=0.0, y=0.0, width=width, height=legend.bottom + 8)
    return styled(width, legend.bottom + 8, title, background, *parts, *legend.elements)


def _column(side: Side, layout: NetworkLayout, shard: int) -> list[Element]:
    """Return the parts of one column, from top to bottom."""
    topology = side.schedule.topology
    story = story_of_shard(side.schedule, shard)
    loads = NetworkDrawing(topology, layout, busy_parts(side.schedule))
    sends = NetworkDrawing(topology, layout, is_quiet=True)
    second = _HEADING + layout.height + 2 * _LINE
    return [
        _words(side.heading, 22, 16, "heading"),
        _moved(element("g", *loads.elements()), 0, _HEADING),
        *_paragraph(side.words, layout, _HEADING + layout.height + 12),
        _moved(element("g", *sends.elements([arrows(story, layout)]), badges(story, layout)), 0, second),
        *_paragraph(entries_words(story, Structure(topology)), layout, second + layout.height + 12),
    ]


def story_of_shard(schedule: Schedule, shard: int) -> Story:
    """Return a story about the data of a node that is typical: most of the data enters the boxes as often as it does.

    Raises:
        InputError: the schedule has no such story, or schedules of this kind have no picture.
    """
    topology = schedule.topology
    groups = [group.nodes for group in Structure(topology).groups]
    found: dict[tuple[int, ...], list[Story]] = {}
    for story in islice(stories_of(schedule), _MOST_STORIES):
        if story.shard == shard:
            found.setdefault(story.entries(groups), []).append(story)
    if not found:
        node = topology.nodes[shard].id
        raise InputError(f"{topology.name}: no tree of the schedule has the root {node}; choose the root of a tree")
    return max(found.values(), key=lambda stories: sum(story.sends[0].part for story in stories if story.sends))[0]


def entries_words(story: Story, structure: Structure) -> str:
    """Return how many sends follow each other, and how often the data enters each box, in words.

    Example:
        >>> from forestcoll import generate
        >>> schedule = generate("dgx-a100:boxes=2")
        >>> entries_words(story_of_shard(schedule, 0), Structure(schedule.topology))
        '2 sends one after the other; this part of the data goes once into box 1'
    """
    counts = story.entries([group.nodes for group in structure.groups])
    listed = [
        f"{times(count)} into {group.name}" for group, count in zip(structure.groups, counts, strict=True) if count
    ]
    many = f"into {len(listed)} boxes, together {times(sum(counts))}"
    where = " and ".join(listed) if len(listed) <= 3 else many
    sends = "all sends at the same time" if story.last == 1 else f"{story.last} sends one after the other"
    return sends + (f"; this part of the data goes {where}" if listed else "")


def _legend(schedule: Schedule, layout: NetworkLayout, width: float, top: float) -> Legend:
    topology = schedule.topology
    legend = Legend(width, top)
    legend.words("Upper row: the loads of all links for large data.")
    legend.scale("part of the time that a link is busy:")
    network = NetworkDrawing(topology, layout)
    legend.widths([link.bandwidth for link in topology.links], topology.bandwidth_unit, network.most)
    legend.new_row()
    legend.words(f"Lower row: the way of one part of the data of {topology.nodes[schedule.members[0]].id}. {READING}")
    for note in layout.notes:
        legend.new_row()
        legend.words(note)
    legend.new_row()
    return legend


def _words(words: str, y: float, size: float = 12, kind: str = "quiet") -> Element:
    weight = "bold" if kind == "heading" else None
    return element("text", words, x=20.0, y=y, font_size=size, class_=kind, font_weight=weight)


def _paragraph(words: str, layout: NetworkLayout, y: float) -> list[Element]:
    """Return up to two lines of text below a network."""
    lines = wrapped(words, layout.width - 40)
    return [_words(line, y + 17 * place) for place, line in enumerate(lines[:2])]


def _moved(made: Element, x: float, y: float) -> Element:
    made.set("transform", f"translate({number(x)} {number(y)})")
    return made
