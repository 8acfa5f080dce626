"""NVLS and NVLSTree: the switch of a box adds up and copies data, and each GPU is the head of an equal part.

A head loads the sum of its part from the switch, which adds up the data of all GPUs of the box, and stores the result
through the switch, which copies it to all. `nvls` works in one box. `nvls-tree` joins the heads with the same number in
all boxes by NCCL's double tree.

Source: NCCL 2.30, `src/transport/nvls.cc`, `src/graph/connect.cc` (`ncclTopoConnectNvlsTree`) and
`src/device/all_reduce.h`. NVLSTree is for an allreduce.

The value: with NVLS, a head's own data also passes the switch, like that of the others. So for an allreduce in a box of
8, a link of a GPU carries 9/8 of M each way instead of M. A tree has no send from a node to itself, so the schedule has
only the sends that are needed, and `algbw_with_own_data` computes the algbw with the extra load.

Where it loses: by this extra load, and between three boxes or more, because every NIC sends and receives twice the data
that it would have to.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from forestcoll.algorithms.baseline import Family, Overhead, baseline
from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge, LogicalTree, forest, joined_schedule, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.nccl_tree import Parents, binary_tree, mirrored_tree, numbers_downwards
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.schedule.trees.value import TreeSchedule


def algbw_with_own_data(problem: Problem, schedule: TreeSchedule) -> Fraction:
    """Return the algbw of NVLS or NVLSTree if each head's own data passes the switch, too."""
    own = schedule_of(problem, lambda each: forest(each, _own_passages(each)))
    both = [(each.routes, phase) for each in (schedule, own) for phase in each.phases]
    return joined_schedule(problem, both).algbw


OWN_DATA = Overhead(algbw_with_own_data, "the algbw counts that each GPU's own data passes the switch, too")


@baseline(
    "nvls",
    Family.TREES,
    UNROOTED,
    title="NVLS",
    summary="NCCL's algorithm in which the switch of the box adds up and copies",
    overhead=OWN_DATA,
)
def nvls(problem: Problem) -> TreeSchedule:
    """Return the schedule of NVLS in one box.

    Raises:
        DoesNotApplyError: there are several boxes, or no switch of the box multicasts and aggregates.
    """
    problem.require_boxes()
    if len(problem.boxes.members) > 1:
        raise DoesNotApplyError("NVLS works in one box; nvls-tree is its form for several boxes")
    return _schedule(problem, [(None,)])


@baseline(
    "nvls-tree",
    Family.TREES,
    (Collective.ALLREDUCE,),
    title="NVLSTree",
    summary="NVLS in each box, and NCCL's double tree between the boxes",
    overhead=OWN_DATA,
)
def nvls_tree(problem: Problem) -> TreeSchedule:
    """Return the schedule of NVLSTree between boxes.

    Raises:
        DoesNotApplyError: there is one box, a box has no switch that multicasts and aggregates, or the boxes differ.
    """
    problem.require_boxes()
    boxes = problem.boxes.members
    if len(boxes) == 1:
        raise DoesNotApplyError("NVLSTree works between boxes, and there is one box")
    if len({len(box) for box in boxes}) > 1:
        raise DoesNotApplyError("NVLSTree joins the GPUs with the same number in all boxes, and some boxes are larger")
    return _schedule(problem, [binary_tree(len(boxes)), mirrored_tree(len(boxes))])


def _schedule(problem: Problem, shapes: Sequence[Parents]) -> TreeSchedule:
    return schedule_of(problem, lambda each: forest(each, _trees(each, shapes)))


def _trees(problem: Problem, shapes: Sequence[Parents]) -> Iterator[LogicalTree]:
    boxes, crossings = problem.boxes.members, Crossings(problem)
    switches = [_switch(problem, box) for box in boxes]
    for number in range(len(boxes[0])):
        for parents in shapes:
            edges: list[Edge] = []
            for box in numbers_downwards(parents):
                parent, head, switch = parents[box], boxes[box][number], switches[box]
                if parent is not None:
                    edges.append(crossings.edge(boxes[parent][number], head))
                edges.append((head, switch))
                edges += ((switch, other) for other in boxes[box] if other != head)
            root = boxes[parents.index(None)][number]
            yield LogicalTree(root, Fraction(1, len(shapes) * len(boxes[0])), tuple(edges))


def _own_passages(problem: Problem) -> Iterator[LogicalTree]:
    """Yield the sends of the switch of each box to the heads of the box, each with the part of the head."""
    for box in problem.boxes.members:
        switch = _switch(problem, box)
        for head in box:
            yield LogicalTree(head, Fraction(1, len(box)), ((switch, head),))


def _switch(problem: Problem, box: Sequence[int]) -> int:
    """Return the switch that copies data to all members of a box."""
    bandwidths, boxes = problem.routes.bandwidths, problem.boxes.of
    for switch in problem.topology.able_switches:
        is_able = problem.topology.nodes[switch].multicast and boxes.get(switch) == boxes[box[0]]
        if is_able and all((node, switch) in bandwidths and (switch, node) in bandwidths for node in box):
            return switch
    raise DoesNotApplyError("NVLS needs a switch in each box that multicasts and aggregates")
