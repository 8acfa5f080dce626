"""The breadth-first schedule (BFB) of a wiring, by arc."""

from forestcoll.design.sends import Sends, sends_of
from forestcoll.design.wiring import Wiring
from forestcoll.generation.bfb import bfb


def breadth_first_sends(wiring: Wiring) -> Sends:
    """Return the best breadth-first allgather: the linear program (1), solved exactly node by node and step by step."""
    return sends_of(wiring, bfb(wiring.topology("a construction")))
