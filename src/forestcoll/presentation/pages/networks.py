"""The pictures of the network in a report: the loads of schedules, and the bottleneck cut."""

from functools import cached_property

from forestcoll.algorithms.baseline import title_of
from forestcoll.comparison import Row
from forestcoll.comparison.curves import schedule_of
from forestcoll.presentation.pages.study import ComparisonDetails
from forestcoll.presentation.pictures.colours import style
from forestcoll.presentation.pictures.layout import NetworkLayout, layout_of
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.network.picture import load_picture, network_picture
from forestcoll.presentation.pictures.sends.picture import story_picture
from forestcoll.presentation.pictures.sends.side_by_side import entries_words, story_of_shard
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.presentation.text import capitalized

_WIDEST = 560
"""The greatest width of a layout in pixels at which the names of compute nodes are shown in full."""


class NetworkPictures:
    """The pictures of the network of a study. All have the same layout.

    Args:
        study: the study.
    """

    def __init__(self, study: ComparisonDetails) -> None:
        self._found = study.found
        self._name = study.found.topology.name

    @cached_property
    def _layout(self) -> NetworkLayout:
        """The layout of all pictures: two of them have room next to each other."""
        layout = layout_of(self._found.topology)
        return layout if layout.width <= _WIDEST else layout_of(self._found.topology, is_compact=True)

    def styles(self) -> Element:
        """Return the styles of all pictures."""
        return element("style", style())

    def loads(self, row: Row) -> Element:
        """Return the picture of the loads of links under the schedule of a row."""
        title = f"The network {self._name}; the colour of a link says how busy it is under {title_of(row.name)}"
        return _embedded(load_picture(schedule_of(row), title=title, layout=self._layout))

    def path(self, row: Row) -> tuple[Element, str]:
        """Return the picture of the path of one part of the data under the schedule of a row, and a sentence about it.

        Raises:
            InputError: schedules of this kind have no such picture.
        """
        topology, schedule = self._found.topology, schedule_of(row)
        story = story_of_shard(schedule, self._found.demand.members(topology)[0])
        who = title_of(row.name)
        title = f"The sends of one part of the data under {who}, in their order on the network {self._name}"
        picture = story_picture(topology, story, title=title, layout=self._layout)
        words = entries_words(story, Structure(topology))
        return _embedded(picture), f"{capitalized(who)}: {words}"

    def cut(self) -> Element:
        """Return the picture of the bottleneck cut."""
        title = f"The network {self._name} with its bottleneck cut"
        return _embedded(
            network_picture(self._found.topology, bound=self._found.bound, title=title, layout=self._layout)
        )


def _embedded(picture: Element) -> Element:
    """Return a picture for a page with several of them: without its own styles, and without ids."""
    for child in picture.findall("style"):
        picture.remove(child)
    for each in picture.iter():
        each.attrib.pop("id", None)
    return picture
