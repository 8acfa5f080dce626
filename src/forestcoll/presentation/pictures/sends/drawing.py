"""Sends as arrows over a network, with the number of each send at the node that it reaches."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from forestcoll.presentation.pictures.colours import load_class, text_class
from forestcoll.presentation.pictures.layout import Mark, NetworkLayout
from forestcoll.presentation.pictures.layout.labels import text_width
from forestcoll.presentation.pictures.network.paths import head, middle_of, path_of
from forestcoll.presentation.pictures.sends.value import Story
from forestcoll.presentation.pictures.svg import Element, element

_SHIFT = 3.4
_WIDTH = 3.0


@dataclass(frozen=True)
class Crossing:
    """The sends of a story from one mark to another.

    Attributes:
        source: the number of the first mark.
        target: the number of the second mark.
        orders: the number of each send, in ascending order.
    """

    source: int
    target: int
    orders: tuple[int, ...]


def crossings_of(story: Story, layout: NetworkLayout) -> list[Crossing]:
    """Return what crosses each pair of marks, in the order of the first send."""
    found: dict[tuple[int, int], list[int]] = {}
    for send in story.sends:
        for ends in pairwise(layout.of_node[node] for node in send.path):
            if ends[0] != ends[1] and layout.undrawn.isdisjoint(ends):
                found.setdefault(ends, []).append(send.order)
    made = [Crossing(*ends, tuple(sorted(orders))) for ends, orders in found.items()]
    return sorted(made, key=lambda each: (each.orders[0], each.source, each.target))


def arrows(story: Story, layout: NetworkLayout) -> Element:
    """Return arrows for all sends."""
    lines = (part for each in crossings_of(story, layout) for part in arrow(each, layout, story.last))
    return element("g", *lines, class_="sends")


def badges(story: Story, layout: NetworkLayout) -> Element:
    """Return the numbers of the sends that reach the nodes."""
    made = (badge(layout.marks[mark], order, story.last) for mark, order in reached_marks(story, layout).items())
    return element("g", *made, class_="badges")


def order_place(order: int, last: int) -> float:
    """Return the place of a send on the scale of colours: early sends are dark, late ones light."""
    return 1.0 - 0.85 * (order - 1) / max(last - 1, 1)


def reached_marks(story: Story, layout: NetworkLayout) -> Mapping[int, int]:
    """Return the marks of single compute nodes, with the first send that reaches each."""
    marks = {layout.of_node[node]: order for node, order in story.reached.items()}
    return {mark: order for mark, order in sorted(marks.items()) if not layout.marks[mark].is_stack}


def arrow(crossing: Crossing, layout: NetworkLayout, last: int, *, counted: bool = False) -> list[Element]:
    """Return the arrow of a crossing, with a title.

    Args:
        crossing: the sends from one mark to another.
        layout: the places of the marks.
        last: the number of the last send of the story.
        counted: whether a single send has a hidden label with the number of sends, too, for a script.
    """
    first = crossing.orders[0]
    path = path_of(layout, crossing.source, crossing.target, _SHIFT)
    colour = load_class(order_place(first, last))
    count = len(crossing.orders)
    times = "" if count == 1 else f", {count} times"
    one, other = layout.marks[crossing.source], layout.marks[crossing.target]
    title = element("title", f"{one.name} → {other.name}: {_sends(crossing.orders)}{times}")
    width = _WIDTH + min(count - 1, 3) * 0.8
    ends = (crossing.source, crossing.target)
    shown = [
        element("path", d=path, class_="casing", stroke_width=width + 1.6),
        element("path", title, d=path, class_=f"{colour} load", data_scale="load", stroke_width=width),
        head(layout, ends, _SHIFT, kind=f"{colour} head", scale="head"),
    ]
    if count > 1 or counted:
        shown.append(_label(layout, crossing, f"{count}x", is_shown=count > 1))
    return shown


def _sends(orders: tuple[int, ...]) -> str:
    distinct = sorted(set(orders))
    listed = ", ".join(map(str, distinct[:6])) + (", …" if len(distinct) > 6 else "")
    return f"send {listed}" if len(distinct) == 1 else f"sends {listed}"


def _label(layout: NetworkLayout, crossing: Crossing, words: str, *, is_shown: bool) -> Element:
    """Return the number of sends beside a line."""
    wide = text_width(words, 10) + 4
    x, y = middle_of(layout, crossing.source, crossing.target, _SHIFT, 0.5)
    x += wide / 2 + 5
    return element(
        "g",
        element("rect", x=x - wide / 2, y=y - 7, width=wide, height=13, rx=3, class_="paper"),
        element("text", words, x=x, y=y + 3.4, font_size=10, text_anchor="middle"),
        data_count="",
        display=None if is_shown else "none",
    )


def badge(mark: Mark, order: int, last: int) -> Element:
    """Return the number of the send that reaches a node, at the corner of its mark; a star marks the origin."""
    x, y = mark.x + mark.width / 2 - 3, mark.y - mark.height / 2
    place = order_place(order, last) if order else 1.0
    words = str(order) if order else "★"
    return element(
        "g",
        element("circle", cx=x, cy=y, r=7.5, class_=f"{load_class(place)} head", data_scale="head", stroke_width=0.8),
        element(
            "text", words, x=x, y=y + 3.2, font_size=9, text_anchor="middle", class_=text_class(place), data_words=""
        ),
    )
