"""A communicator that selects schedules by size, as a tuning says."""

import json
from pathlib import Path

import numpy as np
import pytest
from players import LIMIT, Players

from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.schedule.files import write_schedule
from forestcoll.topology.registry import build_topology

RING = build_topology("ring:nodes=3")


def table(folder: Path, small: str | None) -> Path:
    """Write a manifest of allreduces up to 100 bytes and above."""
    write_schedule(generate(RING, "allreduce"), folder / "large.json")
    write_schedule(generate_steps(RING, "allreduce", method="ring"), folder / "small.json")
    ranges = [{"from": 1, "to": 100, "schedule": small}, {"from": 101, "to": 10**6, "schedule": "large.json"}]
    document = {"format": "forestcoll.tuning/1", "collective": "allreduce", "ranges": ranges}
    (folder / "manifest.json").write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize("count", [1, 25, 26, 1000, 300_000])
def test_sums_of_all_sizes_are_right(tmp_path: Path, count: int) -> None:
    folder = table(tmp_path, "small.json")
    with Players([generate(RING, "allgather")], tuning=[folder]) as players:
        found = players.run(lambda group: group.allreduce(np.full(count, group.rank + 1, np.float32)).wait(LIMIT))
        assert all((each == 6).all() for each in found)
        shards = players.run(lambda group: group.allgather(np.full(2, group.rank)).wait(LIMIT))
        assert all(each.tolist() == [0, 0, 1, 1, 2, 2] for each in shards)


def test_the_size_selects_the_schedule(tmp_path: Path) -> None:
    with Players([generate(RING, "allgather")], tuning=[table(tmp_path, "small.json")]) as players:
        group = players.groups[0]
        first = group._execution(Collective.ALLREDUCE)
        small, edge, large, larger = (group._for_size(first, size) for size in (1, 100, 101, 10**9))
    assert small is edge
    assert large is larger
    assert small is not large


def test_sizes_without_a_schedule_use_the_given_one(tmp_path: Path) -> None:
    folder = table(tmp_path, None)
    with Players([generate(RING, "allreduce")], tuning=[folder]) as players:
        found = players.run(lambda group: group.allreduce(np.ones(3)).wait(LIMIT))
        assert all(each.tolist() == [3, 3, 3] for each in found)
    with pytest.raises(InputError, match="no schedule for some sizes up to 100 bytes; also pass a schedule"):
        Communicator([], rank=0, store=MemoryStore(), tuning=[folder])


def test_a_tuning_for_another_network_is_refused(tmp_path: Path) -> None:
    folder = table(tmp_path, "small.json")
    with pytest.raises(InputError, match="for the topology of the group"):
        Communicator([generate("ring:nodes=4")], rank=0, store=MemoryStore(), tuning=[folder])
