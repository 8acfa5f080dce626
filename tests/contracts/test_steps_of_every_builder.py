"""Schedules of steps for each collective on every builder of direct networks pass the verifier."""

import os
import subprocess
import sys

import pytest

from forestcoll.schedule.steps.shape import step_shape
from forestcoll.solver.generation.bfb import bfb
from forestcoll.topology.registry import build_topology, builders
from forestcoll.verification import verify

BUILT = [build_topology(each.name) for each in builders()]
DIRECT = [topology.name for topology in BUILT if not topology.switches and topology.port_model is None]

CODE = """
import sys
from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.schedule.files import schedule_text
from forestcoll.topology.registry import build_topology
for spec in sys.argv[1:]:
    for collective in ("allgather", "reduce-scatter", "allreduce"):
        sys.stdout.writelines(schedule_text(generate_steps(build_topology(spec), collective)))
"""
SPECS = [
    "torus:dims=3x4",
    "circulant:nodes=12,offsets=1+3+4",
    "circulant:nodes=7,offsets=1+3,one_way=true",
    "mesh:dims=2x3",
]


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("name", DIRECT)
def test_breadth_first_broadcast_is_correct_and_no_faster_than_its_bound(name: str, collective: str) -> None:
    schedule = bfb(build_topology(name), collective)
    report = verify(schedule)
    assert report.fault is None
    assert report.step_times == step_shape(schedule).step_times
    assert report.bandwidth_factor is not None
    assert report.least_factor is not None
    assert report.bandwidth_factor >= report.least_factor


def test_steps_do_not_depend_on_the_hash_seed() -> None:
    written = set()
    for seed in ("0", "1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", CODE, *SPECS]
        written.add(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)  # noqa: S603
    assert len(written) == 1
    assert written.pop().count(b'"forestcoll.steps/1"') == 3 * len(SPECS)
