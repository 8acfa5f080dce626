"""Blink: an allreduce along the best packing of broadcast trees from one root, and the same trees reversed.

The root is the compute node with the fastest broadcast. Data is reduced to it along a packing of reduce trees, then
broadcast along a packing of broadcast trees; both go on at the same time, so their loads add up.

Source: G. Wang et al., Blink, MLSys 2020, for networks without switches. Blink+Switch is the extension to switches that
the ForestColl paper compares with (arXiv:2402.06787, section 6.2).

Where it loses: each packing is the best for itself, so both use the same links fully. A split of the capacity between
reduce and broadcast would be up to twice as fast, with one root too.
"""

from dataclasses import replace

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.forests import joined_schedule
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.collective import Collective
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.optimum import solve
from forestcoll.topology.graph.part import usable_part
from forestcoll.topology.symmetry.orbits import Orbits


@baseline(
    "blink",
    Family.TREES,
    (Collective.ALLREDUCE,),
    title="Blink",
    summary="The best packing of trees from one root, and its reverse",
)
def blink(problem: Problem) -> TreeSchedule:
    """Return the schedule of Blink.

    Raises:
        DoesNotApplyError: the network has switches.
    """
    if problem.topology.switches:
        raise DoesNotApplyError("Blink needs a network without switches; blink-switch is its extension to switches")
    return blink_switch(problem)


@baseline(
    "blink-switch",
    Family.TREES,
    (Collective.ALLREDUCE,),
    title="Blink with switches",
    summary="The best packing of trees from one root, and its reverse",
)
def blink_switch(problem: Problem) -> TreeSchedule:
    """Return the schedule of Blink with its extension to switches."""
    demand = replace(problem.demand, root=fastest_root(problem))
    packings = [
        schedule_for(solve(problem.topology, replace(demand, collective=collective)))
        for collective in (Collective.REDUCE, Collective.BROADCAST)
    ]
    return joined_schedule(problem, [(each.routes, each.phases[0]) for each in packings])


def fastest_root(problem: Problem) -> int:
    """Return the member with the fastest broadcast, the first of equal ones.

    Members that a symmetry of the network maps to each other have the same broadcast, so one of each orbit is tried.
    """
    topology = problem.topology
    part = usable_part(topology, problem.members)
    roots = Orbits.of(part).first_compute(part)
    if len(roots) == 1:
        return roots[0]
    algbws = [
        solve(topology, replace(problem.demand, collective=Collective.BROADCAST, root=root)).algbw for root in roots
    ]
    return roots[algbws.index(max(algbws))]
