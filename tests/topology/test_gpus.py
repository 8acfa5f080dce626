"""GPUs: the table in the documents, and which networks have one."""

from pathlib import Path

import pytest

from forestcoll.topology.gpus import GPUS, gpu_of, table
from forestcoll.topology.registry import build_topology

DOCUMENT = Path(__file__).parents[2] / "docs" / "runtimes.md"


def test_the_document_has_the_table_of_the_code() -> None:
    assert table() in DOCUMENT.read_text(encoding="utf-8")


def test_a_name_that_contains_another_one_comes_first() -> None:
    names = list(GPUS)
    contained = [(one, other) for one in names for other in names if other != one and other in one]
    assert all(names.index(one) < names.index(other) for one, other in contained)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("dgx-a100:boxes=1", "a100"),
        ("dgx-h200:boxes=1", "h200"),
        ("dgx-b200:boxes=1", "b200"),
        ("superpod-b300:boxes=2", "b300"),
        ("gb200-nvl72:gpus=8", "gb200"),
        ("mi250:boxes=1", "mi250"),
        ("mi300x:boxes=1", "mi300x"),
        ("mi355x:boxes=1", "mi355x"),
    ],
)
def test_gpus_are_recognised(spec: str, name: str) -> None:
    found = gpu_of(build_topology(spec))
    assert found is GPUS[name]


def test_a_ring_has_no_known_gpu() -> None:
    assert gpu_of(build_topology("ring:nodes=3")) is None
