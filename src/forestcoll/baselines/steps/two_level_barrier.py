"""The two-level schedule with a barrier between its levels.

At the first step, each GPU sends its shard over its rail to the GPU with the same place in every other box. At the
second step, it sends what it then has, one shard of each box, to all other GPUs of its box, over routes inside the box.
A reduce-scatter has the reversed steps, and an allreduce has both: four steps.

Source: `hierarchical_allreduce.py` of msccl-tools ("Blue Connect style") and the hierarchical collectives of many
libraries. `two-level` is the same without barriers.

Where it loses: the NICs are idle at the second step, and the links inside a box at the first. With boxes of different
sizes, or if a GPU has no NIC, the first step waits for the GPU with the most data.
"""

from collections.abc import Iterator, Mapping, Sequence

from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.baselines.crossings import Crossings
from forestcoll.baselines.routes import Path, Routes
from forestcoll.baselines.spreading import Spreading
from forestcoll.baselines.steps.sends import Send, step_schedule
from forestcoll.schedule.steps.value import StepSchedule


def two_level_barrier(problem: Problem) -> StepSchedule:
    """Return the two-level schedule with barriers.

    Raises:
        DoesNotApplyError: compute nodes have no boxes; there is one box, and direct sends are not the best way to
            spread data in it; or data cannot spread inside a box.
    """
    problem.require_boxes()
    boxes = problem.boxes.members
    if len(boxes) == 1 and not Spreading(problem).is_direct(boxes[0]):
        raise DoesNotApplyError("there is one box, and direct sends are not the best way to spread data in it")
    return step_schedule(problem, lambda each: filter(None, _steps(each)))


def _steps(problem: Problem) -> Iterator[list[Send]]:
    """Yield the sends between boxes, none if there is one box, and the sends inside the boxes."""
    rank_of = {member: rank for rank, member in enumerate(problem.members)}
    boxes = [[rank_of[member] for member in box] for box in problem.boxes.members]
    crossings, received = Crossings(problem), {rank: [rank] for box in boxes for rank in box}
    rails = []
    for box in boxes:
        for other in (each for each in boxes if each is not box):
            for place, rank in enumerate(box):
                peer = other[place % len(other)]
                rails.append(Send(rank, peer, [rank], _path(problem, crossings, rank, peer)))
                received[peer].append(rank)
    yield rails
    yield [send for box in boxes for send in _inside(problem, box, received)]


def _inside(problem: Problem, box: Sequence[int], received: Mapping[int, Sequence[int]]) -> Iterator[Send]:
    """Yield the sends of the second step in a box."""
    members = problem.members
    routes = Routes(problem.topology, problem.boxes.inside(members[box[0]]))
    for one in box:
        for other in box:
            if one != other:
                try:
                    path = routes.find_any(members[one], members[other])
                except KeyError:
                    raise DoesNotApplyError("the nodes of a box cannot exchange data inside it") from None
                yield Send(one, other, received[one], path)


def _path(problem: Problem, crossings: Crossings, source: int, target: int) -> Path | None:
    """Return the route over the NICs of both ranks; None for the usual route."""
    edge = crossings.edge(problem.members[source], problem.members[target])
    return edge if len(edge) > 2 else None
