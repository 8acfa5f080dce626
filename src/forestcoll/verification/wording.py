"""How messages of all judges name nodes and numbers: on one line, and never too long to read."""

from collections.abc import Iterable
from fractions import Fraction

from forestcoll.topology import Topology

MAX_LENGTH = 120
"""The most characters of one number or name that a message shows."""

MAX_LISTED = 8
"""The most nodes that a message lists."""


def number(value: Fraction | int) -> str:
    """Return `value` as text; a number of thousands of digits only by its size."""
    digits = max(abs(value.numerator), value.denominator).bit_length() * 3 // 10
    return str(value) if digits <= MAX_LENGTH else f"a ratio of numbers of about {digits} digits"


def node(topology: Topology, place: int) -> str:
    """Return the id of node number `place`, quoted as Python does: no line break survives."""
    text = repr(topology.nodes[place].id)
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}..."


def nodes(topology: Topology, places: Iterable[int], separator: str = ", ") -> str:
    """Return the ids of the nodes `places`, the first few if they are many."""
    listed = list(places)
    names = [node(topology, place) for place in listed[:MAX_LISTED]]
    rest = [f"... ({len(listed)} nodes)"] if len(listed) > MAX_LISTED else []
    return separator.join(names + rest)


def members(ranks: tuple[int, ...] | None) -> str:
    """Return what those that take part are called: ranks, where others are idle."""
    return "compute nodes" if ranks is None else "ranks"


def a_member(ranks: tuple[int, ...] | None) -> str:
    """Return what one of them is called."""
    return "a compute node" if ranks is None else "a rank"
