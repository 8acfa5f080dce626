"""Tables of measured ways of CUDA tensors: what is the best, what is written and read, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forestcoll import Collective, load_topology
from forestcoll.runtime.cuda_table import CudaTable, MeasuredSize, MeasuredWay, read_cuda_table
from refusal import refusal

WAY = ("path", "chunks", "time_us", "wrong")
RING = load_topology("ring:nodes=4")
FAST = MeasuredWay("slots", 4, 10.0, 1.0, 0.75, 0.5, 0)
SLOW = MeasuredWay("nccl", 0, 20.0, 0.5, 0.375, 0.25, 0)
TABLE = CudaTable(
    RING,
    "a GPU",
    (
        MeasuredSize(Collective.ALLREDUCE, 4096, (SLOW, FAST)),
        MeasuredSize(Collective.ALLREDUCE, 1024, (SLOW, replace(FAST, wrong=1))),
        MeasuredSize(Collective.ALLGATHER, 1024, (replace(SLOW, wrong=3),)),
    ),
)


def test_the_best_is_the_fastest_right_way_of_the_least_size_that_is_not_below() -> None:
    found = [TABLE.best(Collective.ALLREDUCE, size) for size in (1, 1024, 1025, 2**30)]
    assert found == [SLOW, SLOW, FAST, FAST]
    assert TABLE.best(Collective.ALLGATHER, 1) is None
    assert TABLE.best(Collective.BROADCAST, 1) is None
    assert TABLE.paths == {"nccl", "slots"}


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE.to_document()))
    assert read_cuda_table(path, RING) == TABLE


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"format": "forestcoll.cuda/2"}, "format is 'forestcoll.cuda/2'; expected 'forestcoll.cuda/1'"),
        ({"format": "forestcoll.tuning/1"}, "is the manifest of a tuning, not a table for CUDA tensors"),
        ({"topology_hash": "0"}, "the table is for another topology than ring:nodes=4; measure this one"),
        ({"rows": {}}, "rows is {}; expected a list"),
        ({"rows": [{}]}, 'rows[0] has no "collective"; a row needs it'),
        ({"rows": [{"collective": "allgather", "size": 1, "ways": [{}]}]}, 'rows[0].ways[0] has no "path"'),
        (
            {
                "rows": [
                    {
                        "collective": "allgather",
                        "size": 1,
                        "ways": [{"path": "x", "chunks": 0, "time_us": 1, "wrong": 0}],
                    }
                ]
            },
            "rows[0].ways[0].path is 'x'; expected one of nccl, two-level, slots",
        ),
        ({"rows": [{"collective": "allgather", "size": "1", "ways": []}]}, "rows[0].size is '1'"),
        ({"rows": [{"collective": "gatherall", "size": 1, "ways": []}]}, "rows[0].collective is 'gatherall'"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE.to_document() | change))
    assert expected in refusal(read_cuda_table, path, RING)
