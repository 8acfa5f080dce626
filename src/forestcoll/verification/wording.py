"""The text of nodes and numbers in the messages of all verifiers: one line, of limited length."""

from collections.abc import Iterable
from fractions import Fraction

from forestcoll.topology import Topology

MAX_LENGTH = 120
"""The most characters of one number or name that a message shows."""

MAX_LISTED = 8
"""The most nodes that a message lists."""


def number(value: Fraction | int) -> str:
    """Return `value` as text; for a very long number, only its number of digits."""
    digits = max(abs(value.numerator), value.denominator).bit_length() * 3 // 10
    return str(value) if digits <= MAX_LENGTH else f"a ratio of numbers of about {digits} digits"


def node(topology: Topology, place: int) -> str:
    """Return the id of node number `place`, quoted as in Python, so that it has no line breaks."""
    return quoted(topology.nodes[place].id)


def quoted(name: str | int) -> str:
    """Return a name, quoted as in Python."""
    text = repr(name)
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}..."


def nodes(topology: Topology, places: Iterable[int], separator: str = ", ") -> str:
    """Return the ids of the nodes `places`; only the first few if there are many."""
    listed = list(places)
    names = [node(topology, place) for place in listed[:MAX_LISTED]]
    rest = [f"... ({len(listed)} nodes)"] if len(listed) > MAX_LISTED else []
    return separator.join(names + rest)


def members(ranks: tuple[int, ...] | None) -> str:
    """Return the word for the nodes that take part: ranks if other compute nodes are idle."""
    return "compute nodes" if ranks is None else "ranks"


def a_member(ranks: tuple[int, ...] | None) -> str:
    """Return the word for one node that takes part, with its article."""
    return "a compute node" if ranks is None else "a rank"
