"""One root with the best split: an allreduce along trees of one root, with the bandwidth of each link divided best.

A linear program divides the bandwidth of each link between the reduce to the root and the broadcast from it. This is
Blink without the loss of its two separate packings.

Source: the allreduce program of ForestColl (arXiv:2402.06787, section 5.7), with one node that may be a root.

Where it loses: in bandwidth, nowhere on common machines: the row shows that one root is enough for large data. All data
passes the root, so it must reach and leave one node, and the trees are higher than those from all nodes.
"""

from dataclasses import replace
from itertools import repeat

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.blink import fastest_root
from forestcoll.algorithms.forests import joined_schedule
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.progress import SILENT
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.tree_dual import Roles
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.allreduce.search import Split
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.topology import Symmetry
from forestcoll.topology.graph.part import usable_part
from forestcoll.topology.symmetry.orbits import Orbits

MOST_LINKS = 256
"""The most links: without symmetry, the linear program has two columns for each."""


@baseline(
    "single-root",
    Family.TREES,
    (Collective.ALLREDUCE,),
    title="one root",
    summary="One root, with each link divided best between reduce and broadcast",
    by_size=False,
)
def single_root(problem: Problem) -> TreeSchedule:
    """Return the best schedule of an allreduce along trees of one root.

    Raises:
        DoesNotApplyError: the linear program would be too large, or it was not solved exactly.
    """
    part = usable_part(problem.topology, problem.members)
    if len(part.links) > MOST_LINKS:
        raise DoesNotApplyError(f"the linear program would be too large for more than {MOST_LINKS} links")
    roles = replace(Roles.of(part), roots=frozenset({fastest_root(problem)}))
    found = allreduce_optimum(part, roles, orbits=Orbits.of(part, Symmetry(())))
    if found.plan is None:
        raise DoesNotApplyError("the linear program was not solved exactly")
    algbw, forests = Split(part, found.plan, roles, SILENT).forests()
    bound = Bound(problem.collective, found.upper, found.proof)
    packed = schedule_for(TreeOptimum(problem.topology, algbw, bound, problem.demand, (), forests))
    return joined_schedule(problem, list(zip(repeat(packed.routes), packed.phases)))
