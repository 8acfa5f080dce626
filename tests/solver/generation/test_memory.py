"""The memory estimate compared with measured runs, and the available memory that Linux reports."""

import subprocess
import sys

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.solver.generation import memory
from forestcoll.solver.generation.memory import available_memory, check_memory, schedule_memory
from forestcoll.topology.registry import build_topology

RING = build_topology("ring:nodes=4")

MEASURED = """
import sys
from pathlib import Path
from forestcoll.solver.optimum import optimum
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.schedule.files import write_schedule
from forestcoll.schedule.shape_of import shape_of
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify

def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))

best = optimum(build_topology(sys.argv[1]))
before = peak()
schedule = schedule_for(best)
assert verify(schedule).ok
trees = shape_of(schedule).trees
write_schedule(schedule, Path("/dev/null"))
print(trees, (peak() - before) * 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no such accounts of memory here")
@pytest.mark.parametrize(
    "spec",
    [
        "ring:nodes=4",
        "dgx-a100:boxes=64",
        "fat-tree:levels=2,arity=24",
        "fat-tree:levels=4,arity=4",
        "torus:dims=8x8x8",
    ],
)
def test_a_run_needs_the_estimated_memory(spec: str) -> None:
    run = subprocess.run([sys.executable, "-c", MEASURED, spec], capture_output=True, text=True, check=True)  # noqa: S603
    trees, taken = map(int, run.stdout.split())
    need = schedule_memory(build_topology(spec), trees)
    assert need.least < taken < need.most


def test_long_work_is_announced_with_its_memory_before_trees_are_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    class Listener(Progress):
        def begin(self, stage: str) -> None:
            events.append(stage)

        def remark(self, text: str) -> None:
            events.append(text)

    sentence = "a schedule of 12 tree edges or more needs 48 bytes to 67 MB of memory"
    generate("ring:nodes=4", progress=Listener())
    assert sentence not in events
    monkeypatch.setattr(memory, "LONG_EDGES", 12)
    generate("ring:nodes=4", progress=Listener())
    assert sentence in events
    assert events.index(sentence) == len(events) - 2
    assert events[-1] == "growing trees"


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
        ("dgx-a100:boxes=2,nics=true", 2),
    ],
)
def test_the_radius_counts_links_between_switches(spec: str, radius: int) -> None:
    assert memory._switch_radius(build_topology(spec)) == radius


def available(monkeypatch: pytest.MonkeyPatch, **texts: str) -> int | None:
    """Return the available memory on a system whose files have the given texts, by file name."""
    by_name = {name.replace("__", "."): text for name, text in texts.items()}
    monkeypatch.setattr(memory, "system_text", lambda path: by_name.get(path.rpartition("/")[2]))
    return available_memory()


MACHINE = "MemTotal: 9000 kB\nMemAvailable: 5000 kB\nSwapFree: 1000 kB\nHugePages_Total: 0\n"


def test_the_available_memory_of_the_machine_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available(monkeypatch, meminfo=MACHINE) == 6000 * 1024


def test_a_system_without_these_files_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available(monkeypatch) is None
    assert check_memory(RING, 10**12) is None


def test_the_address_space_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10_000_000, resource.RLIM_INFINITY))
    taken = 100 * resource.getpagesize()
    assert available(monkeypatch, meminfo=MACHINE, statm="100 2 3") == min(10_000_000 - taken, 6000 * 1024)
    assert available(monkeypatch, statm="999999 2 3") == 0


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ("0::/user/run\n", ("memory__max", "memory__current")),
        ("3:cpu:/\n5:memory,hugetlb:/docker\n", ("memory__limit_in_bytes", "memory__usage_in_bytes")),
    ],
)
def test_the_limits_of_control_groups_count(
    groups: str, names: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"cgroup": groups, names[0]: "1000000\n", names[1]: "300000\n"}
    assert available(monkeypatch, meminfo=MACHINE, **texts) == 700_000
    assert available(monkeypatch, memory__stat="anon 5\ninactive_file 200000\n", **texts) == 900_000
    assert available(monkeypatch, **texts | {names[0]: "max\n"}) is None
    assert available(monkeypatch, **texts | {names[1]: "2000000\n"}) == 0


def test_the_limits_of_groups_above_count(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "/proc/self/cgroup": "0::/a/b\n",
        "/sys/fs/cgroup/a/memory.max": "500",
        "/sys/fs/cgroup/a/memory.current": "100",
        "/sys/fs/cgroup/a/b/memory.max": "max",
        "/sys/fs/cgroup/a/b/memory.current": "100",
    }
    monkeypatch.setattr(memory, "system_text", texts.get)
    assert available_memory() == 400


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says so")
def test_this_system_has_memory() -> None:
    found = available_memory()
    assert found is not None
    assert found > 10**6


def test_a_schedule_that_cannot_fit_raises_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 10**9)
    assert check_memory(RING, 4) is None
    warning = check_memory(RING, 10**7)
    assert warning == "the schedule may need 1.3 GB, but 1.0 GB of memory is available"
    with pytest.raises(InputError) as caught:
        check_memory(RING, 10**8)
    assert str(caught.value) == (
        "ring:nodes=4: 100000000 trees over 4 compute nodes need more than 1.2 GB, but 1.0 GB of memory is available; "
        "free memory, raise the limit or use a smaller network"
    )
