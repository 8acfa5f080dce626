"""DDP, FSDP2 and other training loops run unmodified, with gloo's losses."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from torch_ranks import outcomes, values

ENGINE = "forestcoll"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("case", "options"),
    [
        ("ddp", {}),
        ("ddp", {"bucket_cap_mb": 0.0001}),  # many buckets are in flight during the backward pass
        ("fsdp", {}),
        ("fsdp_with_flat_parameters", {}),
        ("zero", {}),
    ],
)
def test_the_losses_of_two_ranks_are_those_of_gloo_bit_for_bit(case: str, options: dict[str, float]) -> None:
    """A sum of two numbers has one order only."""
    for curves in values(f"cases_training:{case}", 2, size=2, **options):
        assert curves["forestcoll"] == curves["gloo"]
        assert curves["gloo"][0] != curves["gloo"][-1]


@pytest.mark.parametrize("case", ["ddp", pytest.param("fsdp", marks=pytest.mark.slow)])
def test_the_losses_of_four_ranks_are_those_of_gloo_within_rounding(case: str) -> None:
    found = values(f"cases_training:{case}", 4, size=4)
    for curves in found:
        assert curves["forestcoll"] == pytest.approx(curves["gloo"], rel=1e-5)
        assert set(curves["paths"].values()) == {ENGINE}
        assert curves["forestcoll"] == found[0]["forestcoll"]


def test_sharded_optimizers_checkpoints_and_distributed_tensors_work(tmp_path: Path) -> None:
    one, other = values("cases_training:sharded_optimizer_and_checkpoint", 2, path=str(tmp_path))
    assert one == other
    assert one["saved"] == [5.0] * 3
    assert one["whole"] == [float(each) for each in range(8)]


def test_fsdp_averages_in_bfloat16() -> None:
    for curves in values("cases_training:fsdp", 2, size=2, precision="bf16"):
        assert curves["forestcoll"] == pytest.approx(curves["gloo"], rel=1e-2)
        assert curves["paths"]["reduce_scatter_tensor"] == ENGINE


def test_a_mesh_of_groups_trains_and_says_which_groups_the_ring_cannot_serve() -> None:
    for found in values("cases_training:hybrid"):
        assert len(found["losses"]) == 6
        assert found["paths"]["all_gather_into_tensor"] == ENGINE
        assert found["paths"]["all_reduce"] == "forestcoll+gloo"


def test_functional_collectives_work() -> None:
    for taken in values("cases_training:functional_collectives"):
        assert taken.pop("all_to_all_single") == "gloo"
        assert set(taken.values()) == {ENGINE}
        assert set(taken) == {"all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "broadcast"}


def test_compiled_code_works() -> None:
    for taken in values("cases_training:compiled", 2, limit=120):
        assert taken["all_reduce"] == ENGINE


def test_groups_that_overlap_give_their_own_sums() -> None:
    expected = [
        [[2, 3], 5, ENGINE],
        [[0, 1], 1, ENGINE],
        [[1, 2, 3], 6, ENGINE],
        [[0, 2], 2, "gloo"],
        [[0, 1, 2, 3], 6, ENGINE],
        [[2], 2, "gloo"],
    ]
    for rank, found in enumerate(values("cases_training:groups")):
        assert found == [each for each in expected if rank in each[0]]  # type: ignore[operator]


def test_hooks_of_ddp_work() -> None:
    found = values("cases_training:compressed", 2)
    assert found[0]["losses"] == found[1]["losses"]
    assert found[0]["losses"][-1] != found[0]["losses"][0]
    assert set(found[0]["paths"].values()) == {ENGINE}


def test_groups_of_gloo_and_of_forestcoll_live_together() -> None:
    assert values("cases_training:beside_gloo", 2) == [[1.0, {}, 1.0, {"all_reduce": ENGINE}]] * 2


def test_the_backend_can_be_named_by_device() -> None:
    assert values("cases_training:for_devices", 2) == [[2.0, {"all_reduce": ENGINE}]] * 2


@pytest.mark.parametrize("launcher", ["forks", pytest.param("torchrun", marks=pytest.mark.slow)])
def test_the_example_of_the_tutorial_trains(launcher: str, tmp_path: Path) -> None:
    tutorial = (ROOT / "docs" / "training.md").read_text()
    (command,) = re.findall(r"^torchrun (.*train_ddp\.py.*)$", tutorial, re.MULTILINE)
    if launcher == "forks":
        _, _, ranks, script, *arguments = command.split()
        found, logs = outcomes("cases_training:example", int(ranks), path=str(ROOT / script), arguments=arguments)
        assert found == [{"value": None}] * 4, logs
        said = logs[0]
    else:
        done = subprocess.run(  # noqa: S603 (Python itself)
            [sys.executable, "-m", "torch.distributed.run", *command.split()],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1", "FORESTCOLL_CACHE": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said = done.stdout + done.stderr
    losses = [float(each) for each in re.findall(r"loss ([0-9.]+)", said)]
    assert len(losses) == 4
    assert losses[-1] < losses[0] / 2
    assert re.search(r"all_reduce: \d+ by forestcoll", said)
    assert "by gloo" not in said
    assert "forestcoll: 4 ranks on dgx-a100:boxes=2,gpus=2" in said
