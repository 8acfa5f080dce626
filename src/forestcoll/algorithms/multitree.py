"""MultiTree: greedy trees from all roots at the same time, one time step after another.

A link has as many copies as its bandwidth is a multiple of that of the slowest link. In each time step, all copies are
free again, and trees take turns: at its turn, a tree adds one node, over links that have a copy left. All trees carry
equal parts.

Source: J. Huang et al., Communication Algorithm-Architecture Co-Design for Distributed Deep Learning, ISCA 2021, and
its code `multitree_allreduce.py`. The choice of the edge is not fixed by the paper, so there are four rules:

- `multitree-source`, as in the code: the first parent, in the order of joining, among the nodes that were in the tree
  when the step began.
- `multitree`: the path with the most copies left on its links, also from nodes that joined in this step.
- `multitree-remaining`: the same, and of equal paths that with the fewest hops.
- `multitree-bandwidth`: the path of the greatest bandwidth, then that with the fewest hops, also from nodes that joined
  in this step.

In the last three, ties are broken by the order in which parents joined, then by the first child after the root in
cyclic order.

Where it loses: the choice is greedy. A tree may enter a box several times, and nothing keeps slow links free for the
trees that will need them.
"""

from collections.abc import Callable, Iterator
from itertools import islice

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.forests import LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.collective import UNROOTED
from forestcoll.kernels import TurnRule, core_for
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import TreeSchedule

MOST_NODES = 1024
"""The most compute nodes: the time of the search grows with their third power."""

MOST_BY_DEFAULT = 256
"""The most compute nodes in a comparison in which it is not named."""


def multitree(rule: TurnRule) -> Callable[[Problem], TreeSchedule]:
    """Return the function that makes the schedule of MultiTree with a rule.

    The function raises `DoesNotApplyError` if some compute nodes cannot reach all others, or if there are too many.
    """
    return lambda problem: _schedule(problem, rule)


def _schedule(problem: Problem, rule: TurnRule) -> TreeSchedule:
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"the search takes too long for more than {MOST_NODES} compute nodes")
    return schedule_of(problem, lambda each: forest(each, _trees(each, rule)))


def _trees(problem: Problem, rule: TurnRule) -> Iterator[LogicalTree]:
    """Grow a tree from each member until all trees reach all members."""
    members, topology = problem.members, problem.topology
    reached = set(members)
    is_compute = [node.is_compute for node in topology.nodes]
    order = sorted(set(topology.bandwidths.values()))
    usable = sorted(each for each in topology.bandwidths if each[1] in reached or not is_compute[each[1]])
    widths = [order.index(topology.bandwidths[ends]) for ends in usable]
    copies = [int(topology.bandwidths[ends] // order[0]) for ends in usable]
    tails, heads = [tail for tail, _ in usable], [head for _, head in usable]
    core = core_for((max([*widths, *copies], default=0) + 2) * len(topology.nodes))
    paths = core.take_turns(len(topology.nodes), tails, heads, widths, copies, list(members), rule)
    if paths is None:
        raise DoesNotApplyError("some compute nodes cannot send to all others through switches and members")
    routes = map(tuple, Rows(*paths))
    for root in members:
        yield LogicalTree(root, problem.share, tuple(islice(routes, len(members) - 1)))


_DESCRIPTIONS = {
    TurnRule.WIDEST: ("multitree", "MultiTree", "Greedy trees; the path with the most bandwidth left first"),
    TurnRule.REMAINING: (
        "multitree-remaining",
        "MultiTree (remaining)",
        "Greedy trees; the path with the most bandwidth left first, then that with the fewest hops",
    ),
    TurnRule.BANDWIDTH: (
        "multitree-bandwidth",
        "MultiTree (bandwidth)",
        "Greedy trees; the path of the greatest bandwidth first, then that with the fewest hops",
    ),
    TurnRule.SOURCE: ("multitree-source", "MultiTree (source)", "Greedy trees, by the rule of the published code"),
}
for _rule, (_name, _title, _summary) in _DESCRIPTIONS.items():
    baseline(_name, Family.TREES, UNROOTED, title=_title, summary=_summary, most_by_default=MOST_BY_DEFAULT)(
        multitree(_rule)
    )
