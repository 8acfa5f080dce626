"""The repr of a schedule, or of a part of it, is one line for any size."""

import pytest

from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.algorithms.generate import generate
from forestcoll.oneport import compare_series
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology.registry import build_topology

RING = build_topology("ring:nodes=4")
LARGE = build_topology("dgx-a100:boxes=8")


@pytest.mark.parametrize(
    ("schedule", "line"),
    [
        (generate(RING), "<TreeSchedule: allgather on 'ring:nodes=4', 4 compute nodes, 8 trees>"),
        (generate_steps(RING), "<StepSchedule: allgather on 'ring:nodes=4', 4 compute nodes, 2 steps, 16 transfers>"),
    ],
)
def test_the_repr_of_a_schedule_is_one_line(schedule: Schedule, line: str) -> None:
    assert repr(schedule) == line


def test_the_repr_of_each_part_is_one_line() -> None:
    trees, steps = generate(LARGE), generate_steps(RING)
    series = compare_series(RING, 0).schedule()
    for part in (trees, trees.routes, trees.phases[0], steps.phases[0], steps.phases[0].transfers, series):
        assert len(repr(part)) < 120
        assert "\n" not in repr(part)
    assert repr(trees.phases[0]) == f"<Phase: broadcast, {len(trees.phases[0])} trees>"
    assert repr(steps.phases[0].transfers) == f"<Transfers: {len(steps)} in {steps.steps} steps>"


def test_every_kind_states_its_root_and_demand() -> None:
    tree = generate(RING, "broadcast", root=2)
    assert (tree.root, tree.demand.root, tree.members) == (2, 2, (0, 1, 2, 3))
    series = compare_series(RING, 1).schedule()
    assert (series.root, series.demand.root, series.algbw) == (1, 1, series.throughput)
    steps = generate_steps(RING)
    assert (steps.root, steps.ranks, steps.demand.collective) == (None, None, steps.collective)
