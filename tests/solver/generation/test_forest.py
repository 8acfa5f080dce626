"""What `generate` adds to the cores: methods, errors, stages, and a table of distinct routes."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.demand import Demand
from forestcoll.kernels import AnyProblem, Core, RoutedTrees
from forestcoll.kernels.interface import ReportProgress
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.generation.forest import grown_schedule, schedule_for
from forestcoll.solver.generation.growing import TreeSearch
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from remarks import Remarks

TOPOLOGY = build_topology("dgx-a100:boxes=2,gpus=3")


@pytest.mark.parametrize(
    ("method", "stages"),
    [
        (TreeSearch.AUTO, ["growing trees"]),
        (TreeSearch.FAST, ["growing trees"]),
        (TreeSearch.PROVEN, ["removing switches", "packing trees", "routing trees"]),
    ],
)
def test_each_method_reports_its_stages_and_counters(method: TreeSearch, stages: list[str]) -> None:
    listener = Remarks()
    generate(TOPOLOGY, method=Trees(search=method), progress=listener)
    assert listener.events[0] == "finding the bottleneck cut"
    assert listener.events[-len(stages) :] == stages
    assert len(listener.notes) == 1


@pytest.mark.parametrize("method", list(TreeSearch))
def test_every_route_is_used_and_listed_once_and_the_same_in_each_run(method: TreeSearch) -> None:
    schedule, other = (
        generate(TOPOLOGY, method=Trees(search=method)),
        generate(TOPOLOGY, method=Trees(search=method)),
    )
    assert (schedule.routes, schedule.phases) == (other.routes, other.phases)
    routes = list(schedule.routes)
    assert len(set(routes)) == len(routes)
    assert np.array_equal(np.unique(schedule.phases[0].routes.entries), np.arange(len(routes)))


def test_a_schedule_carries_its_optimum_and_certificate() -> None:
    best = optimum(TOPOLOGY, method="trees:k=2")
    schedule = schedule_for(best)
    assert schedule.topology is TOPOLOGY
    assert schedule.algbw == best.algbw
    assert schedule.bound == best.bound
    assert schedule.trees_per_root == 2


class Incomplete:
    """A core whose fast method leaves the trees of two roots incomplete."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def grow_trees(
        self, problem: AnyProblem, supply: int, progress: ReportProgress, *, prove: bool
    ) -> tuple[RoutedTrees, Mapping[str, int]]:
        routed, counters = self._core.grow_trees(problem, supply, progress, prove=prove)
        return routed, {**counters, "missing": 2}


def test_the_fast_method_reports_how_many_roots_it_left_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    best = optimum(TOPOLOGY)
    make_problem = ScaledTopology.problem

    def problem(scaled: ScaledTopology, capacities: Sequence[int], bound: int) -> tuple[Incomplete, AnyProblem]:
        core, made = make_problem(scaled, capacities, bound)
        return Incomplete(core), made

    monkeypatch.setattr(ScaledTopology, "problem", problem)
    with pytest.raises(NoSolutionError) as caught:
        grown_schedule(best, search=TreeSearch.FAST)
    assert str(caught.value) == (
        "dgx-a100:boxes=2,gpus=3: the fast method left the trees of 2 roots incomplete; use the method auto or proven"
    )


def test_a_path_that_cannot_be_paid_for_splits_no_tree() -> None:
    """One copy after another was split off for such a path, which was not added, until no memory was left."""
    far = 10**12
    links = [
        *[(0, 1, far + 1), (0, 6, 1), (1, 2, 1), (1, 4, 1), (1, 5, far), (2, 0, 1), (2, 5, far), (3, 1, 1)],
        *[(4, 2, far), (4, 3, 1), (4, 5, 1), (5, 0, far), (5, 4, far + 1), (6, 0, 1)],
    ]
    builder = TopologyBuilder("far apart")
    for node in range(7):
        builder.add_compute(node)
    for source, target, bandwidth in links:
        builder.add_link(source, target, bandwidth)
    schedule = generate(builder.build(), Demand("allgather", ranks=[0, 2, 4]))
    assert schedule.algbw == Fraction(3 * far + 3, 2)
    assert sum(len(phase.roots) for phase in schedule.phases) < 30
    assert verify(schedule).fault is None
