"""The text of nodes and routes in messages: one line, of limited length."""

from collections.abc import Iterable

from forestcoll.verification import wording
from forestcoll.verification.routes.context import RouteContext
from forestcoll.verification.wording import number

__all__ = ["a_member", "kind", "listed", "members", "node", "nodes", "number", "route"]


def node(context: RouteContext, place: int) -> str:
    """Return the id of node number `place`, quoted as in Python."""
    return wording.node(context.topology, place)


def nodes(context: RouteContext, places: Iterable[int], separator: str = ", ") -> str:
    """Return the ids of the nodes `places`; only the first few if there are many."""
    return wording.nodes(context.topology, places, separator)


def members(context: RouteContext) -> str:
    """Return the word for the nodes that take part."""
    return wording.members(context.ranks)


def a_member(context: RouteContext) -> str:
    """Return the word for one node that takes part, with its article."""
    return wording.a_member(context.ranks)


def kind(context: RouteContext, place: int) -> str:
    """Return the kind of node number `place`, and its id."""
    it = context.topology.nodes[place]
    abilities = [name for name, can in (("multicast", it.multicast), ("aggregate", it.aggregation)) if can]
    what = f"that can {' and '.join(abilities)}" if abilities else ""
    return f"{_sort(context, place)} {node(context, place)}{' ' * bool(what)}{what}"


def _sort(context: RouteContext, place: int) -> str:
    if not context.network.is_compute[place]:
        return "switch"
    return "compute node" if context.ranks is None else "rank" if place in context.compute else "idle node"


def listed(numbers: Iterable[int]) -> str:
    """Return `numbers` in brackets; only the first few if there are many."""
    values = [number(int(each)) for each in numbers]
    return f"({', '.join(values[: wording.MAX_LISTED] + ['...'] * (len(values) > wording.MAX_LISTED))})"


def route(context: RouteContext, place: int) -> str:
    """Return the number of a route and the ids of its nodes."""
    return f"route {place} ({nodes(context, context.routes[place], ' -> ')})"
