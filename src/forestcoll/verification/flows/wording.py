"""The text of flows in messages: one line, of limited length."""

from forestcoll.verification.flows.context import FlowContext
from forestcoll.verification.routes.wording import a_member, members, node, number, route

__all__ = ["a_member", "flow", "members", "node", "number", "pair", "route"]


def pair(context: FlowContext, source: int, target: int) -> str:
    """Return the ids of two nodes with an arrow."""
    return f"{node(context, source)} -> {node(context, target)}"


def flow(context: FlowContext, place: int) -> str:
    """Return the number of a flow and the ids of its ends."""
    return f"flow {place} ({pair(context, int(context.flows.sources[place]), int(context.flows.targets[place]))})"
