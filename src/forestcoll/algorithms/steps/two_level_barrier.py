"""The two-level schedule with a barrier between its levels.

At the first step, each GPU sends its shard over its rail to the GPU with the same place in every other box. The shard
of a GPU without a NIC is divided, and its parts pass through the other GPUs of the box to their NICs. At the second
step, each GPU sends what it then has, usually one shard of each box, to all other GPUs of its box, over routes inside
the box. A reduce-scatter has the reversed steps, and an allreduce has both: four steps.

Source: `hierarchical_allreduce.py` of msccl-tools ("Blue Connect style") and the hierarchical collectives of many
libraries. `two-level` is the same without barriers.

Where it loses: the NICs are idle at the second step, and most links inside a box at the first. With NICs or boxes of
different sizes, the first step waits for the NIC that is busy for the longest time.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, permutations
from typing import TypeAlias

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.forests import Edge
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.spreading import Spreading
from forestcoll.algorithms.steps.sends import ShardSend, step_schedule
from forestcoll.algorithms.striping import Plans
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology.graph.routes import Path, Routes

_Part: TypeAlias = tuple[Fraction, Fraction]
"""The begin and the end of a part of a shard."""

_Held: TypeAlias = dict[_Part, list[int]]
"""The ranks of whose shards a member has a part, by the part."""

_WHOLE = Fraction(0), Fraction(1)


@baseline(
    "two-level-barrier",
    Family.STEPS,
    UNROOTED,
    title="the two-level algorithm with a barrier",
    summary="First the exchange between boxes, then the exchange inside",
)
def two_level_barrier(problem: Problem) -> StepSchedule:
    """Return the two-level schedule with barriers.

    Raises:
        DoesNotApplyError: compute nodes have no boxes; there is one box, and direct sends are not the best way to
            spread data in it; a box has no link to others; or data cannot spread inside a box.
    """
    problem.require_boxes()
    boxes = problem.boxes.members
    if len(boxes) == 1 and not Spreading(problem).is_direct(boxes[0]):
        raise DoesNotApplyError("there is one box, and direct sends are not the best way to spread data in it")
    return step_schedule(problem, lambda each: filter(None, _steps(each)))


def _steps(problem: Problem) -> Iterator[list[ShardSend]]:
    """Yield the sends between boxes, none if there is one box, and the sends inside the boxes."""
    rank_of = {member: rank for rank, member in enumerate(problem.members)}
    held: dict[int, _Held] = {member: {_WHOLE: [rank_of[member]]} for member in problem.members}
    insides = [_Inside(problem, box) for box in problem.boxes.members]
    rails = []
    for root, path, part in _crossings(problem, insides):
        rails.append(ShardSend(rank_of[root], rank_of[path[-1]], [rank_of[root]], path, part))
        held[path[-1]].setdefault(part, []).append(rank_of[root])
    yield rails
    yield [
        ShardSend(rank_of[one], rank_of[other], shards, inside.path(one, other), part)
        for inside in insides
        for one, other in permutations(inside.box, 2)
        for part, shards in held[one].items()
    ]


def _crossings(problem: Problem, insides: "Sequence[_Inside]") -> Iterator[tuple[int, Path, _Part]]:
    """Yield the owner, the route and the part of each send between boxes."""
    plans = Plans(problem)
    for inside, other in permutations(insides, 2):
        for root, crossings in plans.of(inside.box, other.box).items():
            ends = accumulate((part for part, _ in crossings), initial=Fraction(0))
            for (_, edge), part in zip(crossings, pairwise(ends), strict=True):
                yield root, _through(inside, problem.routes, root, edge), part


class _Inside:
    """The routes inside a box."""

    def __init__(self, problem: Problem, box: Sequence[int]) -> None:
        self.box = box
        self._routes = Routes(problem.topology, problem.boxes.inside(box[0]))

    def path(self, source: int, target: int) -> Path:
        """Return the route from a member to another. Raises `DoesNotApplyError` if there is none inside the box."""
        try:
            return self._routes.find_any(source, target)
        except KeyError:
            raise DoesNotApplyError("the nodes of a box cannot exchange data inside it") from None


def _through(inside: _Inside, routes: Routes, root: int, edge: Edge) -> Path:
    """Return the route of `root` to the member that sends its data out of the box, and along `edge`, without loops."""
    crossing = edge if len(edge) > 2 else routes.find_any(edge[0], edge[-1])
    if root == edge[0]:
        return crossing
    path: list[int] = []
    for node in (*inside.path(root, edge[0]), *crossing[1:]):
        if node in path:
            del path[path.index(node) :]
        path.append(node)
    return tuple(path)
