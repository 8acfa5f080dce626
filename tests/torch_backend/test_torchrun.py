"""The example of the tutorial under torchrun, processes that forget to destroy their group, and no torch at all."""

import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMIT = 240

has_torch = pytest.mark.skipif(
    find_spec("torch") is None,
    reason="PyTorch is not installed; `make torch` installs it",
)


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1"} | more


@has_torch
def test_the_example_of_the_tutorial_trains_under_torchrun(tmp_path: Path) -> None:
    tutorial = (ROOT / "docs" / "training.md").read_text()
    (command,) = re.findall(r"^torchrun (.*train_ddp\.py.*)$", tutorial, re.MULTILINE)
    done = subprocess.run(  # noqa: S603 (Python itself)
        [sys.executable, "-m", "torch.distributed.run", *command.split()],
        cwd=ROOT,
        env=environment(FORESTCOLL_CACHE=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    losses = [float(each) for each in re.findall(r"loss ([0-9.]+)", done.stdout)]
    assert len(losses) == 4
    assert losses[-1] < losses[0] / 2
    assert re.search(r"all_reduce: \d+ by forestcoll", done.stdout)
    assert "gloo" not in done.stdout
    assert "forestcoll: 4 ranks on dgx-a100:boxes=2,gpus=2" in done.stderr


FORGETFUL = """
import torch, torch.distributed as dist, forestcoll.torch
dist.init_process_group("forestcoll")
data = torch.ones(1000)
work = dist.all_reduce(data, async_op=True)
work.wait()
print(data[0].item())
"""


@has_torch
def test_processes_that_do_not_destroy_their_group_end_cleanly(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    own = environment(
        FORESTCOLL_TOPOLOGY="ring:nodes=2",
        FORESTCOLL_CACHE=str(tmp_path),
        WORLD_SIZE="2",
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port),
    )
    ranks = [
        subprocess.Popen(  # noqa: S603 (Python itself)
            [sys.executable, "-c", FORGETFUL],
            env=own | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for process in ranks:
        out, err = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, err
        assert out == "2.0\n"


def test_without_torch_the_error_names_the_extra() -> None:
    program = "import sys; sys.modules['torch'] = None\nimport forestcoll.torch"
    done = subprocess.run(  # noqa: S603 (Python itself)
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert "InputError: forestcoll.torch needs PyTorch; install it by: pip install 'forestcoll[torch]'" in done.stderr


@has_torch
def test_import_forestcoll_does_not_import_torch() -> None:
    program = "import sys, forestcoll; forestcoll.generate; assert 'torch' not in sys.modules"
    subprocess.run(  # noqa: S603 (Python itself)
        [sys.executable, "-c", program], timeout=LIMIT, check=True
    )
