"""Rules about the form of schedules with routes: flat rows and ranks."""

from itertools import pairwise

from forestcoll.schedule.rows import Rows
from forestcoll.verification.routes import wording
from forestcoll.verification.routes.context import RouteContext


def fits(rows: Rows) -> bool:
    """Return whether the starts of flat rows ascend from 0 to the number of entries."""
    starts = rows.starts
    return bool(
        len(starts) and starts[0] == 0 and starts[-1] == len(rows.entries) and (starts[1:] >= starts[:-1]).all()
    )


def ranks_wrong(context: RouteContext) -> str | None:
    """Find ranks that are not compute nodes, not in ascending order, or fewer than two."""
    ranks = context.ranks
    if ranks is None:
        return None
    for node in ranks:
        if not 0 <= node < context.network.size:
            return f"ranks: there is no node number {node}; expected 0 to {context.network.size - 1}"
        if not context.network.is_compute[node]:
            return f"ranks: {wording.node(context, node)} is a switch; expected compute nodes"
    if len(ranks) < 2 or any(one >= other for one, other in pairwise(ranks)):
        return f"ranks are {wording.listed(ranks)}; expected two or more numbers of nodes in ascending order"
    return None
