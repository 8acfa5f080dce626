"""The picture of a story: the network in the background, and the sends in their order."""

from forestcoll.presentation.pictures.layout import NetworkLayout, layout_of
from forestcoll.presentation.pictures.network.drawing import NetworkDrawing
from forestcoll.presentation.pictures.network.legend import Legend
from forestcoll.presentation.pictures.network.picture import finished
from forestcoll.presentation.pictures.sends.drawing import arrows, badges, order_place
from forestcoll.presentation.pictures.sends.value import Story
from forestcoll.presentation.pictures.svg import Element
from forestcoll.topology import Topology

READING = "★ starts with the data that it sends; a number is the first send to a node; 2x: two sends cross the link."
"""How to read the numbers of a picture of sends."""


def story_picture(topology: Topology, story: Story, *, title: str = "", layout: NetworkLayout | None = None) -> Element:
    """Return the picture of the sends of a story.

    Args:
        topology: the network.
        story: the sends, such as those of one tree.
        title: what the picture shows; the name of the story if empty.
        layout: the places of the nodes; by the structure of the network if None.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.presentation.pictures.sends.stories import stories_of
        >>> schedule = generate("ring:nodes=4")
        >>> story_picture(schedule.topology, next(stories_of(schedule))).get("aria-label")
        'tree 1 of 8, root 0, 1/8 of the data'
    """
    network = NetworkDrawing(topology, layout or layout_of(topology), is_quiet=True)
    return finished(
        network,
        title or story.name,
        _legend(network, story),
        [arrows(story, network.layout)],
        [badges(story, network.layout)],
    )


def _legend(network: NetworkDrawing, story: Story) -> Legend:
    legend = Legend(network.layout.width, network.layout.height)
    legend.words(story.name)
    legend.new_row()
    legend.words(READING)
    legend.new_row()
    for order in sorted({1, story.last} if story.last else ()):
        legend.swatch(f"send {order}", order_place(order, story.last))
    return legend
