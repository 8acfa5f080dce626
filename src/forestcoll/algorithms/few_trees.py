"""The trees for time slots: few, because each message of a slot costs time."""

from contextlib import suppress
from fractions import Fraction

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.demand import Demand
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology

FEW_SHARE = Fraction(9, 10)
"""The share of the optimum that fewer trees must reach, to have fewer messages a slot."""


def few_trees(topology: Topology, demand: Demand) -> Schedule:
    """Return the schedule with 1, 2 or 4 trees per root that reaches 9/10 of the optimum, or else the optimal one.

    Few trees have few messages a slot, of which each costs time.
    """
    least = FEW_SHARE * optimum(topology, demand).algbw
    for count in (1, 2, 4):
        with suppress(NoSolutionError):
            few: Schedule = generate(topology, demand, Trees(k=count))
            if few.algbw is not None and few.algbw >= least:
                return few
    best: Schedule = generate(topology, demand)
    return best
