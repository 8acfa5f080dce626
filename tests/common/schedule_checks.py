"""Make schedules of trees with every method, and check all that they claim."""

from collections import Counter
from fractions import Fraction
from typing import Any

from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import Demand
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.forest import grown_schedule
from forestcoll.solver.generation.growing import TreeSearch
from forestcoll.topology import Topology
from forestcoll.verification import verify


def every_third_idle(topology: Topology) -> list[int]:
    """Return ranks without every third one."""
    return [rank for rank in range(len(topology.compute)) if rank % 3 != 1]


def demand_over(topology: Topology, collective: Collective, ranks: Any) -> Demand:
    """Return a collective over some ranks; the last one is the root."""
    root = topology.nodes[topology.compute[ranks[-1]]].id if collective.has_root else None
    return Demand(collective, ranks, root)


def check_forests(best: TreeOptimum) -> TreeSchedule:
    """Check the schedules of all methods that reach `best`, and return that of the default method."""
    made: dict[TreeSearch, TreeSchedule] = {}
    for search in TreeSearch:
        try:
            made[search] = grown_schedule(best, search=search)
        except NoSolutionError:
            assert search is TreeSearch.FAST
        else:
            check_forest(best, made[search], is_default=search is TreeSearch.AUTO)
    return made[TreeSearch.AUTO]


def check_forest(best: TreeOptimum, schedule: TreeSchedule, *, is_default: bool) -> None:
    """Check a schedule: only the default method always reaches the optimum of an allreduce."""
    report = verify(schedule)
    assert report.fault is None
    assert report.algbw == schedule.algbw
    assert schedule.algbw <= best.bound.algbw
    if is_default or best.collective is not Collective.ALLREDUCE:
        assert schedule.algbw == best.algbw
    assert schedule.bound == best.bound
    assert report.optimal == (schedule.algbw == best.bound.algbw)
    assert schedule.ranks == best.ranks
    if best.packing is not None:
        return  # packed trees may have their roots on relays, and any weights
    assert schedule.trees_per_root == best.trees_per_root
    assert {root for phase in schedule.phases for root in phase.roots} <= set(best.members)
    for phase, plan in zip(schedule.phases, best.forests, strict=True):
        assert phase.op is (PhaseOp.REDUCE if plan.reduces else PhaseOp.BROADCAST)
        check_roots(phase, plan)


def check_roots(phase: Phase, plan: ForestPlan) -> None:
    """Check that each root has its number of trees."""
    unit = Fraction(1, sum(plan.weights) * plan.trees_per_root)
    trees: Counter[int] = Counter()
    for tree in phase:
        assert (tree.share / unit).denominator == 1
        trees[tree.root] += int(tree.share / unit)
    expected = zip(plan.topology.compute, plan.weights, strict=True)
    assert trees == Counter({node: plan.trees_per_root * weight for node, weight in expected})
