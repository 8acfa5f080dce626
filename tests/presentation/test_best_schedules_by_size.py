"""The rows about the best schedule for a size count sends as `compare` does."""

import pytest

from forestcoll import compare
from forestcoll.algorithms.generate import generated
from forestcoll.presentation.by_size import choice_rows


@pytest.mark.parametrize("network", ["dgx-a100:boxes=2,gpus=2", "gaudi3:boxes=2,gpus=2", "ring:nodes=5"])
def test_a_switch_on_the_way_of_a_flow_is_no_send(network: str) -> None:
    row = compare(network, "all-to-all", baselines=["direct"], sizes=[2**30]).row("forestcoll")
    choice = generated(network, "all-to-all", size=2**30).choice
    assert choice is not None
    sends = next(each.values["sends"] for each in choice_rows(choice) if "sends" in each.values)
    assert sends == (2 if network == "ring:nodes=5" else 1) == row.height
