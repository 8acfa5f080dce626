"""Processes that forget to destroy their group, and no torch at all."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from started import free_port

LIMIT = 240

has_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed; `make torch` installs it")


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
    own = os.environ | {"OMP_NUM_THREADS": "1", "FORESTCOLL_TOPOLOGY": "ring:nodes=2", "WORLD_SIZE": "2"}
    own |= {"FORESTCOLL_CACHE": str(tmp_path), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
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
