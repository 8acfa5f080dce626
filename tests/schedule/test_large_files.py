"""Schedules whose files would be too large to be read again, and schedules as one line."""

from pathlib import Path
from typing import Any

import pytest

from forestcoll import InputError, generate, read_schedule, write_schedule
from forestcoll.oneport import compare_series
from forestcoll.schedule import files
from forestcoll.topology.registry import build_topology


def test_a_schedule_that_could_not_be_read_again_is_not_written(tmp_path: Path, monkeypatch: Any) -> None:
    schedule, path = generate("ring:nodes=4"), tmp_path / "s.json"
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match="ring:nodes=4: the file would be larger than 0 MiB, and could not be read "):
        write_schedule(schedule, path)
    assert not list(tmp_path.iterdir())


def test_a_pipeline_of_many_steps_is_written_and_read(tmp_path: Path) -> None:
    schedule = generate("double-binary-tree:nodes=4", "allreduce", "double-binary-tree:chunks=2000")
    path = tmp_path / "s.json"
    write_schedule(schedule, path)
    assert schedule.steps > 4000
    assert read_schedule(path) == schedule


RING = build_topology("ring:nodes=4")
LARGE = build_topology("dgx-a100:boxes=8")


def test_the_repr_of_each_part_is_one_line() -> None:
    assert repr(generate(RING)) == "<TreeSchedule: allgather on 'ring:nodes=4', 4 compute nodes, 8 trees>"
    trees, steps = generate(LARGE), generate(RING, method="bfb")
    assert repr(steps) == "<StepSchedule: allgather on 'ring:nodes=4', 4 compute nodes, 2 steps, 16 transfers>"
    series = compare_series(RING, 0).schedule()
    for part in (trees, trees.routes, trees.phases[0], steps.phases[0], steps.phases[0].transfers, series):
        assert len(repr(part)) < 120
        assert "\n" not in repr(part)
    assert repr(trees.phases[0]) == f"<Phase: broadcast, {len(trees.phases[0])} trees>"
    assert repr(steps.phases[0].transfers) == f"<Transfers: {len(steps)} in {steps.steps} steps>"


def test_every_kind_states_its_root_and_demand() -> None:
    tree = generate(RING, "broadcast:root=2")
    assert (tree.root, tree.demand.root, tree.members) == (2, 2, (0, 1, 2, 3))
    series = compare_series(RING, 1).schedule()
    assert (series.root, series.demand.root, series.algbw) == (1, 1, series.throughput)
    steps = generate(RING, method="bfb")
    assert (steps.root, steps.ranks, steps.demand.collective) == (None, None, steps.collective)
