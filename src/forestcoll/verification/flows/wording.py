"""The text of flows in messages: one line, of limited length."""

from forestcoll.verification.flows.context import Case
from forestcoll.verification.routes.wording import a_member, members, node, number, route

__all__ = ["a_member", "flow", "members", "node", "number", "pair", "route"]


def pair(case: Case, source: int, target: int) -> str:
    """Return the ids of two nodes with an arrow."""
    return f"{node(case, source)} -> {node(case, target)}"


def flow(case: Case, place: int) -> str:
    """Return the number of a flow and the ids of its ends."""
    return f"flow {place} ({pair(case, int(case.flows.sources[place]), int(case.flows.targets[place]))})"
