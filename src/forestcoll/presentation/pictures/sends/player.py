"""A picture of sends that a script can play: all arrows that any story needs, of which one story is shown at first.

The script of a page finds the arrows by `data-wire`, the numbers at nodes by `data-badge`, and shows those of the
chosen story up to a send.
"""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from forestcoll.presentation.pictures.layout import NetworkLayout
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.network.drawing import NetworkDrawing
from forestcoll.presentation.pictures.network.legend import Legend
from forestcoll.presentation.pictures.network.picture import finished
from forestcoll.presentation.pictures.sends.drawing import Crossing, arrow, badge, crossings_of, reached_marks
from forestcoll.presentation.pictures.sends.picture import READING
from forestcoll.presentation.pictures.sends.side_by_side import entries_words
from forestcoll.presentation.pictures.sends.value import Story
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.topology import Topology

_MOST_ENTRIES = 40_000
"""The most arrows of all stories of a page together; further stories are left out."""


class Player:
    """Stories of a schedule on one picture.

    Args:
        topology: the network.
        layout: the places of its nodes.
        stories: the stories, of which the first is shown at first.
    """

    def __init__(self, topology: Topology, layout: NetworkLayout, stories: Sequence[Story]) -> None:
        self._topology, self._layout = topology, layout
        self._stories: list[Story] = []
        self._crossings: list[list[Crossing]] = []
        entries = 0
        for story in stories:
            crossings = crossings_of(story, layout)
            entries += len(crossings)
            if self._stories and entries > _MOST_ENTRIES:
                break
            self._stories.append(story)
            self._crossings.append(crossings)

    @cached_property
    def _wires(self) -> dict[tuple[int, int], int]:
        """The number of each pair of marks that an arrow of a story joins."""
        pairs = sorted({(each.source, each.target) for crossings in self._crossings for each in crossings})
        return {ends: place for place, ends in enumerate(pairs)}

    def picture(self) -> Element:
        """Return the `svg` element, which shows the first story."""
        first = self._stories[0]
        legend = Legend(self._layout.width, self._layout.height)
        legend.words(first.name)
        legend.elements[-1].set("data-name", "")
        legend.new_row()
        legend.words(READING)
        network = NetworkDrawing(self._topology, self._layout, is_quiet=True)
        sends = element("g", *self._arrows(first), class_="sends")
        return finished(network, f"The sends of {first.name}", legend, [sends], [element("g", *self._badges(first))])

    def _arrows(self, first: Story) -> list[Element]:
        shown = {(each.source, each.target): each for each in self._crossings[0]}
        made = []
        for ends, place in self._wires.items():
            crossing = shown.get(ends, Crossing(*ends, (1, 1)))
            group = element("g", *arrow(crossing, self._layout, first.last, counted=True), data_wire=str(place))
            if ends not in shown:
                group.set("display", "none")
            made.append(group)
        return made

    def _badges(self, first: Story) -> list[Element]:
        reached = reached_marks(first, self._layout)
        marks = sorted({mark for story in self._stories for mark in reached_marks(story, self._layout)})
        made = []
        for mark in marks:
            group = badge(self._layout.marks[mark], reached.get(mark, 1), first.last)
            group.set("data-badge", str(mark))
            if mark not in reached:
                group.set("display", "none")
            made.append(group)
        return made

    def data(self) -> str:
        """Return what the script needs, as JSON that is safe inside a `script` element."""
        structure = Structure(self._topology)
        stories = [
            {
                "name": story.name,
                "last": story.last,
                "words": entries_words(story, structure),
                "wires": [
                    [self._wires[each.source, each.target], list(Counter(each.orders).items())] for each in crossings
                ],
                "reached": [list(each) for each in reached_marks(story, self._layout).items()],
            }
            for story, crossings in zip(self._stories, self._crossings, strict=True)
        ]
        return json.dumps(stories, separators=(",", ":")).replace("<", "\\u003c")
