"""The text of nodes and routes in messages: one line, of limited length."""

from collections.abc import Iterable

from forestcoll.verification import wording
from forestcoll.verification.routes.context import RouteCase
from forestcoll.verification.wording import number

__all__ = ["a_member", "kind", "listed", "members", "node", "nodes", "number", "route"]


def node(case: RouteCase, place: int) -> str:
    """Return the id of node number `place`, quoted as in Python."""
    return wording.node(case.topology, place)


def nodes(case: RouteCase, places: Iterable[int], separator: str = ", ") -> str:
    """Return the ids of the nodes `places`; only the first few if there are many."""
    return wording.nodes(case.topology, places, separator)


def members(case: RouteCase) -> str:
    """Return the word for the nodes that take part."""
    return wording.members(case.ranks)


def a_member(case: RouteCase) -> str:
    """Return the word for one node that takes part, with its article."""
    return wording.a_member(case.ranks)


def kind(case: RouteCase, place: int) -> str:
    """Return the kind of node number `place`, and its id."""
    it = case.topology.nodes[place]
    abilities = [name for name, can in (("multicast", it.multicast), ("aggregate", it.aggregation)) if can]
    what = f"that can {' and '.join(abilities)}" if abilities else ""
    return f"{_sort(case, place)} {node(case, place)}{' ' * bool(what)}{what}"


def _sort(case: RouteCase, place: int) -> str:
    if not case.network.is_compute[place]:
        return "switch"
    return "compute node" if case.ranks is None else "rank" if place in case.compute else "idle node"


def listed(numbers: Iterable[int]) -> str:
    """Return `numbers` in brackets; only the first few if there are many."""
    values = [number(int(each)) for each in numbers]
    return f"({', '.join(values[: wording.MAX_LISTED] + ['...'] * (len(values) > wording.MAX_LISTED))})"


def route(case: RouteCase, place: int) -> str:
    """Return the number of a route and the ids of its nodes."""
    return f"route {place} ({nodes(case, case.routes[place], ' -> ')})"
