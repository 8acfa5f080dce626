"""Which networks are one box."""

import pytest

from forestcoll.topology.graph.boxes import is_one_box
from forestcoll.topology.registry import build_topology


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("dgx-a100:boxes=1", True),
        ("mi250:boxes=1", True),
        ("dgx-a100:boxes=2,gpus=2", False),
        ("ring:nodes=4", False),  # nothing says which nodes are in a box
    ],
)
def test_one_box(spec: str, *, expected: bool) -> None:
    assert is_one_box(build_topology(spec)) == expected
