"""How messages name nodes, routes, trees and numbers: on one line, and never too long to read."""

from collections.abc import Iterable
from fractions import Fraction

from forestcoll.verification.trees.case import Case

MAX_LENGTH = 120
"""The most characters of one number or name that a message shows."""

MAX_LISTED = 8
"""The most nodes that a message lists."""


def number(value: Fraction | int) -> str:
    """Return `value` as text; a number of thousands of digits only by its size."""
    digits = max(abs(value.numerator), value.denominator).bit_length() * 3 // 10
    return str(value) if digits <= MAX_LENGTH else f"a ratio of numbers of about {digits} digits"


def node(case: Case, place: int) -> str:
    """Return the id of node number `place`, quoted as Python does: no line break survives."""
    text = repr(case.schedule.topology.nodes[place].id)
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}..."


def nodes(case: Case, places: Iterable[int], separator: str = ", ") -> str:
    """Return the ids of the nodes `places`, the first few if they are many."""
    listed = list(places)
    names = [node(case, place) for place in listed[:MAX_LISTED]]
    rest = [f"... ({len(listed)} nodes)"] if len(listed) > MAX_LISTED else []
    return separator.join(names + rest)


def kind(case: Case, place: int) -> str:
    """Return what kind of node number `place` is, and its id."""
    it = case.schedule.topology.nodes[place]
    abilities = [name for name, can in (("multicast", it.multicast), ("aggregate", it.aggregation)) if can]
    what = f"that can {' and '.join(abilities)}" if abilities else ""
    return f"{_sort(case, place)} {node(case, place)}{' ' * bool(what)}{what}"


def _sort(case: Case, place: int) -> str:
    if not case.network.is_compute[place]:
        return "switch"
    return "compute node" if case.schedule.ranks is None else "rank" if place in case.compute else "idle node"


def members(case: Case) -> str:
    """Return what those that take part are called: ranks, where others are idle."""
    return "compute nodes" if case.schedule.ranks is None else "ranks"


def a_member(case: Case) -> str:
    """Return what one of them is called."""
    return "a compute node" if case.schedule.ranks is None else "a rank"


def listed(numbers: Iterable[int]) -> str:
    """Return `numbers` in brackets, the first few if they are many."""
    values = [number(int(each)) for each in numbers]
    return f"({', '.join(values[:MAX_LISTED] + ['...'] * (len(values) > MAX_LISTED))})"


def route(case: Case, place: int) -> str:
    """Return the number of a route and the ids of its nodes."""
    return f"route {place} ({nodes(case, case.schedule.routes[place], ' -> ')})"


def tree(case: Case, phase: int, place: int) -> str:
    """Return the number of a tree, the id of its root, and its phase."""
    root = case.schedule.phases[phase].roots[place]
    return f"tree {place} (root {node(case, root)}) of phase {phase}"
