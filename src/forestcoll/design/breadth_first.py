"""The breadth-first schedule (BFB) of a wiring, arc by arc, and its cost."""

from forestcoll.base.errors import InternalError
from forestcoll.design.measure import MAX_DEGREE, Cost
from forestcoll.design.sends import Sends, sends_of
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.solver.generation.bfb import bfb


def breadth_first_sends(wiring: Wiring) -> Sends:
    """Return the best breadth-first allgather: linear program (1), solved exactly for each node and step."""
    return sends_of(wiring, bfb(wiring.topology("a construction")))


def breadth_first_cost_of(wiring: Wiring, copies: int = 1) -> Cost:
    """Return the cost of the best breadth-first allgather on a strongly connected network.

    The cost is counted. For degrees above `MAX_DEGREE` the schedule is made and measured.

    Args:
        wiring: the network. If there are two or more copies, it has no loops.
        copies: the number of copies of each node. The cost is that of the degree expansion.
    """
    if wiring.degree <= MAX_DEGREE:
        counted = wiring.breadth_first_cost(copies)
        if counted is None:
            raise InternalError("a constructed network is not strongly connected")
        return counted
    cost = step_shape(bfb(wiring.with_copies(copies).topology("a construction")))
    return Cost(cost.steps, cost.bandwidth_factor * wiring.degree * copies / cost.egress)
