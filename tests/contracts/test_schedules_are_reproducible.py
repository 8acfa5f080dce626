"""The same topology gives the same file, byte for byte, for each hash seed of Python."""

import os
import subprocess
import sys

CODE = """
import sys
from forestcoll.algorithms.generate import generate
from forestcoll.schedule.files import schedule_text
from forestcoll.topology.registry import build_topology
split = sys.argv.index("--")
for spec in sys.argv[1:split]:
    for method in ("trees", "proven"):
        sys.stdout.writelines(schedule_text(generate(build_topology(spec), method=method)))
for spec in sys.argv[split + 1 :]:
    for collective in ("allgather", "reduce-scatter", "allreduce"):
        sys.stdout.writelines(schedule_text(generate(build_topology(spec), collective, "bfb")))
"""
TREES = [
    "mi250:boxes=2",
    "dgx-a100:boxes=2,gpus=3,pcie=true",
    "circulant:nodes=7,offsets=1+2,one_way=true",
    "dgx-a100:boxes=2,gpus=3,nic_bandwidth=1/100000000000000000003",  # 128 bits
    f"mesh:dims=2x3,bandwidth={10**50}/7",
    f"dgx-a100:boxes=2,gpus=2,nic_bandwidth=1/{10**56 + 1}",  # more than 128 bits
]
STEPS = ["torus:dims=3x4", "circulant:nodes=12,offsets=1+3+4", "circulant:nodes=7,offsets=1+3,one_way=true"]


def test_schedules_do_not_depend_on_the_hash_seed() -> None:
    written = set()
    for seed in ("0", "1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", CODE, *TREES, "--", *STEPS]
        written.add(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)  # noqa: S603
    assert len(written) == 1
    text = written.pop()
    assert text.count(b'"forestcoll.schedule/1"') == 2 * len(TREES)
    assert text.count(b'"forestcoll.steps/1"') == 3 * len(STEPS)
