"""The optimum, rings and two levels on the same kind of boxes, for other numbers of boxes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.algorithms.baseline import Baseline, baselines_named
from forestcoll.algorithms.method import DoesNotApplyError, Problem, method_of
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.comparison.value import Comparison
from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology, recipe_of
from forestcoll.verification import certified, verify

COUNTS = (1, 2, 4, 8, 16)
"""The numbers of boxes, in addition to that of the comparison."""

NAMES = ("nccl-ring", "rccl-ring", "two-level")
"""The algorithms that are compared, where the comparison has them."""

MOST_NODES = 256
"""The most compute nodes of a network that is compared, so that this takes a few seconds."""


@dataclass(frozen=True)
class BoxCount:
    """The algbw on a number of boxes.

    Attributes:
        boxes: the number of boxes.
        compute_nodes: the number of compute nodes.
        optimal_algbw: the bound.
        algbw: the algbw of each algorithm that applies, by its name.
    """

    boxes: int
    compute_nodes: int
    optimal_algbw: Fraction
    algbw: Mapping[str, Fraction]


def by_boxes(found: Comparison, progress: Progress = SILENT) -> tuple[BoxCount, ...]:
    """Compare the optimum, rings and two levels for several numbers of boxes.

    Args:
        found: a comparison on a network of a builder with the parameter `boxes`.
        progress: receives the stages of the work.

    Returns:
        One value for each number of boxes, in ascending order. Empty if the network is not that of a builder with this
        parameter, or if only some compute nodes take part.

    Example:
        >>> from forestcoll import compare
        >>> found = compare("dgx-h100:boxes=2", baselines=["nccl-ring"], sizes=())
        >>> [(each.boxes, f"{float(each.algbw['nccl-ring'] / each.optimal_algbw):.3f}") for each in by_boxes(found)]
        [(1, '1.000'), (2, '0.800'), (4, '0.800'), (8, '0.889'), (16, '0.945')]
    """
    own = _boxes_of(found.topology)
    if own is None or found.demand.ranks is not None:
        return ()
    applied = {row.name for row in found.rows}
    baselines = baselines_named([name for name in NAMES if name in applied])
    return tuple(_counts(found, sorted({*COUNTS, own}), baselines, progress))


def _boxes_of(topology: Topology) -> int | None:
    """Return the number of boxes of a network that a builder made; None for other networks."""
    try:
        boxes = getattr(recipe_of(topology.name)[1], "boxes", None)
        return boxes if isinstance(boxes, int) and build_topology(topology.name) == topology else None
    except InputError:
        return None


def _counts(
    found: Comparison, counts: Sequence[int], baselines: Sequence[Baseline], progress: Progress
) -> Iterator[BoxCount]:
    for boxes in counts:
        spec = with_boxes(found.topology.name, boxes)
        try:
            nodes = recipe_of(spec)[1].size().compute
            if nodes > MOST_NODES:
                return
            progress.begin(f"comparing {boxes} box{'es' * (boxes > 1)}")
            problem = Problem(build_topology(spec), NodeDemand(found.demand.collective), progress=progress)
            best = method_of(None, problem.collective, {}).optimum(problem)
        except (InputError, NoSolutionError):
            continue  # the builder or the collective does not allow this number of boxes
        algbw = _algbw(problem, baselines)
        yield BoxCount(boxes, nodes, best.bound.algbw, algbw)


def _algbw(problem: Problem, baselines: Sequence[Baseline]) -> dict[str, Fraction]:
    found = {}
    for baseline in baselines:
        try:
            made = baseline.result(problem)
        except DoesNotApplyError:
            continue
        found[baseline.name] = made.algbw or certified(verify(made.schedule)).algbw or Fraction(0)
    return found


def with_boxes(spec: str, boxes: int) -> str:
    """Return the spec of a builder with another number of boxes.

    Example:
        >>> with_boxes("mi250:boxes=2,gpus=8", 16)
        'mi250:boxes=16,gpus=8'
    """
    name, _, rest = spec.partition(":")
    others = [part for part in rest.split(",") if part and not part.startswith("boxes=")]
    return f"{name}:{','.join([f'boxes={boxes}', *others])}"
