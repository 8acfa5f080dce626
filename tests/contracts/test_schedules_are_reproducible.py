"""The same topology gives the same file, byte for byte, for each hash seed of Python."""

import os
import subprocess
import sys

import pytest

CODE = """
import sys
from forestcoll.demand.method import Method
from forestcoll.algorithms.generate import generate
from forestcoll.schedule.files import schedule_text
from forestcoll.topology.registry import build_topology
for spec in sys.argv[1:]:
    for method in (Method.AUTO, Method.PROVEN):
        sys.stdout.writelines(schedule_text(generate(build_topology(spec), method=method)))
"""
SPECS = ["mi250:boxes=2", "dgx-a100:boxes=2,gpus=3,nics=true", "circulant:nodes=7,offsets=1+2,one_way=true"]
WIDE_SPECS = ["dgx-a100:boxes=2,gpus=3,ib_bandwidth=1/100000000000000000003", f"mesh:dims=2x3,bandwidth={10**50}/7"]
UNBOUNDED_SPECS = [f"dgx-a100:boxes=2,gpus=2,ib_bandwidth=1/{10**56 + 1}"]


def schedules(specs: list[str], seed: str) -> bytes:
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", CODE, *specs]
    return subprocess.run(command, env=environment, check=True, capture_output=True).stdout  # noqa: S603


@pytest.mark.parametrize("specs", [SPECS, WIDE_SPECS, UNBOUNDED_SPECS])
def test_schedules_do_not_depend_on_the_hash_seed(specs: list[str]) -> None:
    first = schedules(specs, "0")
    assert first.count(b'"forestcoll.schedule/1"') == 2 * len(specs)
    assert all(schedules(specs, seed) == first for seed in ("1", "2"))
