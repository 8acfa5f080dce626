"""The breadth-first schedule (BFB) of a wiring, by arc, and what it costs."""

from forestcoll.design.measure import MAX_DEGREE, Cost
from forestcoll.design.sends import Sends, sends_of
from forestcoll.design.wiring import Wiring
from forestcoll.errors import InternalError
from forestcoll.generation.bfb import bfb
from forestcoll.schedule.steps.shape import step_shape


def breadth_first_sends(wiring: Wiring) -> Sends:
    """Return the best breadth-first allgather: the linear program (1), solved exactly node by node and step by step."""
    return sends_of(wiring, bfb(wiring.topology("a construction")))


def breadth_first_cost_of(wiring: Wiring) -> Cost:
    """Return what that allgather costs: counted, or for degrees beyond `MAX_DEGREE` by making it.

    The network hangs together.
    """
    if wiring.degree <= MAX_DEGREE:
        counted = wiring.breadth_first_cost()
        if counted is None:
            raise InternalError("a network that was constructed falls apart")
        return counted
    cost = step_shape(bfb(wiring.topology("a construction")))
    return Cost(cost.steps, cost.bandwidth_factor * wiring.degree / cost.egress)
