"""The text of nodes, routes and trees in messages about trees: one line, of limited length."""

from forestcoll.verification.routes.wording import a_member, kind, listed, members, node, nodes, number, route
from forestcoll.verification.trees.context import TreeContext

__all__ = ["a_member", "kind", "listed", "members", "node", "nodes", "number", "route", "tree"]


def tree(context: TreeContext, phase: int, place: int) -> str:
    """Return the number of a tree, the id of its root, and its phase."""
    root = context.schedule.phases[phase].roots[place]
    return f"tree {place} (root {node(context, root)}) of phase {phase}"
