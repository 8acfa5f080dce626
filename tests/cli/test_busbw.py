"""busbw beside algbw, as nccl-tests defines it, wherever a collective has one."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cli_run import json_of, run_command

from forestcoll import Demand, compare, failures, optimum, upgrades
from forestcoll.demand.collective import Collective

FACTORS = {  # PERFORMANCE.md of nccl-tests, and its gather.cu, scatter.cu, for 4 ranks
    "allgather": "3/4",
    "reduce-scatter": "3/4",
    "allreduce": "3/2",
    "broadcast": "1",
    "reduce": "1",
    "all-to-all": "3/4",
    "gather": "3/4",
    "scatter": "3/4",
}


def busbw(figures: dict[str, Any]) -> Fraction:
    return Fraction(figures["busbw"]) / Fraction(figures["algbw"])


@pytest.mark.parametrize("collective", Collective)
def test_every_command_states_it(collective: Collective, tmp_path: Path) -> None:
    factor, file = Fraction(FACTORS[collective]), tmp_path / "schedule.json"
    asked = ("ring:nodes=4", "--collective", collective.value, *(("--root", "0") if collective.has_root else ()))
    assert busbw(json_of("optimum", *asked)) == factor
    assert busbw(json_of("generate", *asked, "-o", file)) == factor
    assert busbw(json_of("verify", file)) == factor
    assert any(line.startswith("  busbw") for line in run_command("optimum", *asked).out.splitlines())
    study = json_of("what-if", *asked, "--fail", "links")
    assert [busbw(each) for each in (study, *study["rows"])] == [factor] * (1 + len(study["rows"]))
    if not collective.has_root:
        rows = json_of("compare", "ring:nodes=4", "--collective", collective.value, "--sizes", "1M")["rows"]
        assert {busbw(each) for each in rows} == {factor}


def test_steps_groups_and_boxes_that_fail_have_the_factor_of_their_ranks() -> None:
    assert busbw(json_of("generate", "ring:nodes=4", "--method", "bfb")) == Fraction(3, 4)
    layout = ("dgx-a100:boxes=2,gpus=2", "--layout", "tp=2,dp=2", "--collective", "allreduce")
    groups = json_of("optimum", *layout)
    assert [busbw(each) for each in (groups, *groups["groups"])] == [1, 1, 1]
    assert [busbw(each) for each in json_of("optimum", *layout, "--all")["dimensions"]] == [1, 1]
    (row,) = json_of("what-if", "dgx-a100:boxes=3,gpus=2", "--fail", "boxes")["rows"]
    assert busbw(row) == Fraction(3, 4)


def test_parts_of_different_sizes_have_none() -> None:
    halves = Demand("allgather", shards={0: "1/2", 1: "1/2", 2: 0})
    best = optimum("ring:nodes=3", halves)
    assert best.busbw is None
    assert "busbw" not in str(best)
    assert best.records()[0]["busbw"] is None


def test_records_have_it() -> None:
    assert optimum("ring:nodes=4").records()[0]["busbw"] == 2
    assert compare("ring:nodes=4", baselines=["direct"]).records()[0]["busbw"] == 2
    assert failures("ring:nodes=4").records()[0]["busbw"] == 1
    assert upgrades("ring:nodes=4").records()[0]["busbw"] == 4
