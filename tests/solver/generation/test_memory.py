"""The estimate of a schedule of trees, compared with measured runs."""

import os
import subprocess
import sys

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base import resources
from forestcoll.base.errors import InputError
from forestcoll.base.resources import set_memory_limit
from forestcoll.solver.generation import memory
from forestcoll.solver.generation.memory import announce_trees, schedule_memory
from forestcoll.topology.registry import build_topology
from remarks import Remarks

RING = build_topology("ring:nodes=4")

MEASURED = """
import os
import sys
from pathlib import Path
from forestcoll.algorithms.generate import optimum
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.schedule.files import write_schedule
from forestcoll.schedule.shape_of import shape_of
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify

def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))

def measure(spec):
    best = optimum(build_topology(spec))
    before = peak()
    schedule = schedule_for(best)
    assert verify(schedule).ok
    trees = shape_of(schedule).trees
    write_schedule(schedule, Path("/dev/null"))
    print(trees, (peak() - before) * 1024, flush=True)

for spec in sys.argv[1:]:
    child = os.fork()  # each run begins with the memory of the imports alone
    if not child:
        measure(spec)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
SPECS = (
    "ring:nodes=4",
    "dgx-a100:boxes=64",
    "fat-tree:levels=2,arity=24",
    "fat-tree:levels=4,arity=4",
    "torus:dims=8x8x8",
)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no such accounts of memory here")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer takes memory of its own")
def test_a_run_needs_the_estimated_memory() -> None:
    run = subprocess.run([sys.executable, "-c", MEASURED, *SPECS], capture_output=True, text=True, check=True)  # noqa: S603
    for spec, line in zip(SPECS, run.stdout.splitlines(), strict=True):
        trees, taken = map(int, line.split())
        need = schedule_memory(build_topology(spec), trees)
        assert need.least < taken < need.most, spec


def test_long_work_is_announced_with_its_memory_before_trees_are_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "ring:nodes=4: a schedule of 12 tree edges takes about 1 s and 1 MB to 67 MB of memory"
    remarks = Remarks()
    generate("ring:nodes=4", progress=remarks)
    assert not remarks.texts
    monkeypatch.setattr(resources, "LONG_SECONDS", 1e-9)
    generate("ring:nodes=4", progress=remarks)
    assert remarks.events[-2:] == [sentence, "growing trees"]


def test_the_estimate_grows_with_trees_and_the_length_of_routes() -> None:
    few, many = (schedule_memory(RING, trees) for trees in (4, 10**6))
    assert few.least == 4 * 3 * 4
    assert few.most < many.most
    short, long = (build_topology(f"fat-tree:levels={levels},arity=2") for levels in (2, 4))
    for_edges = [schedule_memory(each, 10**6).most / (len(each.compute) - 1) for each in (short, long)]
    assert for_edges[0] < for_edges[1]


@pytest.mark.parametrize(
    ("spec", "radius"),
    [
        ("ring:nodes=4", 0),
        ("dgx-a100:boxes=2", 0),
        ("fat-tree:levels=2,arity=2", 2),
        ("dgx-a100:boxes=2,pcie=true", 2),
    ],
)
def test_the_radius_counts_links_between_switches(spec: str, radius: int) -> None:
    assert memory._switch_radius(build_topology(spec)) == radius


def test_trees_that_cannot_fit_are_refused_and_those_that_may_need_much_are_announced() -> None:
    remarks = Remarks()
    set_memory_limit(10**9)
    try:
        announce_trees(RING, 4, remarks)
        assert not remarks.texts
        announce_trees(RING, 2 * 10**7, remarks)
        work = "ring:nodes=4: a schedule of 60,000,000 tree edges"
        assert remarks.texts == [f"{work} takes about 4.8 s and 240 MB to 2.5 GB of memory"]
        with pytest.raises(InputError) as caught:
            announce_trees(RING, 10**8, remarks)
    finally:
        set_memory_limit(None)
    assert str(caught.value) == (
        "ring:nodes=4: a schedule of 300,000,000 tree edges would take about 3.7 GB of memory; ask for base trees "
        "(--compact), or use fewer ranks; the limit is 1.0 GB, and FORESTCOLL_MAX_MEMORY sets another "
        "one"
    )
