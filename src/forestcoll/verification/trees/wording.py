"""The text of nodes, routes and trees in messages about trees: one line, of limited length."""

from collections.abc import Iterable

from forestcoll.verification import wording
from forestcoll.verification.trees.case import Case
from forestcoll.verification.wording import number

__all__ = ["a_member", "kind", "listed", "members", "node", "nodes", "number", "route", "tree"]


def node(case: Case, place: int) -> str:
    """Return the id of node number `place`, quoted as in Python."""
    return wording.node(case.schedule.topology, place)


def nodes(case: Case, places: Iterable[int], separator: str = ", ") -> str:
    """Return the ids of the nodes `places`; only the first few if there are many."""
    return wording.nodes(case.schedule.topology, places, separator)


def members(case: Case) -> str:
    """Return the word for the nodes that take part."""
    return wording.members(case.schedule.ranks)


def a_member(case: Case) -> str:
    """Return the word for one node that takes part, with its article."""
    return wording.a_member(case.schedule.ranks)


def kind(case: Case, place: int) -> str:
    """Return the kind of node number `place`, and its id."""
    it = case.schedule.topology.nodes[place]
    abilities = [name for name, can in (("multicast", it.multicast), ("aggregate", it.aggregation)) if can]
    what = f"that can {' and '.join(abilities)}" if abilities else ""
    return f"{_sort(case, place)} {node(case, place)}{' ' * bool(what)}{what}"


def _sort(case: Case, place: int) -> str:
    if not case.network.is_compute[place]:
        return "switch"
    return "compute node" if case.schedule.ranks is None else "rank" if place in case.compute else "idle node"


def listed(numbers: Iterable[int]) -> str:
    """Return `numbers` in brackets; only the first few if there are many."""
    values = [number(int(each)) for each in numbers]
    return f"({', '.join(values[: wording.MAX_LISTED] + ['...'] * (len(values) > wording.MAX_LISTED))})"


def route(case: Case, place: int) -> str:
    """Return the number of a route and the ids of its nodes."""
    return f"route {place} ({nodes(case, case.schedule.routes[place], ' -> ')})"


def tree(case: Case, phase: int, place: int) -> str:
    """Return the number of a tree, the id of its root, and its phase."""
    root = case.schedule.phases[phase].roots[place]
    return f"tree {place} (root {node(case, root)}) of phase {phase}"
