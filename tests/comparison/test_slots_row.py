"""The row of `compare` for time slots, with the time of a slot in a table of the machine."""

import json
from pathlib import Path

import pytest

from forestcoll import Collective, compare
from forestcoll.runtime.cuda_table import CudaTable, MeasuredSize, MeasuredWay
from forestcoll.topology.registry import build_topology
from refusal import refusal

SPEC = "dgx-a100:boxes=2,gpus=4,nvswitch_bandwidth=100"


def way(path: str, chunks: int, time_us: float, wrong: int = 0) -> MeasuredWay:
    return MeasuredWay(path, chunks, time_us, 0.0, 0.0, 0.0, wrong)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of an allgather, in which a slot takes 12 us: 60 us / (4 + 2 - 1)."""
    least = (way("nccl", 0, 5), way("slots", 1, 40), way("slots", 4, 60), way("slots", 2, 3, wrong=1))
    by_size = {2**20: (way("slots", 8, 9),), 2**10: least}
    rows = [MeasuredSize(Collective.ALLGATHER, size, ways) for size, ways in by_size.items()]
    path = tmp_path / "table.json"
    path.write_text(json.dumps(CudaTable(build_topology(SPEC), "a GPU", tuple(rows)).to_document()))
    return path


def test_the_row_has_the_times_of_slots_as_measured(table: Path) -> None:
    found = compare(SPEC, sizes=[64, 2**30], baselines=["nccl-ring"], cuda_table=table)
    (row,) = [row for row in found.rows if row.name == "slots (expected)"]
    assert "a slot takes 12 us, as in the table of the machine" in row.reason
    assert row.times[0].seconds == pytest.approx(2 * 12e-6, rel=1e-3)
    assert float(row.algbw) * 0.9 < row.times[1].algbw < float(row.algbw)
    assert "slots (expected)" not in [row.name for row in compare(SPEC, baselines=["nccl-ring"]).rows]


def test_a_table_without_the_collective_adds_no_row(table: Path) -> None:
    found = compare(SPEC, "allreduce", baselines=["nccl-ring"], cuda_table=table)
    assert [(each.name, each.reason) for each in found.skipped] == [
        ("slots (expected)", "the table has no right result of slots for an allreduce")
    ]
    found = compare(SPEC, "all-to-all", baselines=["direct"], cuda_table=table)
    assert ("slots (expected)", "slots are of trees, and an all-to-all has none") in [
        (each.name, each.reason) for each in found.skipped
    ]
    assert "the table is for another topology" in refusal(
        compare, "ring:nodes=8", "allgather", baselines=["direct"], cuda_table=table
    )
